# Waits as long as Retry-After says, for 429 and 503 alike.
curl --retry 4 "https://causeway.example/v0.2/causes?apiKey=PUBLIC_KEY"
