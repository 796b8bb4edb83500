<?php
// Tries a request up to five times and waits as long as the server asks.
function get(string $url): object
{
    $context = stream_context_create(['http' => ['ignore_errors' => true]]);
    for ($attempt = 1; ; $attempt++) {
        $body = file_get_contents($url, false, $context);
        $headers = implode("\n", $http_response_header);
        if (!preg_match('/^HTTP\S+ (429|503)/', $headers) || $attempt === 5) {
            return json_decode($body);
        }
        sleep(preg_match('/^Retry-After: (\d+)/mi', $headers, $match) ? (int) $match[1] : 1);
    }
}

echo count(get('https://causeway.example/v0.2/causes?apiKey=PUBLIC_KEY')->causes), " causes\n";
