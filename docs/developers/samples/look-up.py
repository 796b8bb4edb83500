import json
from urllib.request import urlopen

url = "https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY"
with urlopen(url) as response:
    nonprofit = json.load(response)["data"]["nonprofit"]
print(nonprofit["name"], nonprofit["profileUrl"])
