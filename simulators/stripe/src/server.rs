//! The HTTP side of the API: keys, faults, rate limits, idempotency keys and headers.

use crate::error::ApiError;
use crate::expand::expand;
use crate::faults::{Fault, FaultKind};
use crate::hex::hex;
use crate::ids::new_id;
use crate::params::Params;
use crate::records::{SavedResponse, Scope};
use crate::routes::dispatch;
use crate::shared::{Incoming, Shared};
use crate::state::{API_VERSION, Call, State};
use crate::{control, pages};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use futures_util::stream;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::sleep;

const MAX_BODY: usize = 1 << 20;
const MAX_KEY_LENGTH: usize = 255;
const KEY_LIFETIME: i64 = 86_400;

/// Handles every request.
pub(crate) async fn handle(shared: Arc<Shared>, request: Request<Body>) -> Response<Body> {
    if shared.is_stopped.load(Ordering::Relaxed) {
        return hang_up();
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let incoming = Incoming {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    if incoming.path == "/simulator" || incoming.path.starts_with("/simulator/") {
        let response = control::handle(&shared, &incoming).await;
        shared.wake.notify_one();
        return response;
    }
    if shared.lock().faults.is_down {
        return hang_up();
    }
    if !incoming.path.starts_with("/v1/") && !incoming.path.starts_with("/v2/") {
        let response = pages::handle(&shared, &incoming);
        shared.wake.notify_one();
        return response;
    }
    api(&shared, &incoming).await
}

/// A response that breaks off: the client sees that the connection was closed.
fn hang_up() -> Response<Body> {
    let error: Result<&[u8], io::Error> = Err(io::Error::from(io::ErrorKind::ConnectionReset));
    Response::new(Body::from_stream(stream::iter([error])))
}

/// What the API answers, before it is sent.
struct Answer {
    status: u16,
    body: Value,
    request: String,
    /// The ID of the request whose answer is replayed.
    original: Option<String>,
    /// The time of the simulator.
    time: i64,
}

async fn api(shared: &Shared, incoming: &Incoming) -> Response<Body> {
    let (answer, fault) = answer(shared, incoming);
    shared.wake.notify_one();
    match fault {
        Some(Fault {
            kind: FaultKind::HangUpAfter,
            ..
        }) => return hang_up(),
        Some(Fault {
            kind: FaultKind::TimeoutAfter | FaultKind::TimeoutBefore,
            seconds,
            ..
        }) => {
            sleep(Duration::from_secs_f64(seconds)).await;
        }
        _ => {}
    }
    let mut response = Response::new(Body::from(
        serde_json::to_vec_pretty(&answer.body).unwrap_or_default(),
    ));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("content-type", "application/json");
    set("request-id", &answer.request);
    set(
        "stripe-version",
        incoming.header("stripe-version").unwrap_or(API_VERSION),
    );
    if let Ok(time) = Timestamp::from_second(answer.time) {
        set("date", &time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string());
    }
    if let Some(key) = incoming.header("idempotency-key") {
        set("idempotency-key", key);
        set(
            "original-request",
            answer.original.as_deref().unwrap_or(&answer.request),
        );
    }
    if answer.original.is_some() {
        set("idempotent-replayed", "true");
    }
    if answer.status == 429 {
        set("stripe-rate-limited-reason", "endpoint-rate");
    }
    response
}

/// Decides about a request and acts, in one step that no other request sees half done.
fn answer(shared: &Shared, incoming: &Incoming) -> (Answer, Option<Fault>) {
    let mut state = shared.lock();
    let mut exchange = Exchange {
        request: new_id("req"),
        livemode: false,
        time: state.clock_millis().div_euclid(1_000),
    };
    let scope = match authenticate(shared, incoming) {
        Ok(scope) => scope,
        Err(error) => return (exchange.refuse(&error), None),
    };
    exchange.livemode = scope.livemode;
    let operation = format!("{} {}", incoming.method, pattern(&incoming.path));
    if !shared.admit(&operation, state.tuning(), state.clock_millis()) {
        return (exchange.refuse(&ApiError::rate_limit()), None);
    }
    let fault = state.faults.of_request(&incoming.method, &incoming.path);
    let kind = fault.as_ref().map(|fault| fault.kind);
    let refusal = match kind {
        Some(FaultKind::RateLimit) => Some(ApiError::rate_limit()),
        Some(FaultKind::Unavailable) => Some(ApiError::unavailable()),
        Some(FaultKind::TimeoutBefore) => Some(ApiError::internal()),
        _ => None,
    };
    if let Some(error) = refusal {
        return (exchange.refuse(&error), fault);
    }
    let key = match IdempotencyKey::read(incoming, &scope) {
        Ok(key) => key,
        Err(error) => return (exchange.refuse(&error), fault),
    };
    if let Some(answer) = key.as_ref().and_then(|key| key.replay(&state, &exchange)) {
        return (answer, fault);
    }
    let (answer, is_saved) = execute(&mut state, incoming, scope, &exchange, kind);
    if let Some(key) = key.filter(|_| is_saved) {
        key.save(&mut state, &answer);
    }
    state.store.commit();
    (answer, fault)
}

/// What all answers to a request have in common.
struct Exchange {
    request: String,
    livemode: bool,
    /// The time of the simulator.
    time: i64,
}

impl Exchange {
    fn answer(&self, status: u16, body: Value) -> Answer {
        Answer {
            status,
            body,
            request: self.request.clone(),
            original: None,
            time: self.time,
        }
    }

    fn refuse(&self, error: &ApiError) -> Answer {
        self.answer(error.status, error.body(&self.request, self.livemode))
    }
}

/// Runs the operation. Also returns whether it started, so that its answer is saved.
fn execute(
    state: &mut State,
    incoming: &Incoming,
    scope: Scope,
    exchange: &Exchange,
    fault: Option<FaultKind>,
) -> (Answer, bool) {
    let params = if incoming.body.is_empty() {
        &incoming.query
    } else {
        &incoming.body
    };
    let call = Call {
        scope,
        params: Params::parse(params),
        request: Some(exchange.request.clone()),
        idempotency_key: incoming.header("idempotency-key").map(str::to_owned),
        is_pinned: incoming.header("stripe-version") == Some(API_VERSION),
    };
    let result = match fault {
        Some(FaultKind::ErrorBefore) => Err(ApiError::internal()),
        _ => dispatch(state, &call, &incoming.method, &incoming.path),
    };
    match result {
        Ok(_) if fault == Some(FaultKind::ErrorAfter) => (exchange.refuse(&ApiError::internal()), true),
        Ok(mut body) => {
            expand(state, &call, &mut body);
            (exchange.answer(200, body), true)
        }
        Err(error) => (exchange.refuse(&error), error.is_saved),
    }
}

/// The key of a request that must act once.
struct IdempotencyKey {
    sent: String,
    /// The key with the account and the mode of the request.
    stored: String,
    /// A hash of the operation and its parameters.
    fingerprint: String,
}

impl IdempotencyKey {
    fn read(incoming: &Incoming, scope: &Scope) -> Result<Option<IdempotencyKey>, ApiError> {
        let sent = incoming.header("idempotency-key");
        let Some(sent) = sent.filter(|_| incoming.method == "POST") else {
            return Ok(None);
        };
        if sent.len() > MAX_KEY_LENGTH {
            let message = "Idempotency keys can be up to 255 characters long.";
            return Err(ApiError::idempotency(message));
        }
        let account = scope.account.as_deref().unwrap_or_default();
        Ok(Some(IdempotencyKey {
            sent: sent.to_owned(),
            stored: format!("{account}/{}/{sent}", scope.livemode),
            fingerprint: fingerprint(incoming),
        }))
    }

    /// Returns the saved answer, or the error for other parameters, if the key was used in the last 24 hours.
    fn replay(&self, state: &State, exchange: &Exchange) -> Option<Answer> {
        let saved = state.store.response(&self.stored)?;
        if saved.created <= exchange.time - KEY_LIFETIME {
            return None;
        }
        if saved.fingerprint != self.fingerprint {
            let message = format!(
                "Keys for idempotent requests can only be used with the same parameters they were first used with. \
                 Try using a key other than '{}' if you meant to execute a different request.",
                self.sent
            );
            return Some(exchange.refuse(&ApiError::idempotency(&message)));
        }
        let mut answer = exchange.answer(saved.status, saved.body.clone());
        answer.original = Some(saved.request.clone());
        Some(answer)
    }

    fn save(self, state: &mut State, answer: &Answer) {
        let response = SavedResponse {
            fingerprint: self.fingerprint,
            request: answer.request.clone(),
            status: answer.status,
            body: answer.body.clone(),
            created: answer.time,
        };
        state.store.save_response(&self.stored, response);
    }
}

/// Returns the account and the mode of a key.
fn authenticate(shared: &Shared, incoming: &Incoming) -> Result<Scope, ApiError> {
    let Some(authorization) = incoming.header(header::AUTHORIZATION.as_str()) else {
        let message = "You did not provide an API key. You need to provide your API key in the Authorization header, \
                       using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').";
        return Err(ApiError::unauthorized(message));
    };
    let key = authorization.strip_prefix("Bearer ").map(str::to_owned);
    let key = key.or_else(|| basic_user(authorization)).unwrap_or_default();
    let livemode = match key.split('_').collect::<Vec<_>>().as_slice() {
        ["sk" | "rk", "test", ..] => false,
        ["sk" | "rk", "live", ..] => true,
        _ => return Err(invalid_key(&key)),
    };
    if !shared.api_keys.is_empty() && !shared.api_keys.contains(&key) {
        return Err(invalid_key(&key));
    }
    Ok(Scope {
        account: incoming.header("stripe-account").map(str::to_owned),
        livemode,
    })
}

fn invalid_key(key: &str) -> ApiError {
    let shown: String = key.chars().take(8).collect();
    ApiError::unauthorized(format!("Invalid API Key provided: {shown}****"))
}

/// Returns the user name of basic authentication, where the official command-line tools put the key.
fn basic_user(authorization: &str) -> Option<String> {
    let encoded = authorization.strip_prefix("Basic ")?.trim_end_matches('=');
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for sign in encoded.bytes() {
        let value = match sign {
            b'A'..=b'Z' => sign - b'A',
            b'a'..=b'z' => sign - b'a' + 26,
            b'0'..=b'9' => sign - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    text.split(':').next().map(str::to_owned)
}

/// Replaces IDs in a path, so that all requests of an operation have the same one.
fn pattern(path: &str) -> String {
    let segments = path.split('/').map(|segment| {
        let is_id =
            segment.len() > 20 && segment.contains('_') && segment.bytes().any(|byte| byte.is_ascii_digit());
        if is_id { "{id}" } else { segment }
    });
    segments.collect::<Vec<_>>().join("/")
}

fn fingerprint(incoming: &Incoming) -> String {
    let hash = Sha256::digest(format!("{} {} {}", incoming.method, incoming.path, incoming.body).as_bytes());
    hex(&hash)
}

/// Makes the router of everything.
pub(crate) fn router(shared: Arc<Shared>) -> axum::Router {
    axum::Router::new().fallback(move |request: Request<Body>| handle(shared.clone(), request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_can_be_the_user_of_basic_authentication() {
        assert_eq!(
            basic_user("Basic c2tfdGVzdF8xMjM6").as_deref(),
            Some("sk_test_123")
        );
        assert_eq!(basic_user("Bearer x"), None);
    }

    #[test]
    fn ids_do_not_make_operations() {
        assert_eq!(
            pattern("/v1/checkout/sessions/cs_test_0190aabbccddeeff/expire"),
            "/v1/checkout/sessions/{id}/expire"
        );
        assert_eq!(pattern("/v1/balance_transactions"), "/v1/balance_transactions");
    }
}
