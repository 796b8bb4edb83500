<?php
// Yields every nonprofit of a cause, the most prominent first.
function browse(string $cause): Generator
{
    $page = 1;
    do {
        $query = http_build_query(['take' => 100, 'page' => $page, 'apiKey' => 'PUBLIC_KEY']);
        $body = json_decode(file_get_contents("https://causeway.example/v0.2/browse/$cause?$query"));
        yield from $body->nonprofits;
    } while ($page++ < $body->pagination->pages);
}

foreach (browse('animals') as $nonprofit) {
    echo $nonprofit->ein ?? '', ' ', $nonprofit->name, "\n";
}
