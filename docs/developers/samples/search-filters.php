<?php
$query = http_build_query([
    'causes' => 'food-security,humans', // at least one of them
    'near' => '97201',
    'radius' => 200, // miles
    'disbursable' => 1, // only nonprofits that can receive donations
    'apiKey' => 'PUBLIC_KEY',
]);
$body = json_decode(file_get_contents("https://causeway.example/v0.2/search/food%20bank?$query"));
foreach ($body->nonprofits as $nonprofit) {
    echo "$nonprofit->name: $nonprofit->distanceMiles miles\n";
}
