import json
from urllib.parse import urlencode
from urllib.request import urlopen


def browse(cause):
    """Yields every nonprofit of a cause, the most prominent first."""
    page, pages = 1, 1
    while page <= pages:
        query = urlencode({"take": 100, "page": page, "apiKey": "PUBLIC_KEY"})
        with urlopen(f"https://causeway.example/v0.2/browse/{cause}?{query}") as response:
            body = json.load(response)
        yield from body["nonprofits"]
        pages = body["pagination"]["pages"]
        page += 1


for nonprofit in browse("animals"):
    print(nonprofit.get("ein", ""), nonprofit["name"])
