import base64
import json
from urllib.request import Request, urlopen

keys = base64.b64encode(b"PUBLIC_KEY:PRIVATE_KEY").decode()
request = Request(
    "https://causeway.example/v0.2/fundraisers?take=20",
    headers={"Authorization": f"Basic {keys}"},
)
with urlopen(request) as response:
    fundraisers = json.load(response)["fundraisers"]
if not fundraisers:
    print("You have no fundraisers yet.")
for fundraiser in fundraisers:
    is_multiple = fundraiser["type"] == "MULTIPLE_NONPROFITS"
    nonprofit = "special-fundraiser" if is_multiple else fundraiser["nonprofitId"]
    path = f"nonprofit/{nonprofit}/fundraiser/{fundraiser['slug']}/raised"
    with urlopen(f"https://causeway.example/v0.2/{path}?apiKey=PUBLIC_KEY") as response:
        total = json.load(response)
    print(f"{fundraiser['title']}: ${total['raised'] / 100} of ${total['goalAmount'] / 100}")
