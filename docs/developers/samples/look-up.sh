curl "https://causeway.example/v0.2/nonprofit/american-red-cross?apiKey=PUBLIC_KEY"
