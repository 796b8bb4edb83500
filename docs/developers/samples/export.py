import base64
import json
import re
from urllib.request import Request, urlopen

keys = base64.b64encode(b"PUBLIC_KEY:PRIVATE_KEY").decode()
url = "https://causeway.example/v0.2/export?take=50000"
count = 0
while url:
    with urlopen(Request(url, headers={"Authorization": f"Basic {keys}"})) as response:
        for line in response:
            nonprofit = json.loads(line)  # store it by nonprofit["id"]
            count += 1
        cursor = response.headers["Changes-Cursor"]
        link = re.search('<(.*)>; rel="next"', response.headers.get("Link", ""))
    url = link and link[1]  # the last part has no Link header
print(f"{count} nonprofits; continue with the changes since {cursor}")
