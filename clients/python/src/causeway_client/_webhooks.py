"""Verifies the signatures of webhooks."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import CausewayError, ConfigurationError


class WebhookVerificationError(CausewayError):
    """The webhook was not sent by the server, was changed on its way, or is too old. Answer with status 400 and ignore it."""


@dataclass(frozen=True)
class WebhookEvent:
    """An event."""

    id: str
    """The ID of the event. Store it: a webhook that arrives twice has the same."""
    type: str
    """What happened, such as donation.succeeded."""
    timestamp: str
    """When it happened. It strictly increases for one donation, monthly gift, fundraiser or nonprofit."""
    data: dict[str, Any]
    """What is known about the donation, monthly gift, fundraiser or nonprofit. Amounts are in cents."""


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Verifies the signature of a webhook, and returns its event.

    Args:
        body: The body as it arrived, before it is parsed.
        headers: The headers of the request.
        secret: The secret of the endpoint, which starts with whsec_. May be a list while you replace one.
        tolerance: The age in seconds up to which a webhook is accepted, and how far in the future.
        now: The current time in seconds.

    Raises:
        WebhookVerificationError: The webhook must be ignored.
        ConfigurationError: An argument is wrong.
    """
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise ConfigurationError("Pass the body as it arrived: bytes or a string, before it is parsed.")
    if not hasattr(headers, "items"):
        raise ConfigurationError("Pass the headers of the request.")
    keys = [_decode_secret(one) for one in ([secret] if isinstance(secret, str) else _to_list(secret))]
    found = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not found.get(name):
            raise WebhookVerificationError(f"The header {name} is missing.")
    id, timestamp, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookVerificationError("The header webhook-timestamp is not a number of seconds.")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The webhook is too old, or the clock of this machine is wrong.")
    content = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{id}.{timestamp}.".encode() + content
    for key in keys:
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        for signature in signatures.split(" "):
            if hmac.compare_digest(expected, signature.encode(errors="replace")):
                return WebhookEvent(id=id, **_parse(content))
    raise WebhookVerificationError("No signature matches. Pass the body as it arrived, and the secret of this endpoint.")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except ValueError as error:
        raise WebhookVerificationError("The body is not JSON.") from error
    if not isinstance(event, dict):
        raise WebhookVerificationError("The body is not a JSON object.")
    # The partner format is flat.
    return {"type": event.get("type", ""), "timestamp": event.get("timestamp", ""), "data": event.get("data", event)}


def _to_list(secret: object) -> Sequence[object]:
    if not isinstance(secret, (list, tuple)):
        raise ConfigurationError("Pass the secret of the endpoint, or a list of secrets.")
    return secret


def _decode_secret(secret: object) -> bytes:
    key = b""
    if isinstance(secret, str):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except ValueError:
            pass
    if not key:
        raise ConfigurationError("This is not a webhook secret. It starts with whsec_.")
    return key
