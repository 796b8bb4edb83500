"""Errors of calls: a class for each family of codes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any


@dataclass(frozen=True)
class FieldError:
    """An invalid field of a request body."""

    field: str
    detail: str


class CausewayError(Exception):
    """The base class of everything that the client raises. `__cause__` is the error behind it, if there is one."""


class ConnectionError(CausewayError):  # noqa: A001
    """No response arrived: the server could not be reached, or the connection broke."""


class TimeoutError(ConnectionError):  # noqa: A001
    """No response arrived in time."""


class ConfigurationError(CausewayError, ValueError):
    """An option or argument is wrong, so no request was sent."""


class InvalidResponseError(CausewayError):
    """The server answered with a success, but the body is not what the API returns: usually a proxy answered instead."""

    status: int
    """The HTTP status."""
    request_id: str | None
    """Identifies the request, if the server answered."""

    def __init__(self, status: int, request_id: str | None) -> None:
        self.status = status
        self.request_id = request_id
        super().__init__(f"The server answered with status {status} and a body that this client cannot read.")


class ApiError(CausewayError):
    """An error response of the server. The subclasses are families of codes."""

    code: str
    """Identifies the kind of error. Codes do not change; compare this in programs."""
    status: int
    """The HTTP status."""
    detail: str
    """What went wrong and what to send instead."""
    request_id: str | None
    """Identifies the request. Quote it when you contact the operator."""
    errors: list[FieldError]
    """Every invalid field of the request body."""
    retry_after: int | None
    """The number of seconds after which to try again, if the server named one."""

    def __init__(self, status: int, problem: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.status = status
        self.code = problem.get("code") or f"http_{status}"
        self.detail = problem.get("detail") or problem.get("title") or f"The server answered with status {status}."
        self.request_id = problem.get("requestId") or headers.get("X-Request-Id")
        self.errors = [FieldError(error["field"], error["detail"]) for error in problem.get("errors") or []]
        self.retry_after = _parse_retry_after(headers.get("Retry-After"))
        super().__init__(f"{self.code}: {self.detail}")


class InvalidRequestError(ApiError):
    """The request is invalid: invalid_parameter, invalid_json, invalid_body, too_large and others."""


class AuthenticationError(ApiError):
    """A key is missing or wrong: missing_key, invalid_key, private_key_exposed, missing_credentials, invalid_credentials."""


class PermissionDeniedError(ApiError):
    """The operator does not allow this: blocked_key."""


class NotFoundError(ApiError):
    """It does not exist: nonprofit_not_found, fundraiser_not_found, unknown_cause, not_found."""


class IdempotencyError(ApiError):
    """An Idempotency-Key is in use: idempotency_mismatch, idempotency_in_progress."""


class RateLimitError(ApiError):
    """Too many requests: rate_limited. Try again after retry_after seconds."""


class ServerError(ApiError):
    """An error of the server: internal, unavailable."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    410: NotFoundError,
    429: RateLimitError,
}


def to_api_error(status: int, body: bytes, headers: Mapping[str, str]) -> ApiError:
    """The error for a response whose status is not a success."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        # An error page of a proxy.
        problem = {}
    if str(problem.get("code", "")).startswith("idempotency_"):
        return IdempotencyError(status, problem, headers)
    fallback = ServerError if status >= 500 else InvalidRequestError if status >= 400 else ApiError
    return _BY_STATUS.get(status, fallback)(status, problem, headers)


def _parse_retry_after(value: str | None) -> int | None:
    """The header is a number of seconds, or a date if a proxy sent it."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return int(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0, ceil((date - datetime.now(timezone.utc)).total_seconds()))
