curl "https://causeway.example/v0.2/browse/animals?take=100&page=1&apiKey=PUBLIC_KEY"
