curl --get --output donate.html "https://causeway.example/american-red-cross/give" \
  --data-urlencode "amount=25" \
  --data-urlencode "suggestedAmounts=10,25,50" \
  --data-urlencode "partner_donation_id=order-17" \
  --write-out '%{url_effective}\n'
