import json
from urllib.parse import urlencode
from urllib.request import urlopen

query = urlencode({
    "causes": "food-security,humans",  # at least one of them
    "near": "97201",
    "radius": 200,  # miles
    "disbursable": 1,  # only nonprofits that can receive donations
    "apiKey": "PUBLIC_KEY",
})
with urlopen(f"https://causeway.example/v0.2/search/food%20bank?{query}") as response:
    for nonprofit in json.load(response)["nonprofits"]:
        print(f"{nonprofit['name']}: {nonprofit['distanceMiles']} miles")
