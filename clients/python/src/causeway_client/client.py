"""The client."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Literal

from . import _calls as calls
from ._calls import Cents, Id, Text, Time
from ._generated import AuthenticatedClient, models
from ._generated.api.fundraisers import change, close, create, fundraiser, fundraisers, raised, reopen
from ._generated.api.nonprofits import browse, causes, changes, details, directory, export, finances, match, search
from ._generated.api.webhooks import donation, donations, events
from ._generated.types import UNSET, Unset
from ._pages import Pages
from ._transport import RetryingClient, ResponseListener, RetryOptions
from .errors import ConfigurationError
from .search_as_you_type import SearchAsYouType


class Causeway:
    """A client of the API. Every method raises a subclass of `CausewayError` if it fails. Use it in a `with` statement, or close it."""

    def __init__(
        self,
        base_url: str,
        public_key: str,
        private_key: str | None = None,
        *,
        timeout: float = RetryOptions.timeout,
        max_retries: int = RetryOptions.max_retries,
        max_retry_delay: float = RetryOptions.max_retry_delay,
        on_response: ResponseListener | None = None,
    ) -> None:
        """
        Args:
            base_url: The URL of the server, such as https://causeway.example.
            public_key: A public key, which starts with cwpk_.
            private_key: A private key of the same account, which starts with cwsk_. Only needed to write.
            timeout: How long to wait for the server in one attempt, in seconds.
            max_retries: How often a failed call is repeated if that is safe.
            max_retry_delay: The longest wait before a retry, in seconds. If the server asks for a longer one, the call fails.
            on_response: Called with every response, such as to log its request ID: also with error responses, and before a retry.
        """
        calls.check_keys(base_url, public_key)
        self._keys = base_url, public_key, private_key
        self._options = RetryOptions(timeout, max_retries, max_retry_delay)
        self._on_response = on_response
        self._http: dict[bool, RetryingClient] = {}

    def with_options(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        max_retry_delay: float | None = None,
        on_response: ResponseListener | None = None,
    ) -> "Causeway":
        """A client with the same keys, other connections, and other options."""
        options = calls.known(timeout=timeout, max_retries=max_retries, max_retry_delay=max_retry_delay)
        return Causeway(*self._keys, **asdict(replace(self._options, **options)), on_response=on_response or self._on_response)

    def close(self) -> None:
        """Closes all connections."""
        for client in self._http.values():
            client.close()
        self._http.clear()

    def __enter__(self) -> "Causeway":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _client(self, *, is_private: bool = False) -> Iterator[AuthenticatedClient]:
        base_url, public_key, private_key = self._keys
        if is_private not in self._http:
            access: dict[str, Any] = (
                {"auth": calls.credentials(public_key, private_key)} if is_private else {"params": {"apiKey": public_key}}
            )
            try:
                http = RetryingClient(self._options, self._on_response, base_url=base_url, **access)
            except Exception as error:
                raise ConfigurationError(f"The options are wrong: {error}") from error
            self._http[is_private] = http
        with calls.exchange(base_url, self._http[is_private]) as client:
            yield client

    def nonprofit(self, identifier: Id, *, include: Literal["sources"] | None = None) -> models.DetailsData:
        """Retrieves a nonprofit by its slug, EIN (nine digits) or ID."""
        with self._client() as client:
            arguments = calls.known(include=include and models.DetailsInclude(include))
            response = details.sync_detailed(str(identifier), client=client, **arguments)
            return calls.parsed(response, models.DetailsBody).data

    def finances(self, identifier: Id) -> models.FinancesBody:
        """Retrieves the amounts in the returns of a nonprofit, in whole dollars, newest period first."""
        with self._client() as client:
            response = finances.sync_detailed(str(identifier), client=client)
            return calls.parsed(response, models.FinancesBody)

    def search(
        self,
        term: str,
        *,
        take: int | None = None,
        causes: Sequence[str] | None = None,
        state: str | None = None,
        city: str | None = None,
        near: str | None = None,
        radius: float | None = None,
        disbursable: bool = False,
        explain: bool = False,
    ) -> models.SearchBody:
        """Searches nonprofits; the last word may be incomplete. A blank term finds nothing.

        Args:
            take: The number of results: 10 by default, at most 50.
            causes: Results have at least one of these causes.
            state: The two-letter code of a state.
            city: The name of a city.
            near: A ZIP code, or latitude and longitude in degrees.
            radius: How far from `near`, in miles.
            disbursable: Only nonprofits that can receive donations.
            explain: Why these nonprofits were found and not others. Needs a private key.
        """
        if calls.is_blank(term):
            return models.SearchBody(nonprofits=[])
        with self._client(is_private=explain) as client:
            arguments = calls.search_arguments(take, causes, state, city, near, radius, disbursable, explain)
            response = search.sync_detailed(term, client=client, **arguments)
            return calls.parsed(response, models.SearchBody)

    def search_as_you_type(self, *, debounce: float = 0.1, **filters: Any) -> SearchAsYouType:
        """Searches on every keystroke: waits for a pause, and never shows an older answer after a newer one."""
        return SearchAsYouType(self, debounce=debounce, **filters)

    def browse(
        self, cause: str, *, take: int | None = None, near: str | None = None, radius: float | None = None
    ) -> Pages[models.BrowseItem, models.BrowseBody]:
        """Lists the nonprofits of a cause, most prominent first."""
        arguments = calls.known(take=take, near=near, radius=radius)

        def fetch(page: int) -> models.BrowseBody:
            with self._client() as client:
                response = browse.sync_detailed(cause, client=client, page=page, **arguments)
                return calls.parsed(response, models.BrowseBody)

        return Pages(fetch, lambda page: page.nonprofits)

    def causes(self) -> list[models.CauseBody]:
        """Lists all causes with their numbers of nonprofits."""
        with self._client() as client:
            return calls.parsed(causes.sync_detailed(client=client), models.CausesBody).causes

    def directory(self) -> models.DirectoryBody:
        """Describes the directory as a whole: its date, the numbers of nonprofits, and its sources."""
        with self._client() as client:
            return calls.parsed(directory.sync_detailed(client=client), models.DirectoryBody)

    def match(self, rows: Sequence[Mapping[str, str]], *, take: int | None = None) -> list[models.MatchedRowBody]:
        """Finds the nonprofits that the rows of a list mean. Needs a private key.

        Args:
            rows: What is known of each nonprofit: `name`, `ein`, `city`, `state`, `zip`, and an `id` of your own.
            take: The number of candidates for each row: 3 by default, at most 10.
        """
        matched: list[models.MatchedRowBody] = []
        with self._client(is_private=True) as client:
            for body in calls.match_inputs(rows, take):
                response = match.sync_detailed(client=client, body=body)
                matched += calls.parsed(response, models.MatchBody).rows
        return matched

    def export_parts(self, *, take: int | None = None, cursor: str | None = None) -> Iterator[calls.ExportPart]:
        """Exports all nonprofits, part by part. Needs a private key.

        Args:
            take: Nonprofits in a part: 50,000 by default, at most 100,000.
            cursor: Continues an export with the part after one that was read.
        """
        while True:
            with self._client(is_private=True) as client:
                arguments = calls.known(take=take, cursor=cursor)
                part = calls.export_part(export.sync_detailed(client=client, **arguments))
            yield part
            cursor = part.cursor
            if cursor is None:
                return

    def changes(self, since: str, *, take: int | None = None) -> Iterator[models.ChangesBody]:
        """Lists the nonprofits that changed since the cursor of an export or of earlier changes, page by page. Needs a private key."""
        while True:
            with self._client(is_private=True) as client:
                response = changes.sync_detailed(client=client, since=since, **calls.known(take=take))
                page = calls.parsed(response, models.ChangesBody)
            yield page
            if not page.has_more:
                return
            since = page.cursor

    def event_pages(
        self,
        *,
        after: str | None = None,
        types: Sequence[str] | None = None,
        take: int | None = None,
        wait: int | None = None,
    ) -> Iterator[models.EventsBody]:
        """Lists the events of the account, page by page: the same as webhooks. Needs a private key.

        Args:
            after: The `cursor` of the last page that you have, or latest for new events only. By default the oldest come first.
            types: Only events of these types, such as donation.succeeded.
            take: The page size: at most 100, which is the default.
            wait: Seconds to wait for an event if there is none: at most 25. With it, the iteration goes on for ever.
        """
        client = self.with_options(timeout=self._options.timeout + (wait or 0))
        try:
            while True:
                with client._client(is_private=True) as generated:
                    arguments = calls.known(after=after, type_=types and ",".join(types), take=take, wait=wait)
                    response = events.sync_detailed(client=generated, **arguments)
                    page = calls.parsed(response, models.EventsBody)
                if page.events or after == "latest":
                    yield page
                if not page.has_more and not wait:
                    return
                after = page.cursor
        finally:
            client.close()

    def events(
        self, *, after: str | None = None, types: Sequence[str] | None = None, wait: int | None = None
    ) -> Iterator[models.EventBody]:
        """The same, event by event."""
        for page in self.event_pages(after=after, types=types, wait=wait):
            yield from page.events

    def donations(self, *, take: int | None = None) -> Iterator[models.DonationBody]:
        """Lists the donations to the fundraisers of the account and by its links, newest first. Needs a private key."""
        before: Any = UNSET
        while True:
            with self._client(is_private=True) as client:
                response = donations.sync_detailed(client=client, before=before, **calls.known(take=take))
                page = calls.parsed(response, models.DonationsBody)
            yield from page.donations
            if not page.has_more or not page.donations:
                return
            before = page.donations[-1].id

    def donation(self, id: Id) -> models.DonationBody:
        """Retrieves such a donation. Needs a private key."""
        with self._client(is_private=True) as client:
            response = donation.sync_detailed(calls.to_uuid(id), client=client)
            return calls.parsed(response, models.DonationBody)

    def fundraiser(self, nonprofit: Id, identifier: Id) -> models.FundraiserDetails:
        """Retrieves a fundraiser. `nonprofit` is `SEVERAL_NONPROFITS` if it benefits several."""
        with self._client() as client:
            response = fundraiser.sync_detailed(str(nonprofit), str(identifier), client=client)
            return calls.parsed(response, models.FundraiserDetailsBody).data

    def raised(self, nonprofit: Id, identifier: Id) -> models.RaisedBody:
        """Retrieves what a fundraiser has raised, in cents."""
        with self._client() as client:
            response = raised.sync_detailed(str(nonprofit), str(identifier), client=client)
            return calls.parsed(response, models.RaisedBody)

    def create_fundraiser(
        self,
        nonprofit_id: Id,
        title: str,
        *,
        description: str | None = None,
        goal: int | None = None,
        raised_offline: int | None = None,
        start_date: datetime | None = None,
        end_date: datetime | None = None,
        image_base_64: str | None = None,
        for_nonprofits: Sequence[Id] | None = None,
        for_nonprofit_weights: Sequence[float] | None = None,
        idempotency_key: str | None = None,
        dry_run: bool = False,
    ) -> models.FundraiserBody:
        """Creates a fundraiser. Needs a private key.

        Args:
            nonprofit_id: The nonprofit, or `SEVERAL_NONPROFITS_ID` together with `for_nonprofits`.
            goal: In cents, like all amounts.
            idempotency_key: Identifies this creation, so that it happens once however often it is sent. Generated by default.
            dry_run: Checks the fundraiser without creating it.
        """
        with self._client(is_private=True) as client:
            body = calls.fundraiser_input(
                nonprofit_id,
                title,
                for_nonprofits,
                for_nonprofit_weights,
                description=description,
                goal=goal,
                raised_offline=raised_offline,
                start_date=start_date,
                end_date=end_date,
                image_base_64=image_base_64,
            )
            response = create.sync_detailed(
                client=client,
                body=body,
                idempotency_key=idempotency_key or calls.new_idempotency_key(),
                dry_run=models.CreateDryRun.VALUE_1 if dry_run else UNSET,
            )
            return calls.parsed(response, models.WrittenBody).data.fundraiser

    def update_fundraiser(
        self,
        id: Id,
        *,
        title: str | Unset = UNSET,
        description: Text = UNSET,
        goal: Cents = UNSET,
        raised_offline: Cents = UNSET,
        start_date: Time = UNSET,
        end_date: Time = UNSET,
        image_base_64: Text = UNSET,
        dry_run: bool = False,
    ) -> models.FundraiserBody:
        """Changes a fundraiser of the account. None clears a field. Needs a private key."""
        with self._client(is_private=True) as client:
            body = models.FundraiserChangeInput(
                title=title,
                description=description,
                goal=goal,
                raised_offline=raised_offline,
                start_date=start_date,
                end_date=end_date,
                image_base_64=image_base_64,
            )
            dry = models.ChangeDryRun.VALUE_1 if dry_run else UNSET
            response = change.sync_detailed(calls.to_uuid(id), client=client, body=body, dry_run=dry)
            return calls.parsed(response, models.WrittenBody).data.fundraiser

    def close_fundraiser(self, id: Id, *, dry_run: bool = False) -> models.FundraiserBody:
        """Closes a fundraiser of the account. Needs a private key."""
        with self._client(is_private=True) as client:
            dry = models.CloseDryRun.VALUE_1 if dry_run else UNSET
            response = close.sync_detailed(calls.to_uuid(id), client=client, dry_run=dry)
            return calls.parsed(response, models.WrittenBody).data.fundraiser

    def reopen_fundraiser(self, id: Id, *, dry_run: bool = False) -> models.FundraiserBody:
        """Opens a closed fundraiser of the account again. Needs a private key."""
        with self._client(is_private=True) as client:
            dry = models.ReopenDryRun.VALUE_1 if dry_run else UNSET
            response = reopen.sync_detailed(calls.to_uuid(id), client=client, dry_run=dry)
            return calls.parsed(response, models.WrittenBody).data.fundraiser

    def fundraisers(self, *, take: int | None = None) -> Pages[models.FundraiserBody, models.FundraisersBody]:
        """Lists the fundraisers of the account, newest first. Needs a private key."""
        arguments = calls.known(take=take)

        def fetch(page: int) -> models.FundraisersBody:
            with self._client(is_private=True) as client:
                response = fundraisers.sync_detailed(client=client, page=page, **arguments)
                return calls.parsed(response, models.FundraisersBody)

        return Pages(fetch, lambda page: page.fundraisers)
