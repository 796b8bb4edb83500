<?php
// Run it with php -S 0.0.0.0:8000 receive-webhook.php
function is_signed(string $body): bool
{
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
    $signed = "{$_SERVER['HTTP_WEBHOOK_ID']}.$timestamp.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

$body = file_get_contents('php://input');
if (!is_signed($body)) {
    http_response_code(400);
    exit;
}
$event = json_decode($body, true);
file_put_contents('php://stdout', "{$event['type']} {$_SERVER['HTTP_WEBHOOK_ID']}\n");
http_response_code(204);
