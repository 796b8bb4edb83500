curl "https://causeway.example/v0.2/fundraiser" \
  --user "PUBLIC_KEY:PRIVATE_KEY" \
  --header "Content-Type: application/json" \
  --header "Idempotency-Key: $(date +%s)-$$" \
  --data '{
    "nonprofitId": "d9017b27-edb0-54b2-b0c1-533033c82832",
    "title": "Spring run",
    "description": "We run along the river.",
    "goal": 500000
  }'
