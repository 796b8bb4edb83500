<?php
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Basic ' . base64_encode('PUBLIC_KEY:PRIVATE_KEY'),
]]);
$since = ''; // the cursor that you stored: of an export, or of the last page
do {
    // Status 410 is a warning and false: export the directory again.
    $url = "https://causeway.example/v0.2/changes?take=1000&since=$since";
    $page = json_decode(file_get_contents($url, false, $context));
    foreach ($page->changes as $change) {
        echo "$change->type {$change->nonprofit->id} {$change->nonprofit->name}\n";
    }
    $since = $page->cursor;
} while ($page->hasMore);
echo "store this cursor for the next time: $since\n";
