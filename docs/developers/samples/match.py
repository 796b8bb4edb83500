import base64
import json
from urllib.request import Request, urlopen

rows = [
    {"id": "1", "name": "Amercan Red Cross", "city": "Washington", "state": "DC"},
    {"id": "2", "ein": "13-1788491"},
]
request = Request(
    "https://causeway.example/v0.2/match",
    data=json.dumps({"rows": rows}).encode(),
    headers={
        "Authorization": "Basic " + base64.b64encode(b"PUBLIC_KEY:PRIVATE_KEY").decode(),
        "Content-Type": "application/json",
    },
)
with urlopen(request) as response:
    for row in json.load(response)["rows"]:
        best = row["candidates"][0]["name"] if row["candidates"] else "nothing similar"
        print(f"row {row['id']}: {best}{'' if row['match'] else ' (please check)'}")
