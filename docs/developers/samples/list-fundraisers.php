<?php
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Basic ' . base64_encode('PUBLIC_KEY:PRIVATE_KEY'),
]]);
$list = json_decode(file_get_contents('https://causeway.example/v0.2/fundraisers?take=20', false, $context));
if (!$list->fundraisers) {
    echo "You have no fundraisers yet.\n";
}
foreach ($list->fundraisers as $fundraiser) {
    $nonprofit = $fundraiser->type === 'MULTIPLE_NONPROFITS' ? 'special-fundraiser' : $fundraiser->nonprofitId;
    $path = "nonprofit/$nonprofit/fundraiser/$fundraiser->slug/raised";
    $total = json_decode(file_get_contents("https://causeway.example/v0.2/$path?apiKey=PUBLIC_KEY"));
    printf("%s: $%.2f of $%.2f\n", $fundraiser->title, $total->raised / 100, $total->goalAmount / 100);
}
