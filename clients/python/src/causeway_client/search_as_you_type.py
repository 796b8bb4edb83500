"""Search as you type: waits for a pause in typing, and never shows an older answer after a newer one."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from ._generated.models import SearchBody, SearchItem


class _AsyncSearchClient(Protocol):
    """The part of `AsyncCauseway` that is used here. Declared again, because the clients import this module."""

    @property
    def search(self) -> Callable[..., Awaitable[SearchBody]]: ...


class _SearchClient(Protocol):
    """The part of `Causeway` that is used here."""

    @property
    def search(self) -> Callable[..., SearchBody]: ...


@dataclass(frozen=True)
class SearchState:
    """What a search box shows."""

    term: str = ""
    """What was typed last."""
    status: Literal["idle", "loading", "ready", "error"] = "idle"
    """`loading` while the results are those of an earlier term."""
    nonprofits: list[SearchItem] = field(default_factory=list)
    """The newest results that have arrived."""
    error: Exception | None = None
    """Why the search for the term failed. The results stay."""


class AsyncSearchAsYouType:
    """A search box without its looks, for asyncio. Every call of `type` cancels the search before it."""

    def __init__(
        self,
        client: _AsyncSearchClient,
        *,
        debounce: float = 0.1,
        on_change: Callable[[SearchState], None] | None = None,
        **filters: Any,
    ) -> None:
        self.state = SearchState()
        self._client = client
        self._debounce = debounce
        self._on_change = on_change
        self._filters = filters
        self._task: asyncio.Task[None] | None = None

    def type(self, term: str) -> None:
        """Searches for what is typed now, unless more is typed within the debounce time."""
        self.stop()
        if not term.strip():
            return self._set(SearchState(term=term))
        self._set(replace(self.state, term=term, status="loading", error=None))
        self._task = asyncio.get_running_loop().create_task(self._search(term))

    def stop(self) -> None:
        """Cancels what is in progress."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def settled(self) -> SearchState:
        """Waits until no search is in progress, and returns the state."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
        return self.state

    async def _search(self, term: str) -> None:
        await asyncio.sleep(self._debounce)
        try:
            found = await self._client.search(term, **self._filters)
            state = SearchState(term, "ready", found.nonprofits)
        except Exception as error:
            state = replace(self.state, status="error", error=error)
        # A task that was canceled just after its answer arrived is no longer the current one.
        if self._task is asyncio.current_task():
            self._set(state)

    def _set(self, state: SearchState) -> None:
        self.state = state
        if self._on_change is not None:
            self._on_change(state)


class SearchAsYouType:
    """The same with threads. An answer that is overtaken is ignored; its call ends in the background."""

    def __init__(
        self,
        client: _SearchClient,
        *,
        debounce: float = 0.1,
        on_change: Callable[[SearchState], None] | None = None,
        **filters: Any,
    ) -> None:
        self.state = SearchState()
        self._client = client
        self._debounce = debounce
        self._on_change = on_change
        self._filters = filters
        self._timer: threading.Timer | None = None
        # Held during `on_change`, which is called in the thread of the search and may call `type`.
        self._lock = threading.RLock()

    def type(self, term: str) -> None:
        """Searches for what is typed now, unless more is typed within the debounce time."""
        with self._lock:
            self.stop()
            if not term.strip():
                return self._set(SearchState(term=term))
            self._set(replace(self.state, term=term, status="loading", error=None))
            timer = threading.Timer(self._debounce, lambda: self._search(timer, term))
            timer.daemon = True
            self._timer = timer
            timer.start()

    def stop(self) -> None:
        """Ignores the answers of what is in progress."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def settled(self) -> SearchState:
        """Waits until no search is in progress, and returns the state."""
        while (timer := self._timer) is not None and timer.is_alive():
            timer.join()
        return self.state

    def _search(self, timer: threading.Timer, term: str) -> None:
        try:
            found = self._client.search(term, **self._filters)
            state = SearchState(term, "ready", found.nonprofits)
        except Exception as error:
            state = replace(self.state, status="error", error=error)
        with self._lock:
            if self._timer is timer:
                self._set(state)

    def _set(self, state: SearchState) -> None:
        self.state = state
        if self._on_change is not None:
            self._on_change(state)
