//! Titles and examples of the operations in the OpenAPI description.
//!
//! The responses were recorded from a server with the demo directory; a test compares their shape with what the server
//! responds now. The problems are those that the server would send.

use crate::http::error::Error;
use access::keys::Class;
use access::limits::window::Verdict;
use axum::http::StatusCode;
use platform::field_error::FieldError;
use serde_json::Value;
use utoipa::openapi::example::Example;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{Content, OpenApi, RefOr};

/// The public URL and the request ID in examples.
const PUBLIC_URL: &str = "https://causeway.example";
const REQUEST_ID: &str = "hnkn3dbygwvnpbst";

const JSON: &str = "application/json";

/// What the description says about an operation besides its comments.
struct OperationTexts {
    id: &'static str,
    title: &'static str,
    request: Option<&'static str>,
    /// `None` if the response is not JSON.
    response: Option<&'static str>,
}

macro_rules! operation {
    ($id:literal, $title:literal) => {
        OperationTexts {
            id: $id,
            title: $title,
            request: None,
            response: Some(include_str!(concat!("examples/", $id, ".json"))),
        }
    };
    ($id:literal, $title:literal, without json) => {
        OperationTexts {
            id: $id,
            title: $title,
            request: None,
            response: None,
        }
    };
    ($id:literal, $title:literal, with body) => {
        OperationTexts {
            request: Some(include_str!(concat!("examples/", $id, ".request.json"))),
            ..operation!($id, $title)
        }
    };
}

const OPERATIONS: &[OperationTexts] = &[
    operation!("details", "Look up a nonprofit"),
    operation!("finances", "Read the finances of a nonprofit"),
    operation!("eligibility", "Check the eligibility of a nonprofit"),
    operation!("checkEligibility", "Check a list for eligibility", with body),
    operation!("search", "Search nonprofits"),
    operation!("browse", "Browse a cause"),
    operation!("causes", "List causes"),
    operation!("directory", "Describe the directory"),
    operation!("match", "Match a list to nonprofits", with body),
    operation!("export", "Export the directory", without json),
    operation!("changes", "List changes of the directory"),
    operation!("fundraiser", "Read a fundraiser"),
    operation!("raised", "Read the amount raised"),
    operation!("create", "Create a fundraiser", with body),
    operation!("change", "Change a fundraiser", with body),
    operation!("close", "Close a fundraiser"),
    operation!("reopen", "Reopen a fundraiser"),
    operation!("fundraisers", "List your fundraisers"),
    operation!("createWebhook", "Create a webhook endpoint", with body),
    operation!("webhooks", "List your webhook endpoints"),
    operation!("webhook", "Read a webhook endpoint"),
    operation!("changeWebhook", "Change a webhook endpoint", with body),
    operation!("deleteWebhook", "Delete a webhook endpoint", without json),
    operation!("rotateWebhook", "Rotate the secret of a webhook"),
    operation!("testWebhook", "Send a test event"),
    operation!("enableWebhook", "Enable a webhook endpoint"),
    operation!("replayWebhook", "Replay events", with body),
    operation!("deliveries", "List deliveries"),
    operation!("retryDelivery", "Send an event again"),
    operation!("events", "List events"),
    operation!("donations", "List donations"),
    operation!("donation", "Read a donation"),
];

/// Adds titles and examples to the description.
pub fn add(description: &mut OpenApi) {
    let problems: Vec<_> = problems()
        .iter()
        .map(|error| error.example(PUBLIC_URL, REQUEST_ID))
        .collect();
    for item in description.paths.paths.values_mut() {
        let methods = [
            &mut item.get,
            &mut item.post,
            &mut item.patch,
            &mut item.put,
            &mut item.delete,
        ];
        for operation in methods.into_iter().flatten() {
            let id = operation.operation_id.clone().unwrap_or_default();
            if let Some(texts) = OPERATIONS.iter().find(|texts| texts.id == id) {
                add_texts(operation, texts);
            }
            add_problems(operation, &problems);
        }
    }
}

fn add_texts(operation: &mut Operation, texts: &OperationTexts) {
    // The comment of a handler is the description; its first line is too long for a menu.
    let summary = operation.summary.replace(texts.title.to_owned());
    let lines = [summary, operation.description.take()];
    operation.description = Some(lines.into_iter().flatten().collect::<Vec<_>>().join("\n\n"));
    if let (Some(RefOr::T(response)), Some(example)) =
        (operation.responses.responses.get_mut("200"), texts.response)
        && let Some(content) = response.content.get_mut(JSON)
    {
        set_example(content, example);
    }
    if let (Some(RefOr::T(body)), Some(example)) = (&mut operation.request_body, texts.request)
        && let Some(content) = body.content.get_mut(JSON)
    {
        set_example(content, example);
    }
}

fn set_example(content: &mut RefOr<Content>, json: &str) {
    if let RefOr::T(content) = content {
        content.example = Some(serde_json::from_str(json).expect("examples are JSON"));
    }
}

/// Adds an example for each code that the description of a response names.
fn add_problems(operation: &mut Operation, problems: &[(StatusCode, &'static str, Value)]) {
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        let named: Vec<&str> = response
            .description
            .split(|c: char| !c.is_ascii_lowercase() && c != '_')
            .collect();
        let Some(RefOr::T(content)) = response.content.get_mut("application/problem+json") else {
            continue;
        };
        for (known, code, body) in problems {
            if known.as_str() == status && named.contains(code) {
                let mut example = Example::new();
                example.value = Some(body.clone());
                content.examples.insert((*code).to_owned(), RefOr::T(example));
            }
        }
    }
}

/// Returns an error of each kind that an endpoint can respond with.
fn problems() -> Vec<Error> {
    let field = FieldError::new("title", "the title must have 1 to 120 characters");
    let verdict = Verdict {
        admitted: false,
        per_minute: 500,
        remaining: 0,
        resets_in: 7,
        retry_after: 7,
    };
    vec![
        Error::MissingKey,
        Error::InvalidKey,
        Error::PrivateKeyExposed,
        Error::MissingCredentials,
        Error::InvalidCredentials,
        Error::BlockedKey,
        Error::InvalidParameter("take must be a whole number greater than zero.".into()),
        Error::NonprofitNotFound("no-such-nonprofit".to_owned()),
        Error::UnknownCause("no-such-cause".to_owned()),
        Error::NotFound,
        Error::FundraiserNotFound("no-such-fundraiser".to_owned()),
        Error::WebhookNotFound,
        Error::DonationNotFound,
        Error::InvalidJson("expected value at line 1 column 1".to_owned()),
        Error::InvalidBody(vec![field]),
        Error::UnsupportedMediaType,
        Error::IdempotencyMismatch,
        Error::IdempotencyInProgress,
        Error::TooLarge(16 * 1024 * 1024),
        Error::RateLimited {
            class: Class::Search,
            verdict,
        },
        Error::Unavailable,
    ]
}
