import json
import time
from urllib.error import HTTPError
from urllib.request import urlopen


def get(url, attempts=5):
    """Tries a request several times and waits as long as the server asks."""
    for attempt in range(1, attempts + 1):
        try:
            with urlopen(url) as response:
                return json.load(response)
        except HTTPError as error:
            if error.code not in (429, 503) or attempt == attempts:
                raise
            time.sleep(int(error.headers.get("Retry-After", 1)))


causes = get("https://causeway.example/v0.2/causes?apiKey=PUBLIC_KEY")["causes"]
print(len(causes), "causes")
