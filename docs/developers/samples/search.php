<?php
$term = rawurlencode('docters without bor');
$query = http_build_query(['take' => 5, 'apiKey' => 'PUBLIC_KEY']);
$body = json_decode(file_get_contents("https://causeway.example/v0.2/search/$term?$query"));
foreach ($body->nonprofits as $nonprofit) {
    echo $nonprofit->name, ' · ', $nonprofit->location ?? '', "\n";
}
