"""Signatures of webhooks. The first one is the example of Standard Webhooks."""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from causeway_client import ConfigurationError, WebhookVerificationError, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
NOW = 1614265330


def headers(body: bytes, *secrets: str, id: str = "evt_1", timestamp: int = NOW) -> dict[str, str]:
    keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in secrets]
    digests = [hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256) for key in keys]
    signatures = ["v1," + base64.b64encode(digest).decode() for digest in digests]
    return {"Webhook-Id": id, "webhook-timestamp": str(timestamp), "webhook-signature": " ".join(signatures)}


BODY = json.dumps({"type": "ping", "timestamp": "2026-11-18T20:00:00Z", "data": {"é": 1}}).encode()


def test_the_example_of_standard_webhooks_is_accepted() -> None:
    signed = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": str(NOW),
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    event = verify_webhook('{"test": 2432232314}', signed, SECRET, now=NOW)
    assert event.id == "msg_p5jXN8AQM9LWM0D4loKWxJek" and event.data == {"test": 2432232314}


def test_an_event_is_returned_while_either_secret_signs() -> None:
    event = verify_webhook(BODY, headers(BODY, SECRET), SECRET, now=NOW + 299)
    assert (event.id, event.type, event.timestamp, event.data) == ("evt_1", "ping", "2026-11-18T20:00:00Z", {"é": 1})
    rotated = headers(BODY, OTHER, SECRET)
    for secret in (SECRET, OTHER, [OTHER, SECRET]):
        assert verify_webhook(BODY, rotated, secret, now=NOW).type == "ping"


def test_what_was_changed_or_is_old_is_refused() -> None:
    good = headers(BODY, SECRET)
    for body, changed, secret, now in [
        (BODY + b" ", good, SECRET, NOW),
        (BODY, good | {"Webhook-Id": "evt_2"}, SECRET, NOW),
        (BODY, good, OTHER, NOW),
        (BODY, good, SECRET, NOW + 301),
        (BODY, good, SECRET, NOW - 301),
        (BODY, good | {"webhook-timestamp": "soon"}, SECRET, NOW),
        (BODY, good | {"webhook-signature": "v1,é v2,x"}, SECRET, NOW),
        (BODY, {name: value for name, value in good.items() if name != "webhook-signature"}, SECRET, NOW),
    ]:
        with pytest.raises(WebhookVerificationError):
            verify_webhook(body, changed, secret, now=now)
    with pytest.raises(ConfigurationError, match="whsec_"):
        verify_webhook(BODY, good, "whsec_", now=NOW)


def test_wrong_arguments_and_a_signed_body_that_is_not_json_are_errors_of_this_package() -> None:
    good: Any = headers(BODY, SECRET)
    for body, given, secret in [(json.loads(BODY), good, SECRET), (BODY, None, SECRET), (BODY, good, None), (BODY, good, "whsec_é")]:
        with pytest.raises(ConfigurationError):
            verify_webhook(body, given, secret, now=NOW)
    for body in (b"no JSON", b"[]", b"\xff"):
        with pytest.raises(WebhookVerificationError, match="JSON"):
            verify_webhook(body, headers(body, SECRET), SECRET, now=NOW)
