<?php
file_get_contents('https://causeway.example/v0.2/search/museum?apiKey=PUBLIC_KEY');
preg_match('/^RateLimit: .*?r=(\d+);t=(\d+)/mi', implode("\n", $http_response_header), $found);
echo "$found[1] requests left; the oldest one stops counting in $found[2] seconds\n";
