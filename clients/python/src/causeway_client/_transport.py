"""HTTP clients that repeat calls which are safe to repeat, report responses, and raise typed errors."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from .errors import ApiError, ConfigurationError, ConnectionError, TimeoutError, to_api_error

FIRST_DELAY = 0.25
"""The wait before the first retry, in seconds, if the server does not name one. It doubles each time."""


@dataclass(frozen=True)
class RetryOptions:
    """How calls time out and are retried."""

    timeout: float = 10.0
    """How long to wait for the server in one attempt, in seconds."""
    max_retries: int = 2
    """How often a failed call is repeated."""
    max_retry_delay: float = 60.0
    """The longest wait before a retry, in seconds. If the server asks for a longer one, the call fails."""


@dataclass(frozen=True)
class ResponseInfo:
    """A response without its body."""

    method: str
    """The method of the request."""
    path: str
    """The path of the request, without its query."""
    status: int
    """The HTTP status."""
    headers: httpx.Headers
    """The headers, whose names have no case."""
    request_id: str | None
    """Identifies the request. Quote it when you contact the operator."""


ResponseListener = Callable[[ResponseInfo], object]


def retry_delay(request: httpx.Request, error: Exception, retries: int, options: RetryOptions) -> float | None:
    """How long to wait before the call is repeated, or None if it is not."""
    # Reads, and creations that the server recognizes by their key, have the same effect once or twice.
    is_repeatable = request.method in ("GET", "HEAD") or "Idempotency-Key" in request.headers
    if not is_repeatable or retries >= options.max_retries:
        return None
    backoff: float = FIRST_DELAY * 2**retries * random.uniform(0.5, 1)
    if isinstance(error, ConnectionError):
        return backoff
    if not isinstance(error, ApiError):
        return None
    is_temporary = error.status == 429 or error.status >= 500 or error.code == "idempotency_in_progress"
    if not is_temporary:
        return None
    delay = backoff if error.retry_after is None else float(error.retry_after)
    return delay if delay <= options.max_retry_delay else None


def checked(response: httpx.Response) -> httpx.Response:
    if not response.is_success:
        raise to_api_error(response.status_code, response.content, response.headers)
    return response


def notify(on_response: ResponseListener | None, response: httpx.Response) -> None:
    if on_response is None:
        return
    request = response.request
    request_id = response.headers.get("X-Request-Id")
    try:
        on_response(ResponseInfo(request.method, request.url.path, response.status_code, response.headers, request_id))
    except Exception as error:
        raise ConfigurationError("on_response raised an error.") from error


def to_connection_error(error: httpx.RequestError, timeout: float) -> ConnectionError:
    if isinstance(error, httpx.TimeoutException):
        return TimeoutError(f"The server did not answer within {timeout:g} seconds.")
    return ConnectionError(f"The server could not be reached: {error}")


class RetryingClient(httpx.Client):
    """A client for the generated functions, which call `request`."""

    def __init__(self, options: RetryOptions, on_response: ResponseListener | None, **settings: Any) -> None:
        super().__init__(timeout=options.timeout, **settings)
        self.retry_options = options
        self.on_response = on_response

    def request(self, method: str, url: httpx.URL | str, **arguments: Any) -> httpx.Response:
        retries = 0
        request = self.build_request(method, url, **arguments)
        while True:
            try:
                response = self.send(request)
                notify(self.on_response, response)
                return checked(response)
            except httpx.RequestError as cause:
                error: Exception = to_connection_error(cause, self.retry_options.timeout)
                error.__cause__ = cause
            except ApiError as refused:
                error = refused
            delay = retry_delay(request, error, retries, self.retry_options)
            if delay is None:
                raise error
            time.sleep(delay)
            retries += 1


class AsyncRetryingClient(httpx.AsyncClient):
    """The same with asyncio. A canceled task ends its call and its waits."""

    def __init__(self, options: RetryOptions, on_response: ResponseListener | None, **settings: Any) -> None:
        super().__init__(timeout=options.timeout, **settings)
        self.retry_options = options
        self.on_response = on_response

    async def request(self, method: str, url: httpx.URL | str, **arguments: Any) -> httpx.Response:
        retries = 0
        request = self.build_request(method, url, **arguments)
        while True:
            try:
                response = await self.send(request)
                notify(self.on_response, response)
                return checked(response)
            except httpx.RequestError as cause:
                error: Exception = to_connection_error(cause, self.retry_options.timeout)
                error.__cause__ = cause
            except ApiError as refused:
                error = refused
            delay = retry_delay(request, error, retries, self.retry_options)
            if delay is None:
                raise error
            await asyncio.sleep(delay)
            retries += 1
