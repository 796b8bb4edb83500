//! The tools: each is one request to the API, so it has the same limits and the same errors.

use super::{donate_link, output};
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::LazyLock;

/// The only tool that changes something.
const CREATE: &str = "create_fundraiser";

/// A request to the API, without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiRequest {
    pub method: Method,
    /// The path and the query, which ends with `?` or `&` so that the key can be added.
    pub path: String,
    pub body: Option<String>,
    /// Names a creation, so that a repetition creates nothing.
    pub idempotency_key: Option<String>,
}

impl ApiRequest {
    /// Returns a request that reads. Segments of the path are percent-encoded.
    pub(super) fn get(segments: &[&str], query: &[(&str, Option<String>)]) -> ApiRequest {
        let mut path = "/v0.2".to_owned();
        for segment in segments {
            let _ = write!(path, "/{}", utf8_percent_encode(segment, NON_ALPHANUMERIC));
        }
        path.push('?');
        for (name, value) in query {
            if let Some(value) = value {
                let _ = write!(path, "{name}={}&", utf8_percent_encode(value, NON_ALPHANUMERIC));
            }
        }
        ApiRequest {
            method: Method::GET,
            path,
            body: None,
            idempotency_key: None,
        }
    }
}

/// Returns the definitions of all tools.
pub(super) fn definitions() -> &'static Value {
    static DEFINITIONS: LazyLock<Value> = LazyLock::new(describe);
    &DEFINITIONS
}

#[expect(clippy::too_many_lines, reason = "one entry for each tool")]
fn describe() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let count = |description: &str| json!({"type": "integer", "minimum": 1, "description": description});
    let nonprofit = text("The slug, the EIN as nine digits, or the ID of the nonprofit");
    let supported = text(
        "The slug, the EIN as nine digits, or the ID of the nonprofit; special-fundraiser if it supports several",
    );
    let fundraiser = text("The slug or the ID of the fundraiser");
    json!([
        tool(
            "list_causes",
            "List causes",
            "List all causes with their numbers of nonprofits.",
            &json!({}),
            &[],
            &output::schema("causes"),
        ),
        tool(
            "search_nonprofits",
            "Search nonprofits",
            "Search nonprofits by name, acronym, place, EIN or domain. Typos are tolerated.",
            &json!({
                "query": text("What to search for, such as \"red cross\" or \"food bank austin tx\""),
                "take": count("The number of results: 10 by default, at most 50"),
                "causes": {"type": "array", "items": {"type": "string"}, "description": "Only nonprofits with at least one of these causes; see list_causes"},
                "disbursable": {"type": "boolean", "description": "Only nonprofits that can receive donations"},
                "state": text("Only nonprofits in the state with this two-letter code"),
                "city": text("Only nonprofits in the city with this name"),
                "near": text("Only nonprofits near a ZIP code, or near latitude,longitude"),
                "radius": {"type": "number", "minimum": 1, "maximum": 500, "description": "How far from near, in miles: 25 by default"},
            }),
            &["query"],
            &output::schema("search"),
        ),
        tool(
            "get_nonprofit",
            "Get a nonprofit",
            "Get the details of one nonprofit: description, place, causes, links.",
            &json!({"identifier": nonprofit}),
            &["identifier"],
            &output::schema("details"),
        ),
        tool(
            "check_eligibility",
            "Check eligibility",
            "Check whether a nonprofit may receive donations now, and why: each check with its reason, its date and its source.",
            &json!({"identifier": nonprofit}),
            &["identifier"],
            &output::schema("eligibility"),
        ),
        tool(
            "build_donate_link",
            "Build a donate link",
            "Build the URL at which a person donates to a nonprofit. Show it to the person: nothing is charged before they pay there.",
            &json!({
                "identifier": nonprofit,
                "amount": {"type": "number", "exclusiveMinimum": 0, "description": "The amount to fill in, in dollars"},
                "frequency": {"type": "string", "enum": ["once", "monthly"]},
                "designation": text("What the donation is for"),
                "partnerDonationId": text("Your own ID for the donation, which is returned to you"),
                "successUrl": text("Where to redirect the person after the donation: a URL of an origin that you have registered"),
            }),
            &["identifier"],
            &donate_link::schema(),
        ),
        tool(
            "browse_cause",
            "Browse a cause",
            "List the nonprofits of a cause, the most prominent first, page by page.",
            &json!({
                "cause": text("The name of a cause, such as animals; see list_causes"),
                "take": count("Nonprofits per page: 10 by default, at most 100"),
                "page": count("The page, starting at 1"),
            }),
            &["cause"],
            &output::schema("browse"),
        ),
        tool(
            "get_fundraiser",
            "Get a fundraiser",
            "Get the details of a fundraiser.",
            &json!({"nonprofit": supported, "fundraiser": fundraiser}),
            &["nonprofit", "fundraiser"],
            &output::schema("fundraiser"),
        ),
        tool(
            "get_raised",
            "Get the amount raised",
            "Get how much a fundraiser has raised, its number of supporters and its goal. Amounts are in cents.",
            &json!({"nonprofit": supported, "fundraiser": fundraiser}),
            &["nonprofit", "fundraiser"],
            &output::schema("raised"),
        ),
        tool(
            CREATE,
            "Create a fundraiser",
            "Create a fundraiser for a nonprofit. The same call within a day creates nothing and returns the same fundraiser. Needs a private key: HTTP Basic authentication with a public and a private key.",
            &json!({
                "nonprofitId": text("The ID of the nonprofit, from search_nonprofits or get_nonprofit"),
                "title": text("One line of 1 to 120 characters"),
                "description": text("What the fundraiser is for"),
                "goal": count("The goal in cents; without one it grows with the amount raised"),
                "startDate": {"type": "string", "format": "date-time", "description": "When it starts"},
                "endDate": {"type": "string", "format": "date-time", "description": "When it ends"},
                "idempotencyKey": text("Distinguishes this fundraiser from one with the same values that already exists"),
            }),
            &["nonprofitId", "title"],
            &output::schema("create"),
        ),
    ])
}

fn tool(
    name: &str,
    title: &str,
    description: &str,
    properties: &Value,
    required: &[&str],
    output: &Value,
) -> Value {
    let is_read_only = name != CREATE;
    json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "outputSchema": output,
        "annotations": {
            "title": title, "readOnlyHint": is_read_only, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false
        },
    })
}

/// The reason why a call of a tool is not a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallError {
    NoSuchTool,
    /// The sentence says which argument to send.
    InvalidArgument(String),
}

/// Returns the request of a tool with these arguments.
pub(super) fn to_request(name: &str, arguments: &Map<String, Value>) -> Result<ApiRequest, CallError> {
    let required = |argument: &str| match text_of(arguments.get(argument)) {
        Some(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(CallError::InvalidArgument(format!(
            "Send the argument {argument}, a text."
        ))),
    };
    let optional = |argument: &str| text_of(arguments.get(argument));
    match name {
        "list_causes" => Ok(ApiRequest::get(&["causes"], &[])),
        "search_nonprofits" => {
            let query = ["take", "causes", "state", "city", "near", "radius"];
            let mut query = query.map(|name| (name, optional(name))).to_vec();
            if arguments.get("disbursable") == Some(&Value::Bool(true)) {
                query.push(("disbursable", Some("1".to_owned())));
            }
            Ok(ApiRequest::get(&["search", &required("query")?], &query))
        }
        "get_nonprofit" | donate_link::NAME => {
            Ok(ApiRequest::get(&["nonprofit", &required("identifier")?], &[]))
        }
        "check_eligibility" => Ok(ApiRequest::get(
            &["nonprofit", &required("identifier")?, "eligibility"],
            &[],
        )),
        "browse_cause" => {
            let query = ["take", "page"].map(|name| (name, optional(name)));
            Ok(ApiRequest::get(&["browse", &required("cause")?], &query))
        }
        "get_fundraiser" | "get_raised" => {
            let (nonprofit, fundraiser) = (required("nonprofit")?, required("fundraiser")?);
            let mut segments = vec!["nonprofit", &nonprofit, "fundraiser", &fundraiser];
            if name == "get_raised" {
                segments.push("raised");
            }
            Ok(ApiRequest::get(&segments, &[]))
        }
        CREATE => {
            let mut fields = arguments.clone();
            let key = fields
                .remove("idempotencyKey")
                .and_then(|key| text_of(Some(&key)));
            let body = Value::Object(fields).to_string();
            let of_values = || format!("mcp-{}", STANDARD.encode(Sha256::digest(&body)));
            Ok(ApiRequest {
                method: Method::POST,
                path: "/v0.2/fundraiser?".to_owned(),
                idempotency_key: Some(key.unwrap_or_else(of_values)),
                body: Some(body),
            })
        }
        _ => Err(CallError::NoSuchTool),
    }
}

/// Returns an argument as the text of a parameter. The elements of a list are separated by commas.
fn text_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_on) => Some(is_on.to_string()),
        Value::Array(values) => {
            let texts: Vec<String> = values.iter().filter_map(|value| text_of(Some(value))).collect();
            Some(texts.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str, arguments: &Value) -> String {
        to_request(name, arguments.as_object().unwrap()).unwrap().path
    }

    #[test]
    fn arguments_become_a_path_and_a_query() {
        assert_eq!(
            path(
                "search_nonprofits",
                &json!({"query": "a/b ?", "take": 3, "causes": ["animals", "wildlife"], "city": null}),
            ),
            "/v0.2/search/a%2Fb%20%3F?take=3&causes=animals%2Cwildlife&"
        );
        assert_eq!(
            path("get_raised", &json!({"nonprofit": "x", "fundraiser": "y"})),
            "/v0.2/nonprofit/x/fundraiser/y/raised?"
        );
    }

    #[test]
    fn every_tool_is_a_request_and_lists_its_required_arguments() {
        for definition in definitions().as_array().unwrap() {
            let name = definition["name"].as_str().unwrap();
            let required = definition["inputSchema"]["required"].as_array().unwrap();
            let arguments: Map<String, Value> = required
                .iter()
                .map(|name| (name.as_str().unwrap().to_owned(), json!("x")))
                .collect();
            assert!(to_request(name, &arguments).is_ok(), "{name}");
            if let Some(first) = required.first().filter(|_| name != "create_fundraiser") {
                let error = to_request(name, &Map::new()).unwrap_err();
                let CallError::InvalidArgument(detail) = error else {
                    panic!("{name}: {error:?}");
                };
                assert!(detail.contains(first.as_str().unwrap()));
            }
        }
        assert_eq!(to_request("x", &Map::new()), Err(CallError::NoSuchTool));
    }
}
