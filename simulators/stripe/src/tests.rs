//! Tests of the simulator through its operations, without HTTP. `tests/stripe.sh` tests it with Stripe's own clients.

use crate::json::{number, text};
use crate::objects::disputes::Verdict;
use crate::objects::{disputes, payouts, refunds};
use crate::params::Params;
use crate::records::Scope;
use crate::routes::dispatch;
use crate::state::{Call, DAY, Endpoint, State, real_millis};
use crate::store::Store;
use crate::transactions::sums;
use crate::{Settings, Simulator, jobs};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// January 1, 2026: the first month has 31 days on every day that the tests run.
const START: i64 = 1_767_225_600;

fn new_state() -> State {
    let mut store = Store::default();
    store.set_clock_offset(START - real_millis() / 1_000);
    State::new(store, Endpoint::default(), "http://127.0.0.1:1".to_owned())
}

fn call(params: &str) -> Call {
    Call {
        params: Params::parse(params),
        ..Call::default()
    }
}

fn post(state: &mut State, path: &str, params: &str) -> Value {
    dispatch(state, &call(params), "POST", path).unwrap_or_else(|error| panic!("{path}: {}", error.message()))
}

fn charge(state: &mut State, amount: i64, card: &str) -> String {
    let params = format!("amount={amount}&currency=usd&payment_method=pm_card_{card}&confirm=true");
    let intent = post(state, "/v1/payment_intents", &params);
    text(&intent, "latest_charge").to_owned()
}

/// Moves the clock and runs what is due.
fn advance(state: &mut State, seconds: i64) {
    let offset = state.store.clock_offset() + seconds;
    state.store.set_clock_offset(offset);
    jobs::run_due(state);
}

fn balance(state: &State) -> i64 {
    let (available, pending) = sums(state, &Scope::default(), "usd");
    available + pending
}

#[derive(Clone, Debug)]
enum Step {
    Charge(i64),
    Refund(usize, i64),
    FailRefund(usize),
    Dispute(usize),
    Close(usize, bool),
    PayOut,
    FailPayout(usize),
    Advance(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (50..100_000_i64).prop_map(Step::Charge),
        (0..20_usize, 1..50_000_i64).prop_map(|(index, amount)| Step::Refund(index, amount)),
        (0..20_usize).prop_map(Step::FailRefund),
        (0..20_usize).prop_map(Step::Dispute),
        (0..20_usize, any::<bool>()).prop_map(|(index, is_won)| Step::Close(index, is_won)),
        Just(Step::PayOut),
        (0..20_usize).prop_map(Step::FailPayout),
        (1..5 * DAY).prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..40)
}

/// Returns the ID of one of the objects of a kind.
fn pick(state: &State, kind: &str, index: usize) -> Option<String> {
    let all = state.store.all_of(kind);
    let record = all.get(index % all.len().max(1))?;
    Some(text(&record.value, "id").to_owned())
}

fn take(state: &mut State, step: &Step) {
    let internal = Call::default();
    match *step {
        Step::Charge(amount) => {
            charge(state, amount, "visa");
        }
        Step::Refund(index, amount) => {
            if let Some(id) = pick(state, "charge", index) {
                let params = format!("charge={id}&amount={amount}");
                let _ = dispatch(state, &call(&params), "POST", "/v1/refunds");
            }
        }
        Step::FailRefund(index) => {
            if let Some(id) = pick(state, "refund", index) {
                let _ = refunds::fail(state, &internal, &id, "unknown");
            }
        }
        Step::Dispute(index) => {
            if let Some(id) = pick(state, "charge", index)
                && state.object(&id)["disputed"] == false
            {
                disputes::open(state, &internal, &id, "fraudulent", false);
            }
        }
        Step::Close(index, is_won) => {
            if let Some(id) = pick(state, "dispute", index) {
                let verdict = if is_won { Verdict::Won } else { Verdict::Lost };
                let _ = disputes::close_with(state, &internal, &id, verdict);
            }
        }
        Step::PayOut => {
            payouts::create_automatic(state, &internal);
        }
        Step::FailPayout(index) => {
            if let Some(id) = pick(state, "payout", index) {
                let _ = payouts::fail(state, &internal, &id);
            }
        }
        Step::Advance(seconds) => advance(state, seconds),
    }
}

/// Computes the balance from the objects instead of the transactions.
fn expected_balance(state: &State) -> i64 {
    let sum = |kind: &str, amount: &dyn Fn(&Value) -> i64| -> i64 {
        state
            .store
            .all_of(kind)
            .iter()
            .map(|record| amount(&record.value))
            .sum()
    };
    let charges = sum("charge", &|charge| {
        // It counts from the moment in which its transaction is known.
        let transaction = state.store.transaction(text(charge, "balance_transaction"));
        transaction.map_or(0, |transaction| number(charge, "amount") - transaction.fee)
    });
    let refunds = sum("refund", &|refund| match text(refund, "status") {
        "failed" => 0,
        _ => number(refund, "amount"),
    });
    let disputes = sum("dispute", &|dispute| match text(dispute, "status") {
        "won" => 1_500,
        _ => number(dispute, "amount") + 1_500,
    });
    let payouts = sum("payout", &|payout| match text(payout, "status") {
        "failed" => 0,
        _ => number(payout, "amount"),
    });
    charges - refunds - disputes - payouts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_balance_is_what_the_objects_say(steps in steps()) {
        let mut state = new_state();
        for step in &steps {
            take(&mut state, step);
            prop_assert_eq!(balance(&state), expected_balance(&state), "after {:?}", step);
        }
        // Each automatic payout contains transactions that add up to nothing, the payout itself included.
        for record in state.store.all_of("payout") {
            let id = text(&record.value, "id");
            let is_failed = text(&record.value, "status") == "failed";
            let inside = state.store.transactions(None).filter(|each| each.payout.as_deref() == Some(id));
            let net: i64 = inside.map(crate::records::BalanceTransaction::net).sum();
            prop_assert_eq!(net, if is_failed { -number(&record.value, "amount") } else { 0 });
        }
    }
}

#[test]
fn a_transaction_comes_later_than_its_charge() {
    let mut state = new_state();
    let id = charge(&mut state, 2_500, "visa");
    assert!(state.object(&id)["balance_transaction"].is_null());
    advance(&mut state, 1);
    let transaction = text(&state.object(&id), "balance_transaction").to_owned();
    assert_eq!(state.store.transaction(&transaction).unwrap().fee, 103);
    let updated = state.store.all_of("event");
    let updated = updated
        .iter()
        .find(|record| text(&record.value, "type") == "charge.updated")
        .unwrap();
    assert_eq!(
        updated.value["data"]["previous_attributes"],
        json!({ "balance_transaction": null })
    );
}

#[test]
fn a_renewal_waits_while_its_event_is_refused() {
    let mut state = new_state();
    state.endpoint.url = Some("http://127.0.0.1:1/".to_owned());
    let customer = post(
        &mut state,
        "/v1/customers",
        "payment_method=pm_card_visa&invoice_settings[default_payment_method]=x",
    );
    let customer = text(&customer, "id");
    let product = post(&mut state, "/v1/products", "name=Donation");
    let price = "[currency]=usd&items[0][price_data][unit_amount]=500&items[0][price_data][recurring][interval]=month";
    let params = format!(
        "customer={customer}&items[0][price_data]{price}&items[0][price_data][product]={}",
        text(&product, "id")
    );
    post(&mut state, "/v1/subscriptions", &params);
    // Just after the period ended.
    advance(&mut state, 31 * DAY + 10);
    let refused: Vec<u64> = state.store.deliveries().keys().copied().collect();
    for number in refused {
        let mut delivery = state.store.deliveries()[&number].clone();
        delivery.failures = 1;
        state.store.put_delivery(number, delivery);
    }
    let latest = |state: &State| state.store.all_of("invoice").last().unwrap().value.clone();
    assert_eq!(latest(&state)["billing_reason"], "subscription_cycle");
    advance(&mut state, 70 * 3_600);
    assert_eq!(latest(&state)["status"], "draft");
    advance(&mut state, 3 * 3_600);
    assert_eq!(latest(&state)["status"], "paid");
}

#[test]
fn a_change_of_the_amount_is_prorated_unless_it_must_not_be() {
    for (behavior, expected) in [("none", 900), ("create_prorations", 900 + 400)] {
        let mut state = new_state();
        let customer = post(
            &mut state,
            "/v1/customers",
            "payment_method=pm_card_visa&invoice_settings[default_payment_method]=x",
        );
        let product = post(&mut state, "/v1/products", "name=Donation");
        let product = text(&product, "id");
        let price = |amount: i64| {
            let data = "items[0][price_data]";
            format!(
                "{data}[currency]=usd&{data}[unit_amount]={amount}&{data}[recurring][interval]=month&{data}[product]={product}"
            )
        };
        let params = format!("customer={}&{}", text(&customer, "id"), price(500));
        let subscription = post(&mut state, "/v1/subscriptions", &params);
        let item = text(&subscription["items"]["data"][0], "id");
        let path = format!("/v1/subscriptions/{}", text(&subscription, "id"));
        post(
            &mut state,
            &path,
            &format!("proration_behavior={behavior}&items[0][id]={item}&{}", price(900)),
        );
        advance(&mut state, 31 * DAY + 2 * 3_600);
        let invoice = state.store.all_of("invoice").last().unwrap().value.clone();
        let paid = number(&invoice, "amount_paid");
        assert!((expected - 1..=expected).contains(&paid), "{behavior}: {paid}");
    }
}

/// Sends a request over HTTP and returns the status and the body.
async fn send(url: &str, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://"))
        .await
        .unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: simulator\r\nAuthorization: Bearer sk_test_1\r\nConnection: close\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, serde_json::from_str(body).unwrap_or_default())
}

#[tokio::test]
async fn an_idempotency_key_acts_once_and_replays_what_was_said() {
    let simulator = Simulator::start(Settings::default()).await.unwrap();
    let url = simulator.url();
    let key = "Idempotency-Key: gift-1\r\n";
    let (status, refused) = send(&url, "POST", "/v1/customers", key, "test_clock=clock_missing").await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (404, &json!("resource_missing"))
    );
    let (_, first) = send(&url, "POST", "/v1/customers", key, "name=Ada").await;
    let (status, second) = send(&url, "POST", "/v1/customers", key, "name=Ada").await;
    assert_eq!(
        (status, &first),
        (200, &second),
        "what was refused as invalid is not saved"
    );
    let (status, other) = send(&url, "POST", "/v1/customers", key, "name=Grace").await;
    assert_eq!(
        (status, &other["error"]["type"]),
        (400, &json!("idempotency_error"))
    );
    let fault = json!({"kind": "error_after", "path": "/v1/customers", "count": 1}).to_string();
    send(&url, "POST", "/simulator/faults", "", &fault).await;
    for _ in 0..2 {
        let (status, _) = send(
            &url,
            "POST",
            "/v1/customers",
            "Idempotency-Key: gift-2\r\n",
            "name=Eve",
        )
        .await;
        assert_eq!(status, 500);
    }
    let (_, list) = send(&url, "GET", "/v1/customers", "", "").await;
    assert_eq!(
        list["data"].as_array().unwrap().len(),
        2,
        "Ada and Eve, each once"
    );
    let long = format!("Idempotency-Key: {}\r\n", "x".repeat(256));
    assert_eq!(send(&url, "POST", "/v1/customers", &long, "").await.0, 400);
}

async fn start_with(state: &Path) -> Simulator {
    let settings = Settings {
        state_file: Some(state.to_owned()),
        ..Settings::default()
    };
    Simulator::start(settings).await.unwrap()
}

#[tokio::test]
async fn a_simulator_that_was_stopped_goes_on_with_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let simulator = start_with(&path).await;
    let url = simulator.url();
    let key = "Idempotency-Key: gift-1\r\n";
    let body = "amount=2500&currency=usd&payment_method=pm_card_visa&confirm=true";
    let (_, paid) = send(&url, "POST", "/v1/payment_intents", key, body).await;
    send(&url, "POST", "/simulator/clock", "", "{\"advance\": 60}").await;
    send(&url, "POST", "/simulator/tuning", "", "{\"payout_delay\": 5}").await;
    let (_, totals) = send(&url, "GET", "/simulator/totals", "", "").await;
    drop(simulator);

    let simulator = start_with(&path).await;
    let url = simulator.url();
    let (_, replayed) = send(&url, "POST", "/v1/payment_intents", key, body).await;
    assert_eq!(paid, replayed);
    assert_eq!(send(&url, "GET", "/simulator/totals", "", "").await.1, totals);
    assert_eq!(totals["scopes"][0]["balance"]["total"], 2_500 - 103);
    let (_, status) = send(&url, "GET", "/simulator", "", "").await;
    assert_eq!(
        (&status["clock_offset"], &status["tuning"]["payout_delay"]),
        (&json!(60), &json!(5))
    );
}
