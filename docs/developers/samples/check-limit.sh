curl --silent --output /dev/null --dump-header - \
  "https://causeway.example/v0.2/search/museum?apiKey=PUBLIC_KEY" | grep -i '^ratelimit'
