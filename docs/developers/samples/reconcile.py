import json
from urllib.parse import urlencode
from urllib.request import urlopen

queries = {
    "q0": {"query": "Amercan Red Cross", "properties": [{"pid": "city", "v": "Washington"}]},
    "q1": {"query": "13-1788491"},
}
form = urlencode({"queries": json.dumps(queries)}).encode()
with urlopen("https://causeway.example/reconcile?apiKey=PUBLIC_KEY", data=form) as response:
    for query, found in json.load(response).items():
        for candidate in found["result"]:
            print(query, candidate["name"], candidate["score"], candidate["match"])
