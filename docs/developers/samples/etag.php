<?php
$url = 'https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY';
file_get_contents($url);
preg_match('/^ETag: (.*)$/mi', implode("\n", $http_response_header), $found);
$context = stream_context_create(['http' => [
    'header' => "If-None-Match: $found[1]",
    'ignore_errors' => true,
]]);
file_get_contents($url, false, $context);
echo $http_response_header[0], "\n"; // 304 Not Modified
