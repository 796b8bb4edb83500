//! The fields of the donation form about its dedication.

use super::{MAX_MESSAGE_CHARS, MAX_NAME_CHARS};
use crate::web::form::Choice;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout, Section};
use giving::checkout::dedication::{Dedication, DedicationKind, Notice, has_link};
use platform::email_address::EmailAddress;

/// Returns the fields. Without a dedication, the style sheet hides all but the first.
pub(super) fn fields(sends_email: bool) -> Vec<Field> {
    let t = &Layout::new(Section::Other).p.give;
    let choices = vec![
        Choice::new("no", t.no_dedication, ""),
        Choice::new(DedicationKind::Honor.as_str(), t.in_honor, ""),
        Choice::new(DedicationKind::Memory.as_str(), t.in_memory, ""),
    ];
    let mut fields = vec![
        Field::choice("dedication", t.dedicate, choices),
        Field::text("dedicatee", t.dedicatee).optional(),
    ];
    if sends_email {
        fields.push(
            Field::email("notice_email", t.notice_email)
                .autocomplete("off")
                .hint(t.notice_email_hint)
                .optional(),
        );
        fields.push(
            Field::text("notice_message", t.notice_message)
                .hint(t.notice_message_hint)
                .optional(),
        );
    }
    fields
}

/// Reads the dedication, and adds an error to the form for each invalid field.
pub(super) fn parse(data: &FormData, form: &mut Form) -> Option<Dedication> {
    let t = &Layout::new(Section::Other).p.give;
    let kind = DedicationKind::find(data.text("dedication"))?;
    let text = |name: &str| data.trimmed(name).to_owned();
    let name = text("dedicatee");
    if name.is_empty() {
        form.add_error("dedicatee", t.no_dedicatee);
    }
    let message = text("notice_message");
    for (field, text, max) in [
        ("dedicatee", &name, MAX_NAME_CHARS),
        ("notice_message", &message, MAX_MESSAGE_CHARS),
    ] {
        if text.chars().count() > max || text.contains(char::is_control) {
            form.add_error(field, fill(t.too_long, &[("max", &max.to_string())]));
        } else if has_link(text) {
            form.add_error(field, t.no_links);
        }
    }
    let email = match data.trimmed("notice_email") {
        "" => None,
        text => EmailAddress::parse(text)
            .map_err(|_| form.add_error("notice_email", t.bad_email))
            .ok(),
    };
    if data.trimmed("notice_email").is_empty() && !message.is_empty() {
        form.add_error("notice_email", t.notice_needs_email);
    }
    let notice = email.map(|email| Notice {
        email,
        message: Some(message).filter(|message| !message.is_empty()),
    });
    Some(Dedication { kind, name, notice })
}
