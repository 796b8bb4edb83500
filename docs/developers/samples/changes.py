import base64
import json
from urllib.request import Request, urlopen

keys = base64.b64encode(b"PUBLIC_KEY:PRIVATE_KEY").decode()
since = ""  # the cursor that you stored: of an export, or of the last page
has_more = True
while has_more:
    url = f"https://causeway.example/v0.2/changes?take=1000&since={since}"
    # Status 410 raises an HTTPError: export the directory again.
    with urlopen(Request(url, headers={"Authorization": f"Basic {keys}"})) as response:
        page = json.load(response)
    for change in page["changes"]:
        print(change["type"], change["nonprofit"]["id"], change["nonprofit"]["name"])
    since, has_more = page["cursor"], page["hasMore"]
print(f"store this cursor for the next time: {since}")
