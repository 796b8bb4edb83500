curl "https://causeway.example/v0.2/match" \
  --user "PUBLIC_KEY:PRIVATE_KEY" \
  --header "Content-Type: application/json" \
  --data '{"rows": [
    {"id": "1", "name": "Amercan Red Cross", "city": "Washington", "state": "DC"},
    {"id": "2", "ein": "13-1788491"}
  ]}'
