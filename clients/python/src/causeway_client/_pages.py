"""Lists in pages."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Generic, Protocol, TypeVar

from ._generated.models import Pagination

Item = TypeVar("Item")


class HasPagination(Protocol):
    pagination: Pagination


Page = TypeVar("Page", bound=HasPagination)


class Pages(Generic[Item, Page]):
    """Iterate over it for all items, over `pages()` for whole pages, or call `page()` for one. Requests are made when they are needed."""

    def __init__(self, fetch: Callable[[int], Page], items: Callable[[Page], list[Item]]) -> None:
        self._fetch = fetch
        self._items = items

    def page(self, number: int = 1) -> Page:
        """One page; pages start at 1."""
        return self._fetch(number)

    def pages(self, first: int = 1) -> Iterator[Page]:
        """All pages from the first on."""
        number = first
        while True:
            page = self._fetch(number)
            if self._items(page):
                yield page
            if number >= page.pagination.pages:
                return
            number += 1

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from self._items(page)


class AsyncPages(Generic[Item, Page]):
    """The same with asyncio."""

    def __init__(self, fetch: Callable[[int], Awaitable[Page]], items: Callable[[Page], list[Item]]) -> None:
        self._fetch = fetch
        self._items = items

    async def page(self, number: int = 1) -> Page:
        """One page; pages start at 1."""
        return await self._fetch(number)

    async def pages(self, first: int = 1) -> AsyncIterator[Page]:
        """All pages from the first on."""
        number = first
        while True:
            page = await self._fetch(number)
            if self._items(page):
                yield page
            if number >= page.pagination.pages:
                return
            number += 1

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in self._items(page):
                yield item
