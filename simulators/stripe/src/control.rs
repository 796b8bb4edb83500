//! The control interface below `/simulator`, which Stripe does not have: tests arm faults, move the clock, decide what
//! banks do, and read totals. Requests and responses are JSON.

use crate::error::{ApiError, Result};
use crate::faults::Fault;
use crate::ids::new_id;
use crate::jobs;
use crate::json::{number, text};
use crate::objects::disputes::{self, Verdict};
use crate::objects::{charges, payouts, refunds, sessions};
use crate::pages::pay_with;
use crate::params::Params;
use crate::records::{BalanceTransaction, Scope};
use crate::shared::{Incoming, Shared};
use crate::state::{Call, State, real_millis};
use crate::transactions::{self, Entry, payment_fee};
use crate::tuning::Tuning;
use crate::webhooks::split_url;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::sleep;

/// Handles a request of a test.
pub(crate) async fn handle(shared: &Shared, incoming: &Incoming) -> Response<Body> {
    let body: Value = match incoming.body.as_str() {
        "" => json!({}),
        text => match serde_json::from_str(text) {
            Ok(body) => body,
            Err(error) => return respond(Err(ApiError::invalid(format!("The body is not JSON: {error}")))),
        },
    };
    let segments: Vec<&str> = incoming.path.split('/').skip(2).collect();
    if let ("POST", ["idle"]) = (incoming.method.as_str(), segments.as_slice()) {
        return respond(Ok(wait_until_idle(shared, number(&body, "timeout_ms")).await));
    }
    let counts = shared.counts();
    let mut state = shared.lock();
    let result = act(&mut state, &incoming.method, &segments, body, &counts);
    state.store.commit();
    drop(state);
    respond(result)
}

fn respond(result: Result<Value>) -> Response<Body> {
    let (status, body) = match result {
        Ok(body) => (200, body),
        Err(error) => (error.status, json!({ "error": error.fields })),
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Waits until nothing is due and all events were delivered, for ten seconds unless the request says otherwise.
async fn wait_until_idle(shared: &Shared, timeout: i64) -> Value {
    let end = real_millis() + if timeout == 0 { 10_000 } else { timeout };
    loop {
        let (deliveries, jobs) = {
            let state = shared.lock();
            let now = state.clock_millis();
            // Late balance transactions are awaited; what is due in more than two seconds is not.
            let is_soon = |due: i64| due <= now + 2_000;
            let jobs = state
                .store
                .jobs()
                .values()
                .filter(|job| job.clock.is_none() && is_soon(job.due))
                .count();
            (state.store.deliveries().len(), jobs)
        };
        let is_idle = deliveries == 0 && jobs == 0;
        if is_idle || real_millis() > end {
            return json!({ "idle": is_idle, "deliveries": deliveries, "jobs": jobs });
        }
        sleep(Duration::from_millis(10)).await;
    }
}

fn act(
    state: &mut State,
    method: &str,
    segments: &[&str],
    body: Value,
    counts: &BTreeMap<String, u64>,
) -> Result<Value> {
    let params = Params::from_json(body.clone());
    match (method, segments) {
        ("GET", []) => Ok(status(state, counts)),
        ("GET", ["totals"]) => Ok(totals(state)),
        ("POST", ["faults"]) => arm(state, body),
        ("DELETE", ["faults"]) => {
            state.faults.list.clear();
            Ok(json!({}))
        }
        ("POST", ["seed"]) => {
            state.faults.seed(params.required_integer("seed")? as u64);
            Ok(json!({}))
        }
        ("POST", ["down"]) => {
            state.faults.is_down = params.flag("down").unwrap_or(true);
            Ok(json!({ "down": state.faults.is_down }))
        }
        ("POST", ["tuning"]) => tune(state, &body),
        ("POST", ["clock"]) => set_clock(state, &params),
        ("POST", ["webhooks"]) => set_endpoint(state, &params),
        ("GET", ["deliveries"]) => Ok(json!({
            "deliveries": state.store.deliveries().values().collect::<Vec<_>>(),
        })),
        ("POST", ["events", id, "resend"]) => {
            scope_of(state, id, "event")?;
            state.deliver(id, 0.0);
            Ok(json!({}))
        }
        ("POST", ["sessions", id, "pay"]) => {
            let call = scope_of(state, id, sessions::KIND)?;
            pay_with(state, &call, id, &params)
        }
        ("POST", ["charges", id, action]) => charge(state, id, action, &params),
        ("POST", ["disputes", id, action]) => dispute(state, id, action),
        ("POST", ["refunds", id, action]) => {
            let call = scope_of(state, id, refunds::KIND)?;
            match *action {
                "succeed" => Ok(refunds::finish(state, &call, id)),
                "fail" => refunds::fail(
                    state,
                    &call,
                    id,
                    params.text("reason").unwrap_or("lost_or_stolen_card"),
                ),
                _ => Err(unknown()),
            }
        }
        ("POST", ["payouts"]) => {
            let call = Call::internal(&scope_in(&params));
            Ok(payouts::create_automatic(state, &call).unwrap_or_default())
        }
        ("POST", ["payouts", id, action]) => {
            let call = scope_of(state, id, payouts::KIND)?;
            match *action {
                "pay" => Ok(payouts::pay(state, &call, id)),
                "fail" => payouts::fail(state, &call, id),
                _ => Err(unknown()),
            }
        }
        ("POST", ["transactions"]) => enter_transactions(state, &params),
        ("POST", ["transactions", id]) => change_transaction(state, id, &params),
        _ => Err(unknown()),
    }
}

fn unknown() -> ApiError {
    let mut error = ApiError::invalid("The simulator has no such command; its README lists them.");
    error.status = 404;
    error
}

/// Returns a call in the scope of an object.
fn scope_of(state: &State, id: &str, kind: &str) -> Result<Call> {
    let record = state.store.record(id).filter(|record| record.kind == kind);
    let record = record.ok_or_else(|| ApiError::no_such(kind, id))?;
    Ok(Call::internal(&record.scope))
}

fn scope_in(params: &Params) -> Scope {
    Scope {
        account: params.text("account").map(str::to_owned),
        livemode: params.flag("livemode").unwrap_or(false),
    }
}

fn status(state: &State, counts: &BTreeMap<String, u64>) -> Value {
    json!({
        "time": state.clock_millis().div_euclid(1_000),
        "clock_offset": state.store.clock_offset(),
        "down": state.faults.is_down,
        "faults": state.faults.list,
        "tuning": state.tuning(),
        "deliveries": state.store.deliveries().len(),
        "jobs": state.store.jobs().len(),
        "requests": counts,
    })
}

/// Arms one fault or a list of them.
fn arm(state: &mut State, body: Value) -> Result<Value> {
    let faults = if body.is_array() { body } else { json!([body]) };
    let faults: Vec<Fault> = serde_json::from_value(faults)
        .map_err(|error| ApiError::invalid(format!("This is not a fault: {error}")))?;
    state.faults.list.extend(faults);
    Ok(json!({ "faults": state.faults.list }))
}

/// Changes some settings and returns all of them.
fn tune(state: &mut State, body: &Value) -> Result<Value> {
    let mut tuning = json!(state.tuning());
    crate::json::merge(&mut tuning, body);
    let tuning: Tuning = serde_json::from_value(tuning)
        .map_err(|error| ApiError::invalid(format!("These are not settings: {error}")))?;
    state.store.set_tuning(tuning.clone());
    Ok(json!(tuning))
}

/// Sets the clock ahead of the real one, or advances it, and runs what became due.
fn set_clock(state: &mut State, params: &Params) -> Result<Value> {
    let offset = match (params.integer("offset")?, params.integer("advance")?) {
        (Some(offset), _) => offset,
        (None, Some(advance)) => state.store.clock_offset() + advance,
        (None, None) => return Err(ApiError::missing("advance")),
    };
    state.store.set_clock_offset(offset);
    jobs::run_due(state);
    Ok(json!({ "time": state.now(), "clock_offset": offset }))
}

fn set_endpoint(state: &mut State, params: &Params) -> Result<Value> {
    let url = params.text("url");
    if let Some(url) = url {
        split_url(url).map_err(|error| ApiError::invalid(error.to_string()))?;
    }
    state.endpoint.url = url.map(str::to_owned);
    if let Some(secret) = params.text("secret") {
        secret.clone_into(&mut state.endpoint.secret);
        params
            .text("connect_secret")
            .unwrap_or(secret)
            .clone_into(&mut state.endpoint.connect_secret);
    }
    Ok(json!({ "url": url }))
}

fn charge(state: &mut State, id: &str, action: &str, params: &Params) -> Result<Value> {
    let call = scope_of(state, id, charges::KIND)?;
    let reason = params.text("reason").unwrap_or("fraudulent");
    match action {
        "post" => Ok(charges::post_transaction(
            state,
            &call,
            id,
            Some("charge.updated"),
        )),
        "succeed" => {
            jobs::end_debit(state, &call, id, None);
            Ok(state.object(id))
        }
        "fail" => {
            jobs::end_debit(
                state,
                &call,
                id,
                Some(params.text("code").unwrap_or("insufficient_funds")),
            );
            Ok(state.object(id))
        }
        "dispute" => Ok(disputes::open(state, &call, id, reason, false)),
        "inquire" => Ok(disputes::open(state, &call, id, reason, true)),
        _ => Err(unknown()),
    }
}

fn dispute(state: &mut State, id: &str, action: &str) -> Result<Value> {
    let call = scope_of(state, id, disputes::KIND)?;
    match action {
        "win" => disputes::close_with(state, &call, id, Verdict::Won),
        "lose" => disputes::close_with(state, &call, id, Verdict::Lost),
        "escalate" => disputes::escalate(state, &call, id),
        "withdraw" => Ok(disputes::withdraw(state, &call, id)),
        _ => Err(unknown()),
    }
}

/// Enters transactions that no charge explains: one of any type, or many charges for a benchmark.
fn enter_transactions(state: &mut State, params: &Params) -> Result<Value> {
    let scope = scope_in(params);
    let amount = params.required_integer("amount")?;
    let kind = params.text("type").unwrap_or("charge").to_owned();
    let mut last = String::new();
    for _ in 0..params.integer("count")?.unwrap_or(1) {
        let source = new_id("ch");
        let fee = if kind == "charge" {
            payment_fee(amount, "card")
        } else {
            0
        };
        let entry = Entry {
            fee,
            ..Entry::new(
                &kind,
                params.text("category").unwrap_or("charge"),
                amount,
                "usd",
                &source,
            )
        };
        last = transactions::enter(state, &scope, &entry);
    }
    Ok(state
        .store
        .transaction(&last)
        .map(|transaction| transaction.show(state.now()))
        .unwrap_or_default())
}

/// Changes the amount or the fee of a transaction, so that a reconciliation finds a difference.
fn change_transaction(state: &mut State, id: &str, params: &Params) -> Result<Value> {
    let found = state.store.transaction(id);
    let mut transaction = found
        .cloned()
        .ok_or_else(|| ApiError::no_such("balance_transaction", id))?;
    transaction.amount = params.integer("amount")?.unwrap_or(transaction.amount);
    transaction.fee = params.integer("fee")?.unwrap_or(transaction.fee);
    state.store.put_transaction(transaction.clone());
    Ok(transaction.show(state.now()))
}

/// Sums up what happened, to the cent, for each account and mode.
fn totals(state: &State) -> Value {
    let mut scopes: Vec<Scope> = Vec::new();
    let mut add = |scope: &Scope| {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    };
    state
        .store
        .transactions(None)
        .for_each(|transaction| add(&transaction.scope));
    state
        .store
        .all_of(charges::KIND)
        .iter()
        .for_each(|record| add(&record.scope));
    let all = scopes.iter().map(|scope| {
        let objects = |kind: &str| -> Vec<&Value> {
            let found = state.store.list(scope, kind, None).map(|record| &record.value);
            found.collect()
        };
        let count = |kind: &str, field: &str, status: &str| {
            let found = objects(kind).into_iter().filter(|value| text(value, "status") == status);
            let (number, sum) = found.fold((0, 0), |(count, sum), value| (count + 1, sum + number(value, field)));
            json!({ "count": number, "amount": sum })
        };
        let transactions: Vec<&BalanceTransaction> =
            state.store.transactions(None).filter(|transaction| transaction.scope == *scope).collect();
        let mut by_type = Map::new();
        for transaction in &transactions {
            let entry = by_type.entry(transaction.category.clone()).or_insert_with(|| json!({"count": 0, "net": 0}));
            entry["count"] = (number(entry, "count") + 1).into();
            entry["net"] = (number(entry, "net") + transaction.net()).into();
        }
        let (available, pending) = transactions::sums(state, scope, "usd");
        json!({
            "account": scope.account,
            "livemode": scope.livemode,
            "charges": {
                "succeeded": count("charge", "amount", "succeeded"),
                "pending": count("charge", "amount", "pending"),
                "failed": count("charge", "amount", "failed"),
                "refunded": objects("charge").iter().map(|charge| number(charge, "amount_refunded")).sum::<i64>(),
            },
            "refunds": {
                "succeeded": count("refund", "amount", "succeeded"),
                "pending": count("refund", "amount", "pending"),
                "failed": count("refund", "amount", "failed"),
            },
            "disputes": {
                "open": count("dispute", "amount", "needs_response"),
                "won": count("dispute", "amount", "won"),
                "lost": count("dispute", "amount", "lost"),
            },
            "payouts": {
                "paid": count("payout", "amount", "paid"),
                "pending": count("payout", "amount", "pending"),
                "failed": count("payout", "amount", "failed"),
            },
            "transactions": by_type,
            "fees": transactions.iter().map(|transaction| transaction.fee).sum::<i64>(),
            "balance": {"available": available, "pending": pending, "total": available + pending},
        })
    });
    json!({ "scopes": all.collect::<Vec<_>>() })
}
