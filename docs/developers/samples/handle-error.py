import json
from urllib.error import HTTPError
from urllib.request import urlopen

url = "https://causeway.example/v0.2/nonprofit/no-such-nonprofit?apiKey=PUBLIC_KEY"
try:
    with urlopen(url) as response:
        print(json.load(response)["data"]["nonprofit"]["name"])
except HTTPError as error:
    problem = json.load(error)
    if problem["code"] != "nonprofit_not_found":
        raise RuntimeError(f"{problem['code']}: {problem['detail']} (request {problem['requestId']})")
    print("Not in the directory:", problem["detail"])
