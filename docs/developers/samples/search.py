import json
from urllib.parse import quote, urlencode
from urllib.request import urlopen

term = quote("docters without bor", safe="")
query = urlencode({"take": 5, "apiKey": "PUBLIC_KEY"})
with urlopen(f"https://causeway.example/v0.2/search/{term}?{query}") as response:
    for nonprofit in json.load(response)["nonprofits"]:
        print(nonprofit["name"], "·", nonprofit.get("location", ""))
