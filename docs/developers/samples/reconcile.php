<?php
$queries = [
    'q0' => ['query' => 'Amercan Red Cross', 'properties' => [['pid' => 'city', 'v' => 'Washington']]],
    'q1' => ['query' => '13-1788491'],
];
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => 'Content-Type: application/x-www-form-urlencoded',
    'content' => http_build_query(['queries' => json_encode($queries)]),
]]);
$response = file_get_contents('https://causeway.example/reconcile?apiKey=PUBLIC_KEY', false, $context);
foreach (json_decode($response) as $query => $found) {
    foreach ($found->result as $candidate) {
        echo "$query $candidate->name $candidate->score ", $candidate->match ? 'certain' : 'please check', "\n";
    }
}
