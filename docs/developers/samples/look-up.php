<?php
$url = 'https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY';
$nonprofit = json_decode(file_get_contents($url))->data->nonprofit;
echo $nonprofit->name, ' ', $nonprofit->profileUrl, "\n";
