//! The prompts: questions that people ask often, with placeholders.

use serde_json::{Map, Value, json};

const FIND: &str = "find_nonprofit";

/// Returns the definitions of all prompts.
pub(super) fn definitions() -> Value {
    json!([{
        "name": FIND,
        "title": "Find a nonprofit to support",
        "description": "Finds nonprofits of a cause, in a place or anywhere, and compares them",
        "arguments": [
            {"name": "cause", "description": "What the nonprofit should work on", "required": true},
            {"name": "place", "description": "A city, a state or a ZIP code", "required": false},
        ],
    }])
}

/// Returns the messages of a prompt. `None` if there is no such prompt, or if an argument is missing.
pub(super) fn messages(name: &str, arguments: &Map<String, Value>) -> Option<Value> {
    if name != FIND {
        return None;
    }
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::trim);
    let cause = text("cause").filter(|cause| !cause.is_empty())?;
    let place = text("place").filter(|place| !place.is_empty());
    let place = place.map(|place| format!(" near {place}")).unwrap_or_default();
    let question = format!(
        "Find nonprofits that work on {cause}{place}. Compare the best three: what they do, where they are, and \
         whether they can receive donations. Link the profile of each."
    );
    Some(json!([{"role": "user", "content": {"type": "text", "text": question}}]))
}
