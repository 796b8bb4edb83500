//! Reads request bodies, and gives errors the names that fields have in the API.

use crate::http::error::{Error, Result};
use giving::webhooks::endpoints::EndpointError;
use giving::webhooks::endpoints::input::{EndpointChange, EndpointField, EndpointInput, InvalidField};
use platform::field_error::FieldError;
use serde_json::{Map, Value};
use uuid::Uuid;

/// The fields of a body, and the errors found so far.
pub(super) struct Fields<'a> {
    body: &'a Map<String, Value>,
    errors: Vec<FieldError>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(body: &'a Map<String, Value>) -> Fields<'a> {
        Fields {
            body,
            errors: Vec::new(),
        }
    }

    /// Reads a text. Null counts as missing.
    fn text(&mut self, name: &'static str) -> Option<String> {
        match self.body.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.errors.push(FieldError::new(name, "send a string"));
                None
            }
        }
    }

    fn names(&mut self) -> Option<Vec<String>> {
        const NAME: &str = "events";
        let list = match self.body.get(NAME) {
            None | Some(Value::Null) => return None,
            Some(Value::Array(list)) => list,
            Some(_) => {
                self.errors.push(FieldError::new(NAME, "send a list of names"));
                return None;
            }
        };
        let names = list.iter().map(|name| name.as_str().map(str::to_owned));
        let names: Option<Vec<String>> = names.collect();
        if names.is_none() {
            self.errors.push(FieldError::new(NAME, "send a list of names"));
        }
        names
    }

    /// Reads the URL, which an endpoint always has.
    fn url(&mut self) -> Option<String> {
        let url = self.text("url");
        if url.is_none() && self.errors.is_empty() {
            self.errors
                .push(FieldError::new("url", "send the URL of your receiver"));
        }
        url
    }

    pub(super) fn read_new(mut self) -> Result<EndpointInput> {
        let url = self.url();
        let input = EndpointInput {
            url: url.unwrap_or_default(),
            events: self.names(),
            description: self.text("description").unwrap_or_default(),
            format: self.text("format"),
            bearer: self.text("bearerToken"),
        };
        self.finish(input)
    }

    /// Reads a change, and the status if that is to change.
    pub(super) fn read_change(mut self) -> Result<(EndpointChange, Option<bool>)> {
        let change = EndpointChange {
            url: match self.body.get("url") {
                None => None,
                Some(_) => self.url(),
            },
            events: self.names(),
            description: match self.body.get("description") {
                Some(Value::Null) => Some(String::new()),
                _ => self.text("description"),
            },
            format: self.text("format"),
            bearer: match self.body.get("bearerToken") {
                Some(Value::Null) => Some(None),
                _ => self.text("bearerToken").map(Some),
            },
        };
        let is_enabled = match self.text("status").as_deref() {
            None => None,
            Some("enabled") => Some(true),
            Some("disabled") => Some(false),
            Some(_) => {
                self.errors
                    .push(FieldError::new("status", "send enabled or disabled"));
                None
            }
        };
        self.finish((change, is_enabled))
    }

    /// Reads the time from which events are replayed.
    pub(super) fn read_since(mut self) -> Result<i64> {
        let text = self.text("since");
        let time = text
            .as_deref()
            .and_then(|text| text.parse::<jiff::Timestamp>().ok());
        if time.is_none() && self.errors.is_empty() {
            let detail = "send a date with time and zone, such as 2026-05-01T00:00:00Z";
            self.errors.push(FieldError::new("since", detail));
        }
        self.finish(time.map_or(0, jiff::Timestamp::as_millisecond))
    }

    fn finish<T>(self, value: T) -> Result<T> {
        if self.errors.is_empty() {
            Ok(value)
        } else {
            Err(Error::InvalidBody(self.errors))
        }
    }
}

/// Converts an error of the capability.
pub(super) fn to_error(error: EndpointError) -> Error {
    match error {
        EndpointError::NotFound => Error::WebhookNotFound,
        EndpointError::Invalid(invalid) => {
            Error::InvalidBody(invalid.into_iter().map(to_field_error).collect())
        }
        EndpointError::Store(error) => error.into(),
    }
}

fn to_field_error(invalid: InvalidField) -> FieldError {
    let name = match invalid.field {
        EndpointField::Url => "url",
        EndpointField::Events => "events",
        EndpointField::Description => "description",
        EndpointField::Format => "format",
        EndpointField::Bearer => "bearerToken",
        EndpointField::Status => "status",
        EndpointField::Since => "since",
    };
    FieldError::new(name, invalid.detail)
}

/// Parses an ID of the usual format.
pub(super) fn parse_id(text: &str) -> Result<Uuid> {
    let id = Some(text).filter(|text| text.len() == 36);
    id.and_then(|text| Uuid::try_parse(text).ok())
        .ok_or(Error::WebhookNotFound)
}
