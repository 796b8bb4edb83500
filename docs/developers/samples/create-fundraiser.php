<?php
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => [
        'Authorization: Basic ' . base64_encode('PUBLIC_KEY:PRIVATE_KEY'),
        'Content-Type: application/json',
        'Idempotency-Key: ' . bin2hex(random_bytes(16)), // send the same one again when you retry
    ],
    'content' => json_encode([
        'nonprofitId' => 'd9017b27-edb0-54b2-b0c1-533033c82832',
        'title' => 'Spring run',
        'description' => 'We run along the river.',
        'goal' => 500000, // cents
    ]),
    'ignore_errors' => true, // read the body of errors too
]]);
$body = json_decode(file_get_contents('https://causeway.example/v0.2/fundraiser', false, $context));
if (isset($body->code)) {
    fwrite(STDERR, "$body->code: $body->detail\n");
    exit(1);
}
echo $body->data->fundraiser->url, "\n";
