"""Verifies messages with the package that receivers in Python use."""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def is_accepted(secret: str, headers: dict[str, str], body: str) -> bool:
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


failures = 0
messages = [json.loads(line) for line in sys.stdin]
for message in messages:
    headers, body = message["headers"], message["body"]
    old = str(int(headers["webhook-timestamp"]) - 301)
    for secret in message["valid"]:
        failures += not is_accepted(secret, headers, body)
        failures += is_accepted(secret, headers, body + " ")
        failures += is_accepted(secret, headers | {"webhook-id": headers["webhook-id"] + "0"}, body)
        failures += is_accepted(secret, headers | {"webhook-timestamp": old}, body)
    for secret in message["invalid"]:
        failures += is_accepted(secret, headers, body)
print(f"{len(messages)} messages verified by a package of PyPI")
sys.exit(1 if failures else 0)
