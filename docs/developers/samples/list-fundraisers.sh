curl "https://causeway.example/v0.2/fundraisers?take=20" --user "PUBLIC_KEY:PRIVATE_KEY"
