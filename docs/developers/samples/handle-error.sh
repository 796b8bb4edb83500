curl --write-out '\nstatus %{http_code}\n' \
  "https://causeway.example/v0.2/nonprofit/no-such-nonprofit?apiKey=PUBLIC_KEY"
