"""Reads the simulator with Stripe's SDK for Python, and verifies the signatures of recorded events.

Usage: python check.py URL EVENTS, where the simulator at URL has some objects and EVENTS is a file of check.mjs.
"""

import json
import sys

import stripe

base, path = sys.argv[1:]
client = stripe.StripeClient(
    "sk_test_check_0123456789", base_addresses={"api": base}, max_network_retries=0
)

with open(path) as file:
    events = json.load(file)
for event in events:
    # Events of a simulator whose clock was moved are older than the usual five minutes.
    parsed = stripe.Webhook.construct_event(event["body"], event["header"], event["secret"], tolerance=None)
    assert parsed.data.object["object"], parsed.type
try:
    stripe.Webhook.construct_event(events[0]["body"] + " ", events[0]["header"], events[0]["secret"], tolerance=None)
    raise AssertionError("a changed body was accepted")
except stripe.SignatureVerificationError:
    pass

v1 = client.v1
services = {
    "balance transactions": v1.balance_transactions,
    "charges": v1.charges,
    "checkout sessions": v1.checkout.sessions,
    "customers": v1.customers,
    "disputes": v1.disputes,
    "events": v1.events,
    "invoice payments": v1.invoice_payments,
    "invoices": v1.invoices,
    "payment intents": v1.payment_intents,
    "payouts": v1.payouts,
    "prices": v1.prices,
    "products": v1.products,
    "refunds": v1.refunds,
    "subscriptions": v1.subscriptions,
}
counts = {}
for name, service in services.items():
    found = list(service.list({"limit": 3}).auto_paging_iter())
    assert found, f"there are no {name}"
    assert len({each.id for each in found}) == len(found), name
    counts[name] = len(found)
    if hasattr(service, "retrieve"):
        assert service.retrieve(found[-1].id).id == found[-1].id

transactions = list(v1.balance_transactions.list({"limit": 100}).auto_paging_iter())
balance = v1.balance.retrieve()
assert sum(each.net for each in transactions) == balance.available[0].amount + balance.pending[0].amount

session = v1.checkout.sessions.create(
    {
        "mode": "payment",
        "success_url": "http://127.0.0.1/",
        "line_items": [
            {
                "quantity": 1,
                "price_data": {"currency": "usd", "unit_amount": 1_000, "product_data": {"name": "Donation"}},
            }
        ],
    },
    {"idempotency_key": "python-1"},
)
assert session.status == "open" and session.url.startswith(base)
try:
    v1.refunds.create({"charge": "ch_missing"})
    raise AssertionError("a refund of nothing was accepted")
except stripe.InvalidRequestError as error:
    assert error.code == "resource_missing", error
print(f"{len(events)} signatures and {sum(counts.values())} objects of {len(counts)} kinds read by Python")
