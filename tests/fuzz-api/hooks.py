"""Makes the requests of Schemathesis reach the logic of the API.

A schema cannot say that a nonprofit exists, that an end is after a start, or that a text is a picture. Parts of a request
that are meant to be valid get such values here. Parts that are meant to be invalid stay as they are.
"""

import base64
import datetime
import hashlib
import json
import os
import urllib.request

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation

BASE = os.environ["CAUSEWAY_FUZZ_URL"]
KEY = os.environ["CAUSEWAY_FUZZ_KEY"]
PRIVATE_KEY = os.environ["CAUSEWAY_FUZZ_PRIVATE_KEY"]

SPECIAL = "ddacc399-20c5-462e-80e1-97fa958071ea"
MULTIPLE = "MULTIPLE_NONPROFITS"
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def call(path, body=None):
    credentials = base64.b64encode(f"{KEY}:{PRIVATE_KEY}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers)) as response:
        return json.load(response)


def create(title, **fields):
    created = call("/v0.2/fundraiser", {"title": title, **fields})
    return created["data"]["fundraiser"]


LISTED = call(f"/v0.2/browse/animals?take=20&apiKey={KEY}")["nonprofits"]
NONPROFITS = [
    listed["id"]
    for listed in LISTED
    if call(f"/v0.2/nonprofit/{listed['id']}?apiKey={KEY}")["data"]["nonprofit"]["isDisbursable"]
]
IDENTIFIERS = [listed[name] for listed in LISTED for name in ("slug", "ein", "id") if name in listed]
CAUSES = [cause["tagName"] for cause in call(f"/v0.2/causes?apiKey={KEY}")["causes"]]
SINGLE = [create(f"Run {number}", nonprofitId=id) for number, id in enumerate(NONPROFITS[:5])]
SEVERAL = create("For all", nonprofitId=SPECIAL, type=MULTIPLE, forNonprofits=NONPROFITS[:3])
FUNDRAISERS = [fundraiser["id"] for fundraiser in [*SINGLE, SEVERAL]]
# Nothing listens there. An account has at most twenty endpoints, so none is created or deleted by a valid request.
CLOSED = "http://127.0.0.1:9/"
WEBHOOK = call("/v0.2/webhook", {"url": CLOSED})["id"]
DELIVERY = call(f"/v0.2/webhook/{WEBHOOK}/test", {})["id"]
ZIP_CODES = ["10001", "20006-5310", "97201", "99501"]
# The two parameters of the paths of fundraisers.
NAMES = [(SEVERAL[name], "special-fundraiser") for name in ("id", "slug")] + [
    (fundraiser[name], fundraiser["nonprofitId"]) for fundraiser in SINGLE for name in ("id", "slug")
]

# The API takes dates from 1970 to 2199.
schemathesis.openapi.format(
    "date-time",
    st.datetimes(datetime.datetime(1970, 1, 2), datetime.datetime(2199, 12, 30)).map(
        lambda time: time.isoformat(timespec="milliseconds") + "Z"
    ),
)


def choose(options, value):
    """Chooses by what was generated, so that the same seed makes the same requests."""
    digest = hashlib.sha256(repr(value).encode()).digest()
    return options[int.from_bytes(digest[:4], "big") % len(options)]


def is_valid(case, location=None):
    if case.meta is None:
        return True
    if location is None:
        return case.meta.generation.mode.is_positive
    return not case.meta.is_negative_at(location)


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.path_parameters and is_valid(case, ParameterLocation.PATH):
        name_existing(case.path_parameters, "/webhook/" in case.path)
    if case.headers and "Idempotency-Key" in case.headers and is_valid(case):
        # The same key with another body would be refused.
        body = hashlib.sha256(repr(case.body).encode()).hexdigest()
        case.headers["Idempotency-Key"] = body + case.headers["Idempotency-Key"][64:]
    if case.query and is_valid(case, ParameterLocation.QUERY):
        name_place(case.query)
    if isinstance(case.body, dict) and is_valid(case):
        if "/webhook" in case.path:
            make_webhook_coherent(case.body)
        else:
            make_coherent(case.body, is_new=case.method == "POST")


def name_existing(parameters, is_webhook):
    """Names something that exists, in three of four requests."""
    if choose([True, True, True, False], sorted(parameters.items())):
        if "id" in parameters:
            parameters["id"] = WEBHOOK if is_webhook else choose(FUNDRAISERS, parameters["id"])
        if "delivery" in parameters:
            parameters["delivery"] = DELIVERY
        if "identifier" in parameters:
            parameters["identifier"] = choose(IDENTIFIERS, parameters["identifier"])
        if "cause" in parameters:
            parameters["cause"] = choose(CAUSES, parameters["cause"])
        if "fundraiser" in parameters:
            names = choose(NAMES, parameters["fundraiser"])
            parameters["fundraiser"], parameters["nonprofit"] = names


def name_place(parameters):
    """Names a ZIP code that exists, and never a radius around nothing or a cursor. Explanations need a private key."""
    # Only the server makes cursors, and nobody waits for an event.
    for name in ("since", "cursor", "after", "before", "wait"):
        parameters.pop(name, None)
    if "explain" in parameters:
        parameters["explain"] = "0"
    if "radius" in parameters or "," not in str(parameters.get("near", ",")):
        if "," not in str(parameters.get("near", "")):
            parameters["near"] = choose(ZIP_CODES, sorted(parameters.items(), key=repr))


def make_coherent(body, is_new):
    if isinstance(body.get("imageBase64"), str):
        body["imageBase64"] = choose(["", "data:image/png;base64,"], body["imageBase64"]) + PICTURE
    if "startDate" in body or "endDate" in body:
        order_dates(body)
    if is_new:
        choose_nonprofits(body)


def make_webhook_coherent(body):
    """A URL that can be used, and an endpoint that stays enabled in the standard format, which has no fixed token."""
    if "url" in body:
        body["url"] = CLOSED
    if "since" in body:
        now = datetime.datetime.now(datetime.timezone.utc)
        body["since"] = (now - datetime.timedelta(hours=1)).isoformat()
    for name in ("bearerToken", "format", "status"):
        body.pop(name, None)


def order_dates(body):
    """Both dates, since a change is also compared with the dates that a fundraiser has."""
    dates = sorted(date for date in (body.get("startDate"), body.get("endDate")) if date)
    body["startDate"] = dates[0] if dates else None
    body["endDate"] = dates[1] if len(dates) == 2 and dates[0] < dates[1] else None


def choose_nonprofits(body):
    weights = body.get("forNonprofitWeights")
    if body.get("type") == MULTIPLE:
        listed = NONPROFITS[: max(1, len(body.get("forNonprofits") or []))]
        body["nonprofitId"], body["forNonprofits"] = SPECIAL, listed
        if weights is not None:
            body["forNonprofitWeights"] = (weights + [1] * len(listed))[: len(listed)]
    else:
        body["nonprofitId"] = choose(NONPROFITS, body.get("nonprofitId"))
        for name in ("forNonprofits", "forNonprofitWeights"):
            if body.get(name):
                body[name] = []
