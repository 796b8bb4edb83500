//! Errors in the shape of the API: `{"error": {"type", "code", "param", "message", …}}`.

use serde_json::{Map, Value, json};

pub(crate) type Result<T> = std::result::Result<T, ApiError>;

/// An error response.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    /// The fields of `error`, without `request_log_url`.
    pub(crate) fields: Map<String, Value>,
    /// Whether the operation had started, so that an idempotency key replays this error.
    pub(crate) is_saved: bool,
}

impl ApiError {
    fn new(status: u16, kind: &str, message: impl Into<String>) -> ApiError {
        let mut fields = Map::new();
        fields.insert("type".to_owned(), kind.into());
        fields.insert("message".to_owned(), message.into().into());
        ApiError {
            status,
            fields,
            is_saved: false,
        }
    }

    /// A request that cannot be executed.
    pub(crate) fn invalid(message: impl Into<String>) -> ApiError {
        ApiError::new(400, "invalid_request_error", message)
    }

    /// A parameter that is not valid.
    pub(crate) fn param(param: &str, message: impl Into<String>) -> ApiError {
        ApiError::invalid(message).with("param", param)
    }

    /// A required parameter that was not sent.
    pub(crate) fn missing(param: &str) -> ApiError {
        ApiError::param(param, format!("Missing required param: {param}."))
            .with("code", "parameter_missing")
            .with_doc("parameter-missing")
    }

    /// A parameter that the operation does not have.
    pub(crate) fn unknown(param: &str) -> ApiError {
        ApiError::param(param, format!("Received unknown parameter: {param}"))
            .with("code", "parameter_unknown")
            .with_doc("parameter-unknown")
    }

    /// An ID that no object has.
    pub(crate) fn no_such(object: &str, id: &str) -> ApiError {
        let mut error = ApiError::param("id", format!("No such {}: '{id}'", object.replace('_', " ")));
        error.status = 404;
        error
            .with("code", "resource_missing")
            .with_doc("resource-missing")
    }

    pub(crate) fn unknown_url(method: &str, path: &str) -> ApiError {
        let message = format!("Unrecognized request URL ({method}: {path}).");
        let mut error = ApiError::invalid(message);
        error.status = 404;
        error
    }

    pub(crate) fn unauthorized(message: impl Into<String>) -> ApiError {
        ApiError::new(401, "invalid_request_error", message)
    }

    /// An operation that the state of an object does not allow.
    pub(crate) fn unexpected_state(object: &str, message: impl Into<String>) -> ApiError {
        ApiError::invalid(message).with("code", format!("{object}_unexpected_state"))
    }

    /// A payment that the bank refused.
    pub(crate) fn card(code: &str, decline_code: Option<&str>, message: &str) -> ApiError {
        let mut error = ApiError::new(402, "card_error", message)
            .with("code", code)
            .with_doc(&code.replace('_', "-"));
        error.is_saved = true;
        match decline_code {
            Some(decline_code) => error.with("decline_code", decline_code),
            None => error,
        }
    }

    pub(crate) fn idempotency(message: &str) -> ApiError {
        ApiError::new(400, "idempotency_error", message)
    }

    pub(crate) fn rate_limit() -> ApiError {
        let message = "Request rate limit exceeded. Learn more about rate limits here https://docs.stripe.com/rate-limits.";
        ApiError::new(429, "invalid_request_error", message)
            .with("code", "rate_limit")
            .with_doc("rate-limit")
    }

    /// An error inside of Stripe.
    pub(crate) fn internal() -> ApiError {
        let message =
            "Sorry! There was an error while talking to one of our backends. Support has been notified.";
        let mut error = ApiError::new(500, "api_error", message);
        error.is_saved = true;
        error
    }

    pub(crate) fn unavailable() -> ApiError {
        ApiError::new(503, "api_error", "Stripe is temporarily unavailable.")
    }

    #[must_use]
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> ApiError {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    fn with_doc(self, code: &str) -> ApiError {
        self.with("doc_url", format!("https://docs.stripe.com/error-codes/{code}"))
    }

    pub(crate) fn message(&self) -> &str {
        self.fields
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The body of the response to a request.
    pub(crate) fn body(&self, request: &str, livemode: bool) -> Value {
        let mut fields = self.fields.clone();
        let test = if livemode { "" } else { "test/" };
        let url = format!("https://dashboard.stripe.com/{test}logs/{request}");
        fields.insert("request_log_url".to_owned(), url.into());
        json!({ "error": fields })
    }
}
