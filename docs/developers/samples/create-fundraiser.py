import base64
import json
import uuid
from urllib.request import Request, urlopen

request = Request(
    "https://causeway.example/v0.2/fundraiser",
    data=json.dumps({
        "nonprofitId": "d9017b27-edb0-54b2-b0c1-533033c82832",
        "title": "Spring run",
        "description": "We run along the river.",
        "goal": 500000,  # cents
    }).encode(),
    headers={
        "Authorization": "Basic " + base64.b64encode(b"PUBLIC_KEY:PRIVATE_KEY").decode(),
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),  # send the same one again when you retry
    },
)
with urlopen(request) as response:
    print(json.load(response)["data"]["fundraiser"]["url"])
