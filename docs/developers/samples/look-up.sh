curl "https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY"
