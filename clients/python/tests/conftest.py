"""Servers for the tests: the real binary on a free port with a temporary folder, and a proxy that makes errors."""

import asyncio
import http.client
import http.server
import json
import os
import re
import secrets
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from causeway_client import AsyncCauseway, Causeway


@dataclass
class Server:
    base_url: str
    public_key: str
    private_key: str
    run: Callable[..., Any]

    @property
    def keys(self) -> dict[str, str]:
        return {"public_key": self.public_key, "private_key": self.private_key}

    def create_limited_key(self, limit: str) -> str:
        """Creates another public key with limits, such as `search=3`."""
        created = self.run("key", "create", "--account", "demo", "--kind", "public")
        self.run("limit", "set", created["id"], limit)
        return created["key"]


@contextmanager
def start_server(database: str) -> Iterator[Server]:
    """Starts a server with the demo directory and creates keys for it."""
    binary = os.environ.get("CAUSEWAY")
    assert binary, "Set CAUSEWAY to the binary of the server, or run make test-clients."
    with tempfile.TemporaryDirectory(prefix="causeway-client-") as folder:
        settings = ["--data", f"{folder}/data"]
        name = f"client_{secrets.token_hex(6)}"
        postgres = os.environ.get("CAUSEWAY_TEST_POSTGRES_URL")

        def sql(statement: str) -> None:
            subprocess.run(["psql", postgres, "--quiet", "--command", statement], check=True)

        if database == "PostgreSQL":
            assert postgres, "Set CAUSEWAY_TEST_POSTGRES_URL, or run make test-clients."
            sql(f"create database {name}")
            settings += ["--database-url", postgres.rpartition("/")[0] + f"/{name}"]
        log = Path(folder, "log")
        with log.open("wb") as output:
            command = [binary, "serve", *settings, "--listen", "127.0.0.1:0", "--metrics-listen", "off"]
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            while not (url := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
                assert process.poll() is None, f"The server stopped: {log.read_text()}"
                time.sleep(0.05)

            def run(*arguments: str) -> Any:
                return json.loads(subprocess.check_output([binary, *arguments, *settings, "--json"]))

            keys = [run("key", "create", "--account", "demo", "--kind", kind)["key"] for kind in ("public", "private")]
            yield Server(url[0], *keys, run)
        finally:
            process.kill()
            process.wait()
            if database == "PostgreSQL":
                sql(f"drop database {name} with (force)")


@pytest.fixture(scope="session", params=["SQLite", "PostgreSQL"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with start_server(request.param) as started:
        yield started


@dataclass
class Proxy:
    base_url: str
    faults: list[Any] = field(default_factory=list)
    """The faults of the next requests, in order. Later requests are forwarded."""
    requests: list[tuple[str, str, Any, float]] = field(default_factory=list)
    """Method, path, headers and time of every request."""


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    """A proxy for the server.

    A fault is a status with a Retry-After, the body of a success, "break", "lose" (the answer), or an event to wait for.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.requests.append((self.command, self.path, self.headers, time.monotonic()))
            fault = state.faults.pop(0) if state.faults else None
            if fault == "break":
                self.close_connection = True
                return
            if isinstance(fault, threading.Event):
                fault.wait(30)
            if isinstance(fault, tuple):
                status, retry_after = fault
                content = json.dumps({"code": "test", "detail": "A test error."}).encode()
                headers = {"Retry-After": retry_after} if retry_after else {}
            elif isinstance(fault, bytes):
                status, content, headers = 200, fault, {"X-Request-Id": "req-1"}
            else:
                connection = http.client.HTTPConnection(server.base_url.removeprefix("http://"))
                connection.request(self.command, self.path, body, dict(self.headers))
                answer = connection.getresponse()
                status, content, headers = answer.status, answer.read(), {"X-Request-Id": answer.headers["X-Request-Id"]}
                connection.close()
            self.close_connection = fault == "lose"
            if fault == "lose":
                return
            try:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                # The client has canceled the call.
                self.close_connection = True

        do_GET = do_POST = do_PATCH = handle_any

        def log_message(self, *_: Any) -> None:
            pass

    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    state = Proxy(f"http://127.0.0.1:{listener.server_port}")
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield state
    listener.shutdown()
    thread.join()
    listener.server_close()


Call = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, server: Server, proxy: Proxy) -> Call:
    """Calls a method of either client through the proxy."""

    def call_sync(method: str, *arguments: Any, options: Any = None, **named: Any) -> Any:
        with Causeway(proxy.base_url, **server.keys).with_options(**(options or {})) as client:
            return getattr(client, method)(*arguments, **named)

    async def call_async(method: str, *arguments: Any, options: Any = None, **named: Any) -> Any:
        async with AsyncCauseway(proxy.base_url, **server.keys).with_options(**(options or {})) as client:
            return await getattr(client, method)(*arguments, **named)

    if request.param == "sync":
        return call_sync
    return lambda *arguments, **named: asyncio.run(call_async(*arguments, **named))
