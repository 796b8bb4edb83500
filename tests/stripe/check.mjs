// Drives the simulator with Stripe's own SDK, receives its events, and verifies their signatures. Writes what the simulator
// said to a folder: answers.ts, which must compile against the types of the SDK, and events.json, for the SDK of Python.
//
// Usage: node check.mjs SIMULATOR FOLDER, where FOLDER has node_modules.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [program, folder] = process.argv.slice(2);
const { default: Stripe } = await import(createRequire(resolve(folder, "x.js")).resolve("stripe"));

const SECRET = "whsec_check";
const CONNECT_SECRET = "whsec_check_connect";
const KEY = "sk_test_check_0123456789";
const DAY = 86_400;

// Every object that the simulator showed, by the name of its type in the SDK.
const TYPES = {
  account: "Stripe.Account",
  balance: "Stripe.Balance",
  balance_transaction: "Stripe.BalanceTransaction",
  "billing_portal.session": "Stripe.BillingPortal.Session",
  charge: "Stripe.Charge",
  "checkout.session": "Stripe.Checkout.Session",
  customer: "Stripe.Customer",
  dispute: "Stripe.Dispute",
  invoice: "Stripe.Invoice",
  invoice_payment: "Stripe.InvoicePayment",
  payment_intent: "Stripe.PaymentIntent",
  payment_method: "Stripe.PaymentMethod",
  payout: "Stripe.Payout",
  price: "Stripe.Price",
  product: "Stripe.Product",
  refund: "Stripe.Refund",
  setup_intent: "Stripe.SetupIntent",
  subscription: "Stripe.Subscription",
  subscription_item: "Stripe.SubscriptionItem",
  "test_helpers.test_clock": "Stripe.TestHelpers.TestClock",
};
const answers = new Map();

// Answers of the same shape are recorded once.
function shape(value) {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shape))].join()}]`;
  if (value && typeof value === "object")
    return `{${Object.entries(value).map(([key, member]) => `${key}:${shape(member)}`)}}`;
  return value === null ? "null" : typeof value;
}

function record(value) {
  if (value?.object === "list") value.data.forEach(record);
  else if (value?.object === "event") {
    answers.set(`event ${value.type} ${shape(value.data.object)}`, ["Stripe.Event", value]);
    record(value.data.object);
  } else if (TYPES[value?.object] && !value.deleted && !value.session_id) {
    const state = ["status", "type", "mode", "billing_reason"].map((field) => value[field]);
    answers.set(`${value.object} ${state} ${shape(value)}`, [TYPES[value.object], value]);
  }
}

// The endpoint: it counts events by type, and refuses everything while `isRefusing` is set.
const events = [];
let isRefusing = false;
const verifier = new Stripe(KEY);
const endpoint = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    const header = request.headers["stripe-signature"];
    const secret = JSON.parse(body).account ? CONNECT_SECRET : SECRET;
    const event = verifier.webhooks.constructEvent(body, header, secret);
    record(JSON.parse(body));
    events.push({ type: event.type, id: event.id, object: event.data.object, body, header, secret });
    response.writeHead(isRefusing ? 500 : 200).end();
  });
});
await new Promise((done) => endpoint.listen(0, "127.0.0.1", done));
const hook = `http://127.0.0.1:${endpoint.address().port}/hook`;
const simulator = spawn(program, [
  "--listen", "127.0.0.1:0", "--webhook-url", hook, "--webhook-secret", SECRET, "--connect-webhook-secret", CONNECT_SECRET,
]);
simulator.stderr.pipe(process.stderr);
process.on("exit", () => simulator.kill());
const base = await new Promise((done) =>
  simulator.stdout.on("data", (line) => done(/http:\S+/.exec(line)[0])));

const url = new URL(base);
const client = (key, options = {}) =>
  new Stripe(key, {
    host: url.hostname, port: url.port, protocol: "http", maxNetworkRetries: 0, timeout: 20_000,
    httpClient: Stripe.createFetchHttpClient(async (...request) => {
      const response = await fetch(...request);
      response.clone().json().then(record, () => {});
      return response;
    }),
    ...options,
  });
const stripe = client(KEY);

async function control(path, body) {
  const response = await fetch(`${base}/simulator/${path}`, { method: "POST", body: JSON.stringify(body ?? {}) });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}
const totals = async () => (await (await fetch(`${base}/simulator/totals`)).json()).scopes;
async function idle() {
  const answer = await control("idle");
  assert.ok(answer.idle, JSON.stringify(answer));
}
async function until(isTrue) {
  while (!isTrue()) await new Promise((done) => setTimeout(done, 20));
}
const seen = (type, id) => events.filter((event) => event.type === type && (!id || event.object.id === id));
const page = (link, fields) =>
  fetch(link, { method: "POST", redirect: "manual", body: new URLSearchParams(fields) });

const item = (amount, recurring) => ({
  quantity: 1,
  price_data: { currency: "usd", unit_amount: amount, product_data: { name: "Donation" }, ...(recurring && { recurring }) },
});
const session = (amount, more = {}, options = {}) =>
  stripe.checkout.sessions.create({
    mode: "payment", submit_type: "donate", ui_mode: "hosted_page", client_reference_id: "donation_1",
    customer_email: "ada@example.org", success_url: "http://127.0.0.1/done?session={CHECKOUT_SESSION_ID}",
    cancel_url: "http://127.0.0.1/back", line_items: [item(amount)], metadata: { donation: "1" },
    payment_intent_data: { metadata: { donation: "1" } }, ...more,
  }, options);
async function pay(amount, card = "4242424242424242", more) {
  const created = await session(amount, more);
  const response = await page(created.url, { card_number: card, name: "Ada" });
  assert.equal(response.status, 303, await response.text());
  return stripe.checkout.sessions.retrieve(created.id, { expand: ["payment_intent.latest_charge", "line_items"] });
}

const stories = {
  async "a donor is declined, pays, and the fee comes later"() {
    const created = await session(2_500);
    assert.equal(created.payment_status, "unpaid");
    assert.match(await (await fetch(created.url)).text(), /Donate \$25\.00/);
    const declined = await page(created.url, { card_number: "4000000000009995" });
    assert.equal(declined.status, 402);
    assert.match(await declined.text(), /insufficient funds/);
    const paid = await page(created.url, { card_number: "4242 4242 4242 4242", name: "Ada" });
    assert.equal(paid.headers.get("location"), `http://127.0.0.1/done?session=${created.id}`);
    const done = await stripe.checkout.sessions.retrieve(created.id, { expand: ["payment_intent.latest_charge", "line_items"] });
    assert.deepEqual([done.status, done.payment_status, done.amount_total], ["complete", "paid", 2_500]);
    assert.equal(done.payment_intent.metadata.donation, "1");
    assert.equal(done.payment_intent.latest_charge.balance_transaction, null, "it is not known yet");
    await idle();
    const charge = await stripe.charges.retrieve(done.payment_intent.latest_charge.id, { expand: ["balance_transaction"] });
    assert.deepEqual([charge.balance_transaction.fee, charge.balance_transaction.net], [103, 2_397]);
    for (const type of ["charge.failed", "charge.succeeded", "charge.updated", "payment_intent.succeeded"])
      assert.ok(seen(type).length, type);
    assert.equal(seen("checkout.session.completed", created.id).length, 1);
    assert.equal((await page(created.url, {})).status, 200, "a paid session cannot be paid again");
  },
  async "a session expires by its clock and on request"() {
    const first = await session(1_000);
    assert.equal((await stripe.checkout.sessions.expire(first.id)).status, "expired");
    await assert.rejects(stripe.checkout.sessions.expire(first.id), Stripe.errors.StripeInvalidRequestError);
    const second = await session(1_000, { expires_at: Math.floor(Date.now() / 1_000) + 3_600 });
    await control("clock", { advance: 3_700 });
    await idle();
    assert.equal(seen("checkout.session.expired", second.id).length, 1);
    assert.equal((await page(second.url, {})).status, 410);
  },
  async "a bank debit is confirmed or refused later"() {
    for (const [account, type] of [["000123456789", "succeeded"], ["000222222227", "failed"]]) {
      const created = await session(5_000);
      await page(created.url, { account_number: account, name: "Ada" });
      await idle();
      const [completed] = seen("checkout.session.completed", created.id);
      assert.equal(completed.object.payment_status, "unpaid");
      await control("clock", { advance: 4 * DAY + 60 });
      await idle();
      assert.equal(seen(`checkout.session.async_payment_${type}`, created.id).length, 1);
    }
  },
  async "3D Secure completes or fails"() {
    for (const [result, status] of [["complete", 303], ["fail", 402]]) {
      const created = await session(1_500);
      const step = await page(created.url, { card_number: "4000002760003184", name: "Ada" });
      assert.equal((await fetch(step.headers.get("location"))).status, 200);
      assert.equal((await page(step.headers.get("location"), { result })).status, status);
    }
  },
  async "refunds succeed, are pending, and fail later"() {
    const paid = await pay(4_000);
    const charge = paid.payment_intent.latest_charge.id;
    const part = await stripe.refunds.create({ charge, amount: 1_500, metadata: { donation: "1" } });
    assert.equal(part.status, "succeeded");
    await assert.rejects(stripe.refunds.create({ charge, amount: 2_600 }), /greater than unrefunded amount/);
    const rest = await stripe.refunds.create({ payment_intent: paid.payment_intent.id, reason: "requested_by_customer" });
    assert.equal(rest.amount, 2_500);
    await assert.rejects(stripe.refunds.create({ charge }), { code: "charge_already_refunded" });
    await control(`refunds/${rest.id}/fail`);
    const failed = await stripe.refunds.retrieve(rest.id, { expand: ["failure_balance_transaction"] });
    assert.deepEqual([failed.status, failed.failure_balance_transaction.amount], ["failed", 2_500]);
    assert.equal((await stripe.charges.retrieve(charge)).amount_refunded, 1_500);
    const late = await pay(900, "4000000000005126");
    const refund = await stripe.refunds.create({ charge: late.payment_intent.latest_charge.id });
    const pending = await pay(900, "4000000000007726");
    assert.equal((await stripe.refunds.create({ charge: pending.payment_intent.latest_charge.id })).status, "pending");
    await idle();
    assert.equal(seen("refund.failed", refund.id).length, 1);
    assert.ok(seen("refund.created", part.id).length);
  },
  async "disputes are won and lost, and inquiries take nothing"() {
    const before = (await totals())[0].balance.total;
    const won = await pay(3_000, "4000000000000259");
    await pay(2_000, "4000000000000259");
    await pay(1_000, "4000000000001976");
    await idle();
    const list = (await stripe.disputes.list({ limit: 3 })).data;
    assert.deepEqual(list.map((dispute) => dispute.status), ["warning_needs_response", "needs_response", "needs_response"]);
    assert.deepEqual(list.map((dispute) => dispute.balance_transactions.map((each) => each.net)), [[], [-3_500], [-4_500]]);
    await assert.rejects(stripe.refunds.create({ payment_intent: won.payment_intent.id }), { code: "charge_disputed" });
    await stripe.disputes.update(list[2].id, { evidence: { uncategorized_text: "winning_evidence" } });
    await stripe.disputes.close(list[1].id);
    await control(`disputes/${list[0].id}/win`);
    await idle();
    assert.equal(seen("charge.dispute.funds_reinstated", list[2].id).length, 1);
    assert.equal(seen("charge.dispute.funds_withdrawn").length, 2);
    assert.equal(seen("charge.dispute.closed").length, 3);
    // 3000, 2000 and 1000 less their fees, less the dispute that was lost, less two dispute fees.
    assert.equal((await totals())[0].balance.total - before, 3_000 - 117 + 2_000 - 88 + 1_000 - 59 - 2_000 - 2 * 1_500);
  },
  async "a monthly gift renews, fails, gets a new card, pauses, changes and ends"() {
    const paid = await session(2_500, {
      mode: "subscription", line_items: [item(2_500, { interval: "month" })], payment_intent_data: undefined,
      subscription_data: { metadata: { donation: "2" } },
    });
    await page(paid.url, { card_number: "4242424242424242", name: "Ada" });
    const done = await stripe.checkout.sessions.retrieve(paid.id, { expand: ["subscription", "invoice.payments"] });
    const { subscription, invoice, customer } = done;
    assert.equal(invoice.billing_reason, "subscription_create");
    assert.equal(invoice.parent.subscription_details.metadata.donation, "2");
    assert.ok(invoice.payments.data[0].payment.payment_intent);
    const cycle = async (count) => {
      await control("clock", { advance: 31 * DAY + 2 * 3_600 });
      await idle();
      const list = await stripe.invoices.list({ subscription: subscription.id });
      assert.equal(list.data.length, count);
      return list.data[0];
    };
    assert.deepEqual([(await cycle(2)).status, (await cycle(3)).billing_reason], ["paid", "subscription_cycle"]);

    const portal = await stripe.billingPortal.sessions.create({
      customer, return_url: "http://127.0.0.1/gift", flow_data: { type: "payment_method_update" },
    });
    assert.equal((await page(portal.url, { card_number: "4000000000000002" })).status, 402);
    assert.equal((await page(portal.url, { card_number: "4000000000000341" })).headers.get("location"), "http://127.0.0.1/gift");
    const card = async () => (await stripe.customers.retrieve(customer)).invoice_settings.default_payment_method;
    await stripe.subscriptions.update(subscription.id, { default_payment_method: await card() });
    const failed = await cycle(4);
    assert.deepEqual([failed.status, failed.attempt_count, failed.next_payment_attempt > failed.created], ["open", 1, true]);
    assert.equal((await stripe.subscriptions.retrieve(subscription.id)).status, "past_due");
    await page(portal.url, { card_number: "4242424242424242" });
    await stripe.subscriptions.update(subscription.id, { default_payment_method: await card() });
    await control("clock", { advance: 3 * DAY + 60 });
    await idle();
    assert.equal((await stripe.invoices.retrieve(failed.id)).status, "paid");
    assert.equal((await stripe.subscriptions.retrieve(subscription.id)).status, "active");

    await stripe.subscriptions.update(subscription.id, { pause_collection: { behavior: "void" } });
    assert.equal((await cycle(5)).status, "void");
    await stripe.subscriptions.update(subscription.id, {
      pause_collection: "", proration_behavior: "none",
      items: [{
        id: subscription.items.data[0].id,
        price_data: { currency: "usd", unit_amount: 4_000, recurring: { interval: "month" }, product: subscription.items.data[0].price.product },
      }],
    });
    const changed = await cycle(6);
    assert.deepEqual([changed.status, changed.amount_paid], ["paid", 4_000]);
    await stripe.subscriptions.cancel(subscription.id);
    await idle();
    assert.equal(seen("customer.subscription.deleted", subscription.id).length, 1);
    await cycle(6);
  },
  async "a test clock renews a subscription, and the last failed attempt ends it"() {
    const clock = await stripe.testHelpers.testClocks.create({ frozen_time: 1_767_225_600 });
    const customer = await stripe.customers.create({ test_clock: clock.id, name: "Grace" });
    await stripe.paymentMethods.attach("pm_card_visa", { customer: customer.id });
    const [method] = (await stripe.paymentMethods.list({ customer: customer.id })).data;
    const product = await stripe.products.create({ name: "Donation" });
    const subscription = await stripe.subscriptions.create({
      customer: customer.id, default_payment_method: method.id,
      items: [{ price_data: { currency: "usd", product: product.id, unit_amount: 700, recurring: { interval: "month" } } }],
    });
    assert.equal(subscription.status, "active");
    await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: 1_767_225_600 + 32 * DAY });
    assert.equal((await stripe.testHelpers.testClocks.retrieve(clock.id)).status, "ready");
    assert.equal((await stripe.invoices.list({ subscription: subscription.id })).data[0].status, "paid");
    await stripe.paymentMethods.attach("pm_card_chargeCustomerFail", { customer: customer.id });
    const [failing] = (await stripe.paymentMethods.list({ customer: customer.id })).data;
    await stripe.subscriptions.update(subscription.id, { default_payment_method: failing.id });
    await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: 1_767_225_600 + 80 * DAY });
    const ended = await stripe.subscriptions.retrieve(subscription.id);
    assert.deepEqual([ended.status, ended.cancellation_details.reason], ["canceled", "payment_failed"]);
    await idle();
    const attempts = seen("invoice.payment_failed").filter((event) => event.object.customer === customer.id);
    assert.deepEqual(attempts.map((event) => event.object.attempt_count).sort(), [1, 2, 3, 4]);
  },
  async "payouts take what is available, and transactions add up to the balance"() {
    await control("clock", { advance: 3 * DAY });
    const payout = await control("payouts");
    assert.equal((await stripe.balance.retrieve()).available[0].amount, 0);
    const transactions = await stripe.balanceTransactions.list({ payout: payout.id, limit: 100 }).autoPagingToArray({ limit: 10_000 });
    assert.equal(transactions.reduce((sum, each) => sum + each.net, 0), 0);
    await control(`payouts/${payout.id}/pay`);
    await control(`payouts/${payout.id}/fail`);
    const again = await control("payouts");
    assert.equal(again.amount, payout.amount);
    const all = await stripe.balanceTransactions.list({ limit: 7 }).autoPagingToArray({ limit: 10_000 });
    const { available, pending } = await stripe.balance.retrieve();
    assert.equal(all.reduce((sum, each) => sum + each.net, 0), available[0].amount + pending[0].amount);
    assert.equal(new Set(all.map((each) => each.id)).size, all.length);
    const since = all[3].created;
    const later = await stripe.balanceTransactions.list({ created: { gte: since }, limit: 100 });
    assert.ok(later.data.every((each) => each.created >= since));
    await idle();
    for (const type of ["payout.created", "payout.paid", "payout.failed", "payout.reconciliation_completed"])
      assert.ok(seen(type, payout.id).length, type);
  },
  async "an idempotency key replays the answer, also a 500"() {
    const key = { idempotencyKey: "donation-1" };
    const first = await session(2_000, {}, key);
    assert.equal((await session(2_000, {}, key)).id, first.id);
    await assert.rejects(session(2_001, {}, key), Stripe.errors.StripeIdempotencyError);
    await assert.rejects(session(2_000, {}, { idempotencyKey: "x".repeat(256) }), /255/);
    await assert.rejects(session(10, {}, { idempotencyKey: "small" }), { code: "amount_too_small" });
    assert.ok((await session(1_000, {}, { idempotencyKey: "small" })).id, "an invalid request saves nothing");
    for (const [kind, count] of [["error_before", 0], ["error_after", 1]]) {
      const paid = await pay(1_000);
      await control("faults", { kind, method: "POST", path: "/v1/refunds", count: 1 });
      const refund = () => stripe.refunds.create({ payment_intent: paid.payment_intent.id }, { idempotencyKey: `refund-${kind}` });
      await assert.rejects(refund(), { statusCode: 500, type: "StripeAPIError" });
      await assert.rejects(refund(), { statusCode: 500 });
      assert.equal((await stripe.refunds.list({ payment_intent: paid.payment_intent.id })).data.length, count);
    }
  },
  async "requests that time out or break off have acted"() {
    const count = async () => (await stripe.checkout.sessions.list({ limit: 100 }).autoPagingToArray({ limit: 1_000 })).length;
    const before = await count();
    const short = client(KEY, { timeout: 1_500 });
    const create = (key, by = short) => by.checkout.sessions.create({
      mode: "payment", success_url: "http://127.0.0.1/", line_items: [item(1_000)],
    }, { idempotencyKey: key });
    await control("faults", { kind: "timeout_after", path: "/v1/checkout", count: 1, seconds: 10 });
    await assert.rejects(create("lost-1"), Stripe.errors.StripeConnectionError);
    await control("faults", { kind: "hang_up_after", path: "/v1/checkout", count: 1 });
    await assert.rejects(create("lost-2"), Stripe.errors.StripeConnectionError);
    const patient = client(KEY, { timeout: 20_000 });
    await create("lost-1", patient);
    await create("lost-2", patient);
    assert.equal(await count(), before + 2);
    await control("faults", { kind: "rate_limit", count: 1 });
    await assert.rejects(stripe.balance.retrieve(), Stripe.errors.StripeRateLimitError);
    await control("down", { down: true });
    await assert.rejects(stripe.balance.retrieve(), Stripe.errors.StripeConnectionError);
    await control("down", { down: false });
    await control("tuning", { rate_limit: 5 });
    const burst = await Promise.allSettled(Array.from({ length: 40 }, () => stripe.balance.retrieve()));
    assert.ok(burst.filter((each) => each.status === "rejected").every((each) => each.reason.statusCode === 429));
    assert.ok(burst.some((each) => each.status === "rejected"));
    await control("tuning", { rate_limit: 0 });
  },
  async "events are retried, doubled, dropped, delayed and reordered"() {
    await idle();
    await control("tuning", { retries: [30] });
    isRefusing = true;
    const first = await stripe.customers.create({ name: "Retry" });
    await until(() => seen("customer.created", first.id).length >= 2);
    isRefusing = false;
    await idle();
    const sent = seen("customer.created", first.id);
    assert.ok(sent.length >= 2 && new Set(sent.map((event) => event.id)).size === 1);
    for (const [fault, count] of [[{ kind: "double_event" }, 2], [{ kind: "drop_event" }, 0], [{ kind: "delay_event", seconds: 0.2 }, 1]]) {
      await control("faults", { ...fault, event: "customer.created", count: 1 });
      const { id } = await stripe.customers.create({});
      await idle();
      assert.equal(seen("customer.created", id).length, count, fault.kind);
      assert.equal((await stripe.events.list({ type: "customer.created", limit: 1 })).data[0].data.object.id, id);
    }
    await control("seed", { seed: 7 });
    await control("faults", { kind: "reorder_events", seconds: 1.5, count: 12 });
    const created = [];
    for (let index = 0; index < 12; index++) created.push((await stripe.customers.create({})).id);
    await idle();
    const order = seen("customer.created").map((event) => event.object.id).filter((id) => created.includes(id));
    assert.deepEqual([...order].sort(), [...created].sort());
    assert.notDeepEqual(order, created);
  },
  async "keys, modes and accounts are apart"() {
    await assert.rejects(client("sk_wrong").balance.retrieve(), Stripe.errors.StripeAuthenticationError);
    const live = client("rk_live_check_0123456789");
    const { id } = await stripe.customers.create({});
    await assert.rejects(live.customers.retrieve(id), /a similar object exists in test mode/);
    assert.equal((await live.customers.create({})).livemode, true);
    const connected = { stripeAccount: "acct_nonprofit" };
    const created = await session(3_000, {}, connected);
    await page(created.url, { card_number: "4242424242424242", name: "Ada" });
    await idle();
    assert.equal(JSON.parse(seen("checkout.session.completed", created.id)[0].body).account, "acct_nonprofit");
    await assert.rejects(stripe.checkout.sessions.retrieve(created.id), { code: "resource_missing" });
    assert.equal((await stripe.balance.retrieve({}, connected)).pending[0].amount, 3_000 - 117);
    assert.equal((await stripe.accounts.retrieveCurrent()).object, "account");
    await assert.rejects(session(1_000, { unknown_field: 1 }), { code: "parameter_unknown" });
    await assert.rejects(session("10.5"), { code: "parameter_invalid_integer" });
  },
};

for (const [name, story] of Object.entries(stories)) {
  try {
    await story();
    console.log(`ok: ${name}`);
  } catch (error) {
    console.error(`failed: ${name}`);
    throw error;
  }
}
for (const list of [stripe.charges, stripe.refunds, stripe.disputes, stripe.events, stripe.paymentIntents, stripe.payouts])
  await list.list({ limit: 100 });

// Money with decimals is text in JSON and a class in the SDK.
const literal = (value) => JSON.stringify(value).replace(/"(\w+_decimal)":"(\d+)"/g, '"$1":decimal("$2")');
const lines = [...answers.values()].map(([type, value], index) => `export const a${index}: ${type} = ${literal(value)};`);
const head = 'import Stripe from "stripe";\ndeclare function decimal(text: string): Stripe.Decimal;\n';
writeFileSync(resolve(folder, "answers.ts"), `${head}${lines.join("\n")}\n`);
writeFileSync(resolve(folder, "events.json"), JSON.stringify(events.map(({ body, header, secret }) => ({ body, header, secret }))));
const kinds = new Set(events.map((event) => event.type));
console.log(`${Object.keys(stories).length} stories, ${events.length} events of ${kinds.size} types, ${answers.size} shapes of answers`);
process.exit(0);
