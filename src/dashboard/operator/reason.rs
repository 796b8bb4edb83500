//! The reason of a decision, which the person it concerns sees.

use crate::web::{Field, Form, FormData, Layout};
use giving::moderation::MAX_REASON_CHARS;

/// Returns the field for a reason.
pub fn field(layout: &Layout) -> Field {
    let t = &layout.t.operator;
    Field::text("reason", t.reason).hint(t.reason_hint)
}

/// Parses the reason of a form. Adds an error to the form if it is empty or too long.
pub fn parse(data: &FormData, form: &mut Form, layout: &Layout) -> Option<String> {
    let reason = data.trimmed("reason");
    let is_valid =
        (1..=MAX_REASON_CHARS).contains(&reason.chars().count()) && !reason.contains(char::is_control);
    if !is_valid {
        form.add_error("reason", layout.t.operator.invalid_reason);
    }
    is_valid.then(|| reason.to_owned())
}
