"""Responses are reported, and everything that fails is a `CausewayError` with its cause."""

from typing import Any

import pytest

import causeway_client as causeway
from causeway_client import Causeway, CausewayError, ConfigurationError, InvalidResponseError, ResponseInfo
from conftest import Call, Proxy, Server

ID = "d9017b27-edb0-54b2-b0c1-533033c82832"


def test_reports_every_response_with_its_headers_and_request_id(call: Call, proxy: Proxy) -> None:
    reported: list[ResponseInfo] = []
    call("nonprofit", ID, options={"on_response": reported.append})
    (info,) = reported
    assert (info.method, info.path, info.status) == ("GET", f"/v0.2/nonprofit/{ID}", 200)
    assert info.request_id and info.request_id == info.headers["x-request-id"]

    # Also before a retry and with an error.
    reported.clear()
    proxy.faults = [(503, "0")]
    with pytest.raises(causeway.NotFoundError) as missing:
        call("nonprofit", "no-such-nonprofit", options={"on_response": reported.append})
    assert [info.status for info in reported] == [503, 404]
    assert missing.value.request_id == reported[1].request_id

    with pytest.raises(ConfigurationError) as raised:
        call("causes", options={"on_response": lambda _: 1 / 0})
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("nonprofit", (ID,)),
    ("finances", (ID,)),
    ("search", ("red cross",)),
    ("causes", ()),
    ("directory", ()),
    ("match", ([{"name": "Red Cross"}],)),
    ("donation", (ID,)),
    ("fundraiser", (ID, "run")),
    ("raised", (ID, "run")),
    ("create_fundraiser", (ID, "Run")),
    ("update_fundraiser", (ID,)),
    ("close_fundraiser", (ID,)),
]


@pytest.mark.parametrize("body", [b"<html>Sign in to the Wi-Fi</html>", b'{"nonprofits": [', b"null", b"{}", b'""', b"[]"])
def test_a_success_that_the_client_cannot_read_is_an_invalid_response_error(body: bytes, call: Call, proxy: Proxy, server: Server) -> None:
    for method, arguments in CALLS:
        proxy.faults = [body]
        with pytest.raises(InvalidResponseError) as raised:
            call(method, *arguments)
        assert (raised.value.status, raised.value.request_id) == (200, "req-1"), method
        assert isinstance(raised.value.__cause__, Exception)
    with Causeway(proxy.base_url, **server.keys) as client:
        lists = [client.browse("animals"), client.changes("cursor"), client.events(), client.donations(), client.fundraisers()]
        for items in lists:
            proxy.faults = [body]
            with pytest.raises(InvalidResponseError):
                next(iter(items))


def test_an_unreachable_server_is_a_connection_error_with_its_cause(call: Call, proxy: Proxy, server: Server) -> None:
    proxy.faults = ["break"]
    with pytest.raises(causeway.ConnectionError) as broken:
        call("causes", options={"max_retries": 0})
    assert isinstance(broken.value, CausewayError) and broken.value.__cause__
    with Causeway("http://no-such-host.invalid", server.public_key, max_retries=0) as nowhere, pytest.raises(causeway.ConnectionError):
        nowhere.causes()


def test_wrong_options_and_arguments_are_a_configuration_error_and_nothing_is_sent(call: Call, proxy: Proxy, server: Server) -> None:
    wrong: list[Any] = ["", "/api", "ftp://causeway.example", None]
    for base_url in wrong:
        with pytest.raises(ConfigurationError):
            Causeway(base_url, server.public_key)
    with Causeway("http://causeway.example:port", server.public_key) as client, pytest.raises(ConfigurationError):
        client.causes()
    for method, arguments, named in [
        ("search", (None,), {}),
        ("search", ("red cross",), {"causes": 7}),
        ("nonprofit", (ID,), {"include": "everything"}),
        ("match", (["Red Cross"],), {}),
        ("donation", ("no-uuid",), {}),
        ("create_fundraiser", ("no-uuid", "Run"), {}),
        ("create_fundraiser", (ID, "Run"), {"goal": object()}),
        ("update_fundraiser", (ID,), {"title": object()}),
    ]:
        with pytest.raises(ConfigurationError) as raised:
            call(method, *arguments, **named)
        assert raised.value.__cause__ or method == "search"
    assert proxy.requests == []
