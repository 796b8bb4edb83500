import re
from urllib.request import urlopen

with urlopen("https://causeway.example/v0.2/search/museum?apiKey=PUBLIC_KEY") as response:
    left, seconds = re.search(r"r=(\d+);t=(\d+)", response.headers["RateLimit"]).groups()
print(f"{left} requests left; the oldest one stops counting in {seconds} seconds")
