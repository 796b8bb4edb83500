//! The tool that builds donate links, from the details of a nonprofit.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

/// The name of the tool.
pub(super) const NAME: &str = "build_donate_link";
/// The arguments of the tool, and the parameters of a donate link that they become.
const PARAMETERS: [(&str, &str); 5] = [
    ("amount", "amount"),
    ("frequency", "frequency"),
    ("designation", "designation"),
    ("partnerDonationId", "partner_donation_id"),
    ("successUrl", "success_url"),
];

/// Returns the schema of what the tool returns.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "The URL to show to the person who wants to donate"},
            "name": {"type": "string", "description": "The name of the nonprofit"},
            "isDisbursable": {"type": "boolean", "description": "Whether the nonprofit can receive donations"},
        },
        "required": ["url", "name", "isDisbursable"],
    })
}

/// Returns the donate link of the nonprofit in the body of a details response.
pub(super) fn build(details: &Value, arguments: &Map<String, Value>) -> Value {
    let nonprofit = &details["data"]["nonprofit"];
    let mut url = format!("{}/give", nonprofit["profileUrl"].as_str().unwrap_or_default());
    let mut separator = '?';
    for (argument, parameter) in PARAMETERS {
        let value = match arguments.get(argument) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        url.push(separator);
        separator = '&';
        url.push_str(parameter);
        url.push('=');
        url.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
    }
    json!({"url": url, "name": nonprofit["name"], "isDisbursable": nonprofit["isDisbursable"]})
}
