# Without since: the current cursor. Store it; here the next request follows at once.
cursor=$(curl "https://causeway.example/v0.2/changes" --user "PUBLIC_KEY:PRIVATE_KEY" |
  sed 's/.*"cursor":"\([^"]*\)".*/\1/')
curl "https://causeway.example/v0.2/changes?take=1000&since=$cursor" --user "PUBLIC_KEY:PRIVATE_KEY"
