url="https://causeway.example/v0.2/export?take=50000"
while [ -n "$url" ]; do
  curl "$url" --user "PUBLIC_KEY:PRIVATE_KEY" --compressed --dump-header headers.txt >> nonprofits.jsonl
  # The last part has no Link header.
  url=$(sed -n 's/^link: <\(.*\)>; rel="next".*/\1/ip' headers.txt)
done
wc -l nonprofits.jsonl
grep -i "^changes-cursor:" headers.txt
