curl "https://causeway.example/mcp?apiKey=PUBLIC_KEY" \
  --header "Content-Type: application/json" \
  --header "Accept: application/json, text/event-stream" \
  --data '{
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search_nonprofits", "arguments": {"query": "red cross", "take": 3}}
  }'
