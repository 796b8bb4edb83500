curl --get "https://causeway.example/v0.2/search/food%20bank" \
  --data-urlencode "causes=food-security,humans" \
  --data-urlencode "near=97201" \
  --data-urlencode "radius=200" \
  --data-urlencode "disbursable=1" \
  --data-urlencode "apiKey=PUBLIC_KEY"
