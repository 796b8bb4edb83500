curl "https://causeway.example/v0.2/search/docters%20without%20bor?take=5&apiKey=PUBLIC_KEY"
