//! What owners send to create or change an endpoint, and the rules for it.

use super::error::EndpointError;
pub use super::error::{EndpointField, InvalidField};
use crate::webhooks::url::EndpointUrl;
use crate::webhooks::{EventKind, Format};
use platform::public_url::PublicUrl;

const MAX_DESCRIPTION_CHARS: usize = 200;
const MAX_BEARER_BYTES: usize = 500;

/// An endpoint to create.
#[derive(Clone, Debug, Default)]
pub struct EndpointInput {
    pub url: String,
    /// `None` for all.
    pub events: Option<Vec<String>>,
    pub description: String,
    pub format: Option<String>,
    /// The value of a fixed `Authorization: Bearer` header, for the partner format.
    pub bearer: Option<String>,
}

/// A partial change. `None` leaves a field as it is.
#[derive(Clone, Debug, Default)]
pub struct EndpointChange {
    pub url: Option<String>,
    pub events: Option<Vec<String>>,
    pub description: Option<String>,
    pub format: Option<String>,
    /// `Some(None)` removes it.
    pub bearer: Option<Option<String>>,
}

/// Validates fields and collects all errors.
#[derive(Debug)]
pub(super) struct Validator<'a> {
    allows_private: bool,
    ours: &'a PublicUrl,
    errors: Vec<InvalidField>,
}

impl<'a> Validator<'a> {
    pub(super) fn new(allows_private: bool, ours: &'a PublicUrl) -> Validator<'a> {
        Validator {
            allows_private,
            ours,
            errors: Vec::new(),
        }
    }

    fn add(&mut self, field: EndpointField, detail: impl Into<String>) {
        self.errors.push(InvalidField {
            field,
            detail: detail.into(),
        });
    }

    pub(super) fn url(&mut self, text: &str) -> Option<EndpointUrl> {
        let parsed = EndpointUrl::parse(text, self.allows_private, self.ours);
        parsed
            .map_err(|error| self.add(EndpointField::Url, error.to_string()))
            .ok()
    }

    pub(super) fn format(&mut self, name: Option<&str>) -> Format {
        let Some(name) = name else {
            return Format::Standard;
        };
        Format::find(name).unwrap_or_else(|| {
            self.add(EndpointField::Format, "send standard or partner");
            Format::Standard
        })
    }

    pub(super) fn events(&mut self, names: Option<&[String]>, format: Format) -> Vec<EventKind> {
        let Some(names) = names else {
            return match format {
                Format::Standard => EventKind::ALL.to_vec(),
                Format::Partner => vec![EventKind::DonationSucceeded],
            };
        };
        if names.is_empty() {
            self.add(
                EndpointField::Events,
                "name at least one event, or leave the field out for all",
            );
        }
        let mut kinds = Vec::new();
        for name in names {
            let shown = platform::text::cut(name, 60);
            match EventKind::find(name) {
                None => self.add(
                    EndpointField::Events,
                    format!("there is no event {shown:?}; the events are {}", all_names()),
                ),
                Some(kind) if kinds.contains(&kind) => {
                    self.add(
                        EndpointField::Events,
                        format!("{shown} is listed twice; list it once"),
                    );
                }
                Some(kind) if format == Format::Partner && kind != EventKind::DonationSucceeded => {
                    self.add(
                        EndpointField::Events,
                        "the partner format has donation.succeeded alone; use the standard format for others",
                    );
                }
                Some(kind) => kinds.push(kind),
            }
            if self.errors.len() > 20 {
                break;
            }
        }
        kinds
    }

    pub(super) fn description(&mut self, text: &str) -> String {
        let text = text.trim();
        if text.chars().count() > MAX_DESCRIPTION_CHARS || text.contains(char::is_control) {
            let detail = format!("send one line of at most {MAX_DESCRIPTION_CHARS} characters");
            self.add(EndpointField::Description, detail);
        }
        text.to_owned()
    }

    pub(super) fn bearer(&mut self, token: Option<&str>, format: Format) -> Option<String> {
        let token = token?;
        let token = token.strip_prefix("Bearer ").unwrap_or(token);
        let is_valid =
            (1..=MAX_BEARER_BYTES).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic());
        if !is_valid {
            let detail = format!("send 1 to {MAX_BEARER_BYTES} visible ASCII characters without spaces");
            self.add(EndpointField::Bearer, detail);
        } else if format != Format::Partner {
            self.add(
                EndpointField::Bearer,
                "only the partner format sends a fixed token; verify the signature instead",
            );
        }
        Some(token.to_owned())
    }

    /// Returns a value that is there if all fields are valid.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, EndpointError> {
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(EndpointError::Invalid(self.errors)),
        }
    }
}

fn all_names() -> String {
    EventKind::ALL.map(EventKind::name).join(", ")
}
