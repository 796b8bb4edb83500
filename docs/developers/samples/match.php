<?php
$rows = [
    ['id' => '1', 'name' => 'Amercan Red Cross', 'city' => 'Washington', 'state' => 'DC'],
    ['id' => '2', 'ein' => '13-1788491'],
];
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => [
        'Authorization: Basic ' . base64_encode('PUBLIC_KEY:PRIVATE_KEY'),
        'Content-Type: application/json',
    ],
    'content' => json_encode(['rows' => $rows]),
]]);
$response = json_decode(file_get_contents('https://causeway.example/v0.2/match', false, $context));
foreach ($response->rows as $row) {
    $best = $row->candidates[0]->name ?? 'nothing similar';
    echo "row $row->id: $best", $row->match ? '' : ' (please check)', "\n";
}
