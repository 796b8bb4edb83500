"""Timeouts, retries and search as you type, with a proxy in front of the real server that makes errors."""

import asyncio
import threading
import time
from email.utils import format_datetime
from datetime import datetime, timedelta, timezone

import pytest

import causeway_client as causeway
from causeway_client import AsyncCauseway, Causeway, SearchState
from conftest import Call, Proxy, Server

RED_CROSS = "d9017b27-edb0-54b2-b0c1-533033c82832"

def test_waits_as_long_as_retry_after_says(call: Call, proxy: Proxy) -> None:
    proxy.faults = [(429, "1")]
    assert call("nonprofit", RED_CROSS).nonprofit.ein == "530196605"
    assert proxy.requests[1][3] - proxy.requests[0][3] >= 0.99


def test_repeats_reads_after_broken_connections_and_errors_of_the_server(call: Call, proxy: Proxy) -> None:
    proxy.faults = ["break", (503, None)]
    assert call("causes")
    assert len(proxy.requests) == 3


def test_gives_up(call: Call, proxy: Proxy) -> None:
    proxy.faults = [(503, None)] * 3
    with pytest.raises(causeway.ServerError):
        call("causes")
    assert len(proxy.requests) == 3

    # At once if the wait is too long, or the error lasts.
    proxy.requests.clear()
    proxy.faults = [(429, "60")]
    with pytest.raises(causeway.RateLimitError) as limited:
        call("causes", options={"max_retry_delay": 1})
    assert limited.value.retry_after == 60
    with pytest.raises(causeway.NotFoundError):
        call("nonprofit", "no-such-nonprofit")
    assert len(proxy.requests) == 2

    proxy.faults = [(503, format_datetime(datetime.now(timezone.utc) + timedelta(seconds=30), usegmt=True))]
    with pytest.raises(causeway.ServerError) as unavailable:
        call("causes", options={"max_retries": 0})
    assert 20 < (unavailable.value.retry_after or 0) <= 30


def test_creates_a_fundraiser_once_when_the_answer_is_lost(call: Call, server: Server, proxy: Proxy) -> None:
    proxy.faults = ["lose"]
    title = f"Only once {time.monotonic_ns()}"
    created = call("create_fundraiser", RED_CROSS, title)
    keys = [headers["Idempotency-Key"] for _, _, headers, _ in proxy.requests]
    assert len(keys) == 2 and keys[0] and keys[0] == keys[1]
    with Causeway(server.base_url, **server.keys) as client:
        assert [listed.id for listed in client.fundraisers(take=100) if listed.title == title] == [created.id]


def test_does_not_repeat_other_writes(call: Call, proxy: Proxy) -> None:
    proxy.faults = ["break", "break"]
    with pytest.raises(causeway.ConnectionError):
        call("update_fundraiser", RED_CROSS, goal=1000)
    with pytest.raises(causeway.ConnectionError):
        call("close_fundraiser", RED_CROSS)
    assert len(proxy.requests) == 2


def test_ends_an_attempt_that_takes_too_long(call: Call, proxy: Proxy) -> None:
    held = threading.Event()
    proxy.faults = [held]
    with pytest.raises(causeway.TimeoutError):
        call("causes", options={"timeout": 0.05, "max_retries": 0})
    held.set()


def test_reads_only_the_pages_that_are_used(server: Server, proxy: Proxy) -> None:
    with Causeway(proxy.base_url, **server.keys) as client:
        for _ in client.browse("animals", take=2):
            if len(proxy.requests) == 2:
                break
    assert len(proxy.requests) == 2


def test_searches_as_you_type_with_asyncio(server: Server, proxy: Proxy) -> None:
    async def use() -> None:
        async with AsyncCauseway(proxy.base_url, **server.keys, max_retries=0) as client:
            states: list[SearchState] = []
            search = client.search_as_you_type(debounce=0.03, take=2, on_change=states.append)
            # Waits for a pause.
            for term in ("r", "re", "red cro"):
                search.type(term)
            state = await search.settled()
            assert state.status == "ready" and state.nonprofits[0].slug == "american-red-cross"
            assert [path.partition("?")[0] for _, path, _, _ in proxy.requests] == ["/v0.2/search/red%20cro"]
            # Never shows an older answer after a newer one.
            states.clear()
            held = threading.Event()
            proxy.faults = [held]
            search.type("habitat")
            while len(proxy.requests) < 2:
                await asyncio.sleep(0.01)
            search.type("red cross")
            await search.settled()
            held.set()
            await asyncio.sleep(0.1)
            assert [(state.term, state.status) for state in states] == [
                ("habitat", "loading"), ("red cross", "loading"), ("red cross", "ready"),
            ]  # fmt: skip
            # Results stay after an error, and go with the term.
            proxy.faults = ["break"]
            search.type("red cross x")
            state = await search.settled()
            assert state.status == "error" and isinstance(state.error, causeway.ConnectionError) and state.nonprofits
            search.type("")
            assert search.state == SearchState()

    asyncio.run(use())


def test_searches_as_you_type_with_threads(server: Server, proxy: Proxy) -> None:
    with Causeway(proxy.base_url, **server.keys, max_retries=0) as client:
        states: list[SearchState] = []
        search = client.search_as_you_type(debounce=0.03, on_change=states.append)
        held = threading.Event()
        proxy.faults = [held]
        search.type("habitat")
        while not proxy.requests:
            time.sleep(0.01)
        for term in ("r", "re", "red cross"):
            search.type(term)
        assert search.settled().nonprofits[0].slug == "american-red-cross"
        held.set()
        time.sleep(0.1)
        assert search.state.term == "red cross"
        assert [state.term for state in states if state.status == "ready"] == ["red cross"]
        assert len(proxy.requests) == 2
        search.type(" ")
        assert search.state.status == "idle"
