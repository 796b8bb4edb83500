curl "https://causeway.example/reconcile?apiKey=PUBLIC_KEY" \
  --data-urlencode 'queries={
    "q0": {"query": "Amercan Red Cross", "properties": [{"pid": "city", "v": "Washington"}]},
    "q1": {"query": "13-1788491"}
  }'
