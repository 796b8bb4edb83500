"""What the clients with and without asyncio share: the arguments of the generated functions."""

import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import httpx

from ._generated import AuthenticatedClient, models
from ._generated.types import Response, Unset
from ._transport import AsyncRetryingClient, RetryingClient
from .errors import CausewayError, ConfigurationError, InvalidResponseError

Parsed = TypeVar("Parsed")
Id = str | uuid.UUID

SEVERAL_NONPROFITS_ID = "ddacc399-20c5-462e-80e1-97fa958071ea"
"""The nonprofit ID of fundraisers that benefit several nonprofits."""
SEVERAL_NONPROFITS = "special-fundraiser"
"""Stands for the nonprofit in reads of fundraisers that benefit several nonprofits."""


MAX_MATCH_ROWS = 1000
"""The most rows of a list that the server matches in one request."""


@dataclass(frozen=True)
class ExportPart:
    """One part of an export."""

    nonprofits: list[dict[str, Any]]
    """The fields that each nonprofit has in details, by their names in JSON, and its causes in `tags`."""
    cursor: str | None
    """Where the next part starts. The last part has none."""
    changes_cursor: str
    """Where `changes` starts after this export."""


def check_keys(base_url: object, public_key: object) -> None:
    if not isinstance(base_url, str) or not re.match(r"https?://[^/]", base_url, re.IGNORECASE):
        raise ConfigurationError("Set base_url to the URL of the server. It starts with https:// or http://.")
    if not isinstance(public_key, str) or not public_key:
        raise ConfigurationError("Set public_key to a key that starts with cwpk_.")
    if public_key.startswith("cwsk_"):
        raise ConfigurationError("This is a private key. Set public_key to a key that starts with cwpk_.")


def credentials(public_key: str, private_key: str | None) -> tuple[str, str]:
    if not private_key:
        raise ConfigurationError("This call needs a private key. Set private_key to a key that starts with cwsk_.")
    return public_key, private_key


class _Exchange:
    """Passes the request of a generated function on, and keeps its response."""

    response: httpx.Response | None = None

    def __init__(self, http: RetryingClient) -> None:
        self._http = http

    def request(self, **arguments: Any) -> httpx.Response:
        self.response = self._http.request(**arguments)
        return self.response


class _AsyncExchange:
    """The same with asyncio."""

    response: httpx.Response | None = None

    def __init__(self, http: AsyncRetryingClient) -> None:
        self._http = http

    async def request(self, **arguments: Any) -> httpx.Response:
        self.response = await self._http.request(**arguments)
        return self.response


@contextmanager
def exchange(base_url: str, http: RetryingClient | AsyncRetryingClient) -> Iterator[AuthenticatedClient]:
    """Provides the client for one call of a generated function. Every error of the call becomes a `CausewayError`."""
    # The token is not used: our HTTP client has the keys.
    client = AuthenticatedClient(base_url=base_url, token="")
    exchange: Any
    if isinstance(http, RetryingClient):
        exchange = _Exchange(http)
        client.set_httpx_client(exchange)
    else:
        exchange = _AsyncExchange(http)
        client.set_async_httpx_client(exchange)
    try:
        yield client
    except CausewayError:
        raise
    except Exception as error:
        response = exchange.response
        if response is None:
            raise ConfigurationError(f"The request could not be made: {error}") from error
        raise InvalidResponseError(response.status_code, response.headers.get("X-Request-Id")) from error


def parsed(response: Response[Any], kind: type[Parsed]) -> Parsed:
    """The body of a successful response; others have raised an error before."""
    if not isinstance(response.parsed, kind):
        raise TypeError("The body has another form.")
    return response.parsed


def is_blank(term: object) -> bool:
    if not isinstance(term, str):
        raise ConfigurationError("The term of a search is a string.")
    return not term.strip()


def to_uuid(id: Id) -> uuid.UUID:
    return uuid.UUID(str(id))


def known(**arguments: Any) -> dict[str, Any]:
    """The arguments that were given."""
    return {name: value for name, value in arguments.items() if value is not None}


def search_arguments(
    take: int | None,
    causes: Sequence[str] | None,
    state: str | None,
    city: str | None,
    near: str | None,
    radius: float | None,
    disbursable: bool,
    explain: bool,
) -> dict[str, Any]:
    return known(
        take=take,
        causes=None if causes is None else ",".join(causes),
        state=state,
        city=city,
        near=near,
        radius=radius,
        disbursable=models.SearchDisbursable.VALUE_1 if disbursable else None,
        explain=models.SearchExplain.VALUE_1 if explain else None,
    )


def fundraiser_input(
    nonprofit_id: Id, title: str, for_nonprofits: Sequence[Id] | None, for_nonprofit_weights: Sequence[float] | None, **fields: Any
) -> models.FundraiserInput:
    several = {}
    if for_nonprofits is not None:
        several = known(
            type_=models.FundraiserInputTypeType0.MULTIPLE_NONPROFITS,
            for_nonprofits=[to_uuid(nonprofit) for nonprofit in for_nonprofits],
            for_nonprofit_weights=None if for_nonprofit_weights is None else list(for_nonprofit_weights),
        )
    return models.FundraiserInput(nonprofit_id=to_uuid(nonprofit_id), title=title, **several, **known(**fields))


def match_inputs(rows: Sequence[Mapping[str, str]], take: int | None) -> list[models.MatchInput]:
    bodies = []
    for start in range(0, len(rows), MAX_MATCH_ROWS):
        inputs = [models.MatchRowInput.from_dict(row) for row in rows[start : start + MAX_MATCH_ROWS]]
        bodies.append(models.MatchInput(rows=inputs, **known(take=take)))
    return bodies


def export_part(response: Response[Any]) -> ExportPart:
    next_part = re.search(r'<([^>]*)>;\s*rel="?next"?', response.headers.get("Link", ""))
    return ExportPart(
        nonprofits=[json.loads(line) for line in response.content.split(b"\n") if line],
        cursor=httpx.URL(next_part[1]).params.get("cursor") if next_part else None,
        changes_cursor=response.headers.get("Changes-Cursor", ""),
    )


def new_idempotency_key() -> str:
    return uuid.uuid4().hex


Text = str | None | Unset
Time = datetime | None | Unset
Cents = int | None | Unset
