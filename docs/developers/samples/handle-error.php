<?php
$url = 'https://causeway.example/v0.2/nonprofit/no-such-nonprofit?apiKey=PUBLIC_KEY';
$context = stream_context_create(['http' => ['ignore_errors' => true]]); // read the body of errors too
$body = json_decode(file_get_contents($url, false, $context));
if (isset($body->data)) {
    echo $body->data->nonprofit->name, "\n";
} elseif ($body->code === 'nonprofit_not_found') {
    echo "Not in the directory: $body->detail\n";
} else {
    throw new RuntimeException("$body->code: $body->detail (request $body->requestId)");
}
