<?php
$query = http_build_query([
    'amount' => 25,
    'suggestedAmounts' => '10,25,50',
    'partner_donation_id' => 'order-17',
]);
echo "https://causeway.example/american-red-cross/give?$query\n";
