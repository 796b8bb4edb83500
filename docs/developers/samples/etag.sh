for call in 1 2; do
  curl --silent --output red-cross.json --write-out "status %{http_code}\n" \
    --etag-compare red-cross.etag --etag-save red-cross.etag \
    "https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY"
done
