<?php
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Basic ' . base64_encode('PUBLIC_KEY:PRIVATE_KEY'),
]]);
$url = 'https://causeway.example/v0.2/export?take=50000';
$count = 0;
while ($url !== null) {
    $part = fopen($url, 'r', false, $context);
    $headers = implode("\n", stream_get_meta_data($part)['wrapper_data']);
    while (($line = fgets($part)) !== false) {
        $nonprofit = json_decode($line); // store it by $nonprofit->id
        $count++;
    }
    preg_match('/^changes-cursor: (.*)$/im', $headers, $cursor);
    // The last part has no Link header.
    $url = preg_match('/^link: <(.*)>; rel="next"/im', $headers, $link) ? $link[1] : null;
}
echo "$count nonprofits; continue with the changes since $cursor[1]\n";
