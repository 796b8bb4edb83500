from urllib.error import HTTPError
from urllib.request import Request, urlopen

url = "https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY"
with urlopen(url) as first:
    tag = first.headers["ETag"]
try:
    urlopen(Request(url, headers={"If-None-Match": tag}))
    print("changed")
except HTTPError as error:
    if error.code != 304:
        raise
    print("unchanged")
