//! The data of a submitted form.

use crate::app::App;
use crate::app::admission::Cost;
use crate::http::body;
use crate::http::error::Error;
use crate::http::params;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use std::borrow::Cow;
use std::fmt;

/// The maximum size of the texts of a form in bytes.
pub(super) const MAX_FORM_SIZE: usize = Cost::FORM.body;
/// The maximum number of fields. Parsed fields take much more memory than empty ones in a body.
const MAX_FIELDS: usize = 1_000;

/// The fields of a submitted form. They can contain passwords, so `Debug` does not show them.
#[derive(Clone)]
pub struct FormData(Vec<(String, String)>);

impl FormData {
    pub fn new(fields: Vec<(String, String)>) -> FormData {
        FormData(fields)
    }

    /// Parses a URL-encoded body.
    pub fn parse(body: &str) -> FormData {
        let pairs = body.split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (
                params::decode(name).into_owned(),
                params::decode(value).into_owned(),
            )
        });
        FormData(decoded.collect())
    }

    /// Returns the first value of a field, or `None` if the form does not have it.
    pub fn find(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(field, _)| field == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the first value of a field, or an empty string if the form does not have it.
    pub fn text(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// Returns the value of the field with this name at a position, or an empty string if there are fewer.
    pub fn nth(&self, name: &str, index: usize) -> &str {
        let mut found = self.0.iter().filter(|(field, _)| field == name);
        found.nth(index).map_or("", |(_, value)| value.as_str())
    }

    /// Sets the first value of a field.
    pub fn set(&mut self, name: &str, value: String) {
        match self.0.iter_mut().find(|(field, _)| field == name) {
            Some((_, existing)) => *existing = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Returns all fields in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.0.iter();
        fields.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the first value of a field without leading and trailing whitespace.
    pub fn trimmed(&self, name: &str) -> &str {
        self.text(name).trim()
    }
}

impl fmt::Debug for FormData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormData")
    }
}

impl FromRequest<App> for FormData {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<FormData, Error> {
        let media_type = request.headers().get(CONTENT_TYPE);
        let is_form = media_type.is_some_and(|media_type| {
            media_type
                .as_bytes()
                .starts_with(b"application/x-www-form-urlencoded")
        });
        if !is_form {
            return Err(Error::NotAForm);
        }
        let body = body::read(request).await?;
        if memchr::memchr_iter(b'&', &body).count() >= MAX_FIELDS {
            return Err(Error::NotAForm);
        }
        let body: Cow<'_, str> = String::from_utf8_lossy(&body);
        Ok(FormData::parse(&body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_the_first_value_of_a_name_wins() {
        let data = FormData::parse("a=x+y&b=%C3%A9&a=z&c&=&%FF=1");
        assert_eq!((data.text("a"), data.text("b"), data.text("c")), ("x y", "é", ""));
        assert_eq!(data.find("d"), None);
    }

    #[test]
    fn debug_output_does_not_contain_the_fields() {
        assert_eq!(format!("{:?}", FormData::parse("password=hush")), "FormData");
    }
}
