//! A client for the few operations of Stripe that we use.
//!
//! Every call names the API version, has a timeout and waits its turn (see [`pacing`](super::pacing)). A call that changes
//! something has an idempotency key, so it can be sent again when the answer was lost: Stripe repeats its first answer for
//! at least 24 hours, even if that was an error.

use super::form::Form;
use super::objects::{
    Account, Balance, BalanceTransaction, CallError, Charge, Dispute, Invoice, InvoicePayment, List,
    PaymentIntent, PortalSession, Refund, Session, Subscription, WebhookEndpoint,
};
use super::pacing::{Pacer, Urgency};
use reqwest::header::{CONTENT_TYPE, DATE};
use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use thiserror::Error;
use tokio::time::sleep;

/// The API version whose objects we read.
const VERSION: &str = "2026-10-28.endive";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one attempt may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often a call is sent again.
const MAX_RETRIES: u32 = 2;
/// The pause before the first retry; it doubles each time.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// A page of 100 transactions has a few hundred kilobytes.
const MAX_ANSWER_BYTES: usize = 8 << 20;
/// The objects on a page of a list, which is the most that Stripe allows.
const PAGE_SIZE: usize = 100;

/// Why a call failed.
#[derive(Clone, Debug, Error)]
pub enum StripeError {
    /// The answer was lost, or is an error of Stripe's own: whether Stripe acted is unknown.
    #[error("Stripe did not answer: {0}")]
    Unknown(String),
    /// Stripe did nothing and may act later: it was not reached, or it has too many calls.
    #[error("Stripe cannot be reached: {0}")]
    Unavailable(String),
    /// Stripe did nothing and will not act on this call.
    #[error("Stripe refused the call with status {status}: {}", .error.message.as_deref().unwrap_or("no reason given"))]
    Refused { status: u16, error: Box<CallError> },
}

impl StripeError {
    /// Returns whether Stripe refused the call, so that it created nothing, and nor did an earlier call with the same idempotency
    /// key. Only then may a call with a new key take its place.
    pub(crate) fn is_refused(&self) -> bool {
        match self {
            // An earlier call with the same key was another one, and what became of that is unknown.
            StripeError::Refused { error, .. } => error.kind != "idempotency_error",
            StripeError::Unknown(_) | StripeError::Unavailable(_) => false,
        }
    }

    /// Returns whether the same call may succeed if it is sent again.
    const fn is_transient(&self) -> bool {
        matches!(self, StripeError::Unavailable(_) | StripeError::Unknown(_))
    }

    /// Returns whether Stripe does not know the object.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, StripeError::Refused { status: 404, .. })
    }
}

/// A call that is sent to Stripe.
#[derive(Clone, Debug)]
struct Call<'a> {
    /// The name by which calls are counted: one for each path, without its IDs.
    operation: &'static str,
    method: Method,
    path: String,
    form: Form,
    idempotency_key: Option<String>,
    /// The connected account on whose behalf it is made.
    account: Option<&'a str>,
    urgency: Urgency,
}

impl Call<'_> {
    fn get(operation: &'static str, path: String, form: Form, urgency: Urgency) -> Call<'static> {
        Call {
            operation,
            method: Method::GET,
            path,
            form,
            idempotency_key: None,
            account: None,
            urgency,
        }
    }

    fn post(operation: &'static str, path: String, form: Form, key: String) -> Call<'static> {
        Call {
            operation,
            method: Method::POST,
            path,
            form,
            idempotency_key: Some(key),
            account: None,
            urgency: Urgency::Donor,
        }
    }

    fn on_behalf_of(self, account: Option<&str>) -> Call<'_> {
        Call { account, ..self }
    }
}

/// A client with the key of one account.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    /// Where the API is, without a slash at the end.
    base: String,
    key: SecretString,
    pacer: Pacer,
}

impl Client {
    /// Returns a client for the API at `base`.
    pub fn new(base: &str, key: SecretString) -> reqwest::Result<Client> {
        platform::tls::install_provider();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Client {
            http,
            base: base.trim_end_matches('/').to_owned(),
            key,
            pacer: Pacer::default(),
        })
    }

    /// Sends every call at once, to a simulator that refuses none.
    #[cfg(test)]
    pub(crate) fn without_pacing(self) -> Client {
        Client {
            pacer: Pacer::unlimited(),
            ..self
        }
    }

    /// Creates the session of a donation. `account` is the connected account that is charged, if it is not our own.
    pub(crate) async fn create_session(
        &self,
        form: Form,
        key: String,
        account: Option<&str>,
    ) -> Result<Session, StripeError> {
        let path = "/v1/checkout/sessions".to_owned();
        let call = Call::post("create session", path, form, key);
        self.read(call.on_behalf_of(account)).await
    }

    /// Finds a session, with its payment intent and the charge of that.
    pub(crate) async fn find_session(
        &self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Session, StripeError> {
        let form = Form::new().set("expand[0]", "payment_intent.latest_charge.balance_transaction");
        let call = Call::get(
            "find session",
            format!("/v1/checkout/sessions/{id}"),
            form,
            urgency,
        );
        self.read(call.on_behalf_of(account)).await
    }

    /// Ends a session, so that it can no longer be paid.
    pub(crate) async fn expire_session(
        &self,
        id: &str,
        account: Option<&str>,
    ) -> Result<Session, StripeError> {
        let path = format!("/v1/checkout/sessions/{id}/expire");
        let call = Call {
            urgency: Urgency::Sweep,
            ..Call::post("expire session", path, Form::new(), format!("{id}-expire"))
        };
        self.read(call.on_behalf_of(account)).await
    }

    /// Finds a payment intent, with its charge and the balance transaction of that.
    pub(crate) async fn find_payment_intent(
        &self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<PaymentIntent, StripeError> {
        let form = Form::new().set("expand[0]", "latest_charge.balance_transaction");
        let path = format!("/v1/payment_intents/{id}");
        let call = Call::get("find payment intent", path, form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Finds a charge, with its balance transaction.
    pub(crate) async fn find_charge(
        &self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Charge, StripeError> {
        let form = Form::new().set("expand[0]", "balance_transaction");
        let call = Call::get("find charge", format!("/v1/charges/{id}"), form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Refunds a payment. The key must be derived from the refund, not from the attempt.
    pub(crate) async fn create_refund(
        &self,
        form: Form,
        key: String,
        account: Option<&str>,
    ) -> Result<Refund, StripeError> {
        let call = Call::post("create refund", "/v1/refunds".to_owned(), form, key);
        self.read(call.on_behalf_of(account)).await
    }

    /// Finds a refund, with its balance transactions.
    pub(crate) async fn find_refund(
        &self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Refund, StripeError> {
        let form = Form::new()
            .set("expand[0]", "balance_transaction")
            .set("expand[1]", "failure_balance_transaction");
        let call = Call::get("find refund", format!("/v1/refunds/{id}"), form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Lists the refunds of a charge, newest first, with their balance transactions. Nobody refunds a charge in more than a
    /// hundred parts.
    pub(crate) async fn list_refunds(
        &self,
        charge: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<List<Refund>, StripeError> {
        let form = Form::new()
            .set("limit", PAGE_SIZE)
            .set("charge", charge)
            .set("expand[0]", "data.balance_transaction")
            .set("expand[1]", "data.failure_balance_transaction");
        let call = Call::get("list refunds", "/v1/refunds".to_owned(), form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Lists the disputes of a charge, newest first.
    pub(crate) async fn list_disputes(
        &self,
        charge: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<List<Dispute>, StripeError> {
        let form = Form::new().set("limit", PAGE_SIZE).set("charge", charge);
        let call = Call::get("list disputes", "/v1/disputes".to_owned(), form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Lists a page of disputes, newest first: those that were opened since a time, in seconds, after the one with the ID
    /// `after`.
    pub(crate) async fn list_disputes_since(
        &self,
        since: i64,
        after: Option<&str>,
    ) -> Result<List<Dispute>, StripeError> {
        let form = Form::new()
            .set("limit", PAGE_SIZE)
            .set("created[gte]", since)
            .set_some("starting_after", after);
        let urgency = Urgency::Reconciliation;
        let call = Call::get("list disputes", "/v1/disputes".to_owned(), form, urgency);
        self.read(call).await
    }

    /// Finds a subscription, with its card, its customer's card, and its latest invoice with the payments of that.
    pub(crate) async fn find_subscription(
        &self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Subscription, StripeError> {
        let form = Form::new()
            .set("expand[0]", "default_payment_method")
            .set("expand[1]", "customer.invoice_settings.default_payment_method")
            .set("expand[2]", "latest_invoice.payments");
        let path = format!("/v1/subscriptions/{id}");
        let call = Call::get("find subscription", path, form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Changes a subscription.
    pub(crate) async fn update_subscription(
        &self,
        id: &str,
        account: Option<&str>,
        form: Form,
        key: String,
        urgency: Urgency,
    ) -> Result<(), StripeError> {
        let path = format!("/v1/subscriptions/{id}");
        let call = Call {
            urgency,
            ..Call::post("update subscription", path, form, key)
        };
        self.send(&call.on_behalf_of(account)).await.map(drop)
    }

    /// Resumes a subscription that Stripe has paused because it could not be collected.
    pub(crate) async fn resume_subscription(
        &self,
        id: &str,
        account: Option<&str>,
        key: String,
    ) -> Result<(), StripeError> {
        let path = format!("/v1/subscriptions/{id}/resume");
        let form = Form::new().set("billing_cycle_anchor", "now");
        let call = Call::post("resume subscription", path, form, key);
        self.send(&call.on_behalf_of(account)).await.map(drop)
    }

    /// Cancels a subscription at once. It is no error if it was canceled before.
    pub(crate) async fn cancel_subscription(
        &self,
        id: &str,
        account: Option<&str>,
    ) -> Result<(), StripeError> {
        let path = format!("/v1/subscriptions/{id}");
        let call = Call {
            method: Method::DELETE,
            ..Call::get("cancel subscription", path, Form::new(), Urgency::Donor)
        };
        match self.send(&call.on_behalf_of(account)).await {
            Err(error) if error.is_not_found() => Ok(()),
            sent => sent.map(drop),
        }
    }

    /// Finds an invoice, with its payments.
    pub(crate) async fn find_invoice(
        &self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Invoice, StripeError> {
        let form = Form::new().set("expand[0]", "payments");
        let path = format!("/v1/invoices/{id}");
        let call = Call::get("find invoice", path, form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Lists the newest paid invoices of a subscription.
    pub(crate) async fn list_paid_invoices(
        &self,
        subscription: &str,
        account: Option<&str>,
    ) -> Result<List<Invoice>, StripeError> {
        let form = Form::new()
            .set("subscription", subscription)
            .set("status", "paid")
            .set("limit", PAGE_SIZE);
        let path = "/v1/invoices".to_owned();
        let call = Call::get("list invoices", path, form, Urgency::Sweep);
        self.read(call.on_behalf_of(account)).await
    }

    /// Tries to collect an open invoice now.
    pub(crate) async fn pay_invoice(
        &self,
        id: &str,
        account: Option<&str>,
        form: Form,
        key: String,
    ) -> Result<(), StripeError> {
        let path = format!("/v1/invoices/{id}/pay");
        let call = Call::post("pay invoice", path, form, key);
        self.send(&call.on_behalf_of(account)).await.map(drop)
    }

    /// Lists the invoices that a payment intent pays.
    pub(crate) async fn list_invoice_payments(
        &self,
        payment_intent: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<List<InvoicePayment>, StripeError> {
        let form = Form::new()
            .set("payment[type]", "payment_intent")
            .set("payment[payment_intent]", payment_intent);
        let path = "/v1/invoice_payments".to_owned();
        let call = Call::get("list invoice payments", path, form, urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Creates a visit of the page where a customer replaces the card.
    pub(crate) async fn create_portal_session(
        &self,
        form: Form,
        key: String,
        account: Option<&str>,
    ) -> Result<PortalSession, StripeError> {
        let path = "/v1/billing_portal/sessions".to_owned();
        let call = Call::post("create portal session", path, form, key);
        self.read(call.on_behalf_of(account)).await
    }

    /// Finds a dispute.
    pub(crate) async fn find_dispute(
        &self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Dispute, StripeError> {
        let path = format!("/v1/disputes/{id}");
        let call = Call::get("find dispute", path, Form::new(), urgency);
        self.read(call.on_behalf_of(account)).await
    }

    /// Lists a page of balance transactions, newest first: those created from `since` to `until`, in seconds, after the
    /// one with the ID `after`. Without `until`, up to now by Stripe's clock.
    pub(crate) async fn list_balance_transactions(
        &self,
        since: i64,
        until: Option<i64>,
        after: Option<&str>,
    ) -> Result<List<BalanceTransaction>, StripeError> {
        let form = Form::new()
            .set("limit", PAGE_SIZE)
            .set("created[gte]", since)
            .set_some("created[lt]", until)
            .set_some("starting_after", after);
        let path = "/v1/balance_transactions".to_owned();
        let urgency = Urgency::Reconciliation;
        self.read(Call::get("list balance transactions", path, form, urgency))
            .await
    }

    /// Finds a balance transaction.
    pub(crate) async fn find_balance_transaction(&self, id: &str) -> Result<BalanceTransaction, StripeError> {
        let path = format!("/v1/balance_transactions/{id}");
        let urgency = Urgency::Reconciliation;
        self.read(Call::get("find balance transaction", path, Form::new(), urgency))
            .await
    }

    /// Returns our balance.
    pub(crate) async fn find_balance(&self) -> Result<Balance, StripeError> {
        let path = "/v1/balance".to_owned();
        self.read(Call::get(
            "find balance",
            path,
            Form::new(),
            Urgency::Reconciliation,
        ))
        .await
    }

    /// Returns our account and the time of Stripe's clock, as its answer has it.
    pub async fn find_account(&self) -> Result<(Account, Option<String>), StripeError> {
        let path = "/v1/account".to_owned();
        let answer = self
            .send(&Call::get("find account", path, Form::new(), Urgency::Donor))
            .await?;
        Ok((parse(&answer.body)?, answer.date))
    }

    /// Lists the endpoints to which Stripe sends events. Nobody has more than a hundred.
    pub async fn list_webhook_endpoints(&self) -> Result<Vec<WebhookEndpoint>, StripeError> {
        let path = "/v1/webhook_endpoints".to_owned();
        let form = Form::new().set("limit", PAGE_SIZE);
        let call = Call::get("list webhook endpoints", path, form, Urgency::Donor);
        let list: List<WebhookEndpoint> = self.read(call).await?;
        Ok(list.data)
    }

    async fn read<T: DeserializeOwned>(&self, call: Call<'_>) -> Result<T, StripeError> {
        let answer = self.send(&call).await?;
        parse(&answer.body)
    }

    /// Sends a call, and sends it again if it may have failed by chance.
    async fn send(&self, call: &Call<'_>) -> Result<Answer, StripeError> {
        let mut attempt = 0;
        // Once it is unknown whether Stripe acted, a later failure does not make it known.
        let mut unknown = None;
        loop {
            self.pacer.admit(call.operation, call.urgency).await;
            match self.send_once(call).await {
                Err(error) if error.is_transient() && attempt < MAX_RETRIES => {
                    if matches!(error, StripeError::Unknown(_)) {
                        unknown = Some(error.clone());
                    }
                    tracing::warn!(%error, operation = call.operation, "a call to Stripe failed and is sent again");
                    sleep(RETRY_PAUSE * 2_u32.pow(attempt)).await;
                    attempt += 1;
                }
                Err(StripeError::Unavailable(reason)) => {
                    return Err(unknown.unwrap_or(StripeError::Unavailable(reason)));
                }
                outcome => return outcome,
            }
        }
    }

    async fn send_once(&self, call: &Call<'_>) -> Result<Answer, StripeError> {
        let mut url = format!("{}{}", self.base, call.path);
        let has_body = call.method == Method::POST;
        if !has_body && !call.form.as_str().is_empty() {
            url = format!("{url}?{}", call.form.as_str());
        }
        let mut request = self
            .http
            .request(call.method.clone(), url)
            .bearer_auth(self.key.expose_secret())
            .header("stripe-version", VERSION);
        if has_body {
            request = request
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(call.form.as_str().to_owned());
        }
        if let Some(key) = &call.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        if let Some(account) = call.account {
            request = request.header("stripe-account", account);
        }
        let mut response = request.send().await.map_err(|error| lost(&error))?;
        let status = response.status();
        let date = response.headers().get(DATE);
        let date = date.and_then(|date| date.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(StripeError::Unknown("the answer is too long".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        if status.is_success() {
            return Ok(Answer { body, date });
        }
        Err(failure(status, &body))
    }
}

/// A successful answer.
#[derive(Debug)]
struct Answer {
    body: Vec<u8>,
    date: Option<String>,
}

/// A connection that was never made sent nothing; after that, the call may have arrived.
fn lost(error: &reqwest::Error) -> StripeError {
    // The URL contains no secret, but IDs of payments, which do not belong in logs.
    let reason = if error.is_timeout() {
        "timeout"
    } else {
        "connection lost"
    };
    if error.is_connect() {
        StripeError::Unavailable("no connection".to_owned())
    } else {
        StripeError::Unknown(reason.to_owned())
    }
}

fn failure(status: StatusCode, body: &[u8]) -> StripeError {
    #[derive(Default, Deserialize)]
    struct Body {
        error: CallError,
    }
    match status {
        StatusCode::TOO_MANY_REQUESTS => StripeError::Unavailable("too many calls".to_owned()),
        // Another call with the same key is in progress.
        StatusCode::CONFLICT => StripeError::Unknown("the same call is in progress".to_owned()),
        status if status.is_server_error() => StripeError::Unknown(format!("status {}", status.as_u16())),
        status => {
            let Body { error } = serde_json::from_slice(body).unwrap_or_default();
            StripeError::Refused {
                status: status.as_u16(),
                error: Box::new(error),
            }
        }
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, StripeError> {
    serde_json::from_slice(body).map_err(|error| StripeError::Unknown(format!("unexpected answer: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_differs_from_an_earlier_one_with_its_key_may_have_created_something() {
        let failure = |kind: &str| {
            let body = format!(r#"{{"error":{{"type":"{kind}","message":"Keys for idempotent requests"}}}}"#);
            failure(StatusCode::BAD_REQUEST, body.as_bytes())
        };
        assert!(failure("invalid_request_error").is_refused());
        assert!(!failure("idempotency_error").is_refused());
    }
}
