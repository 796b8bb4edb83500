//! What a form sends.

use crate::http::error::Error;
use crate::http::params;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use std::borrow::Cow;
use std::fmt;

/// Bytes of a form; ten thousand characters of any script fit.
const LARGEST: usize = 256 * 1024;

/// The fields of a posted form. They may hold passwords and are not shown in logs.
#[derive(Clone)]
pub struct Sent(Vec<(String, String)>);

impl Sent {
    /// Reads the body of a form.
    pub fn read(body: &str) -> Sent {
        let pairs = body.split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (
                params::decode(name).into_owned(),
                params::decode(value).into_owned(),
            )
        });
        Sent(decoded.collect())
    }

    /// The first value of a field, if the form had it.
    pub fn find(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first value of a field; a missing one is empty.
    pub fn text(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// Without blanks at its ends.
    pub fn trimmed(&self, name: &str) -> &str {
        self.text(name).trim()
    }
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sent")
    }
}

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Error;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Sent, Error> {
        let media_type = request.headers().get(CONTENT_TYPE);
        let is_form = media_type.is_some_and(|media_type| {
            media_type
                .as_bytes()
                .starts_with(b"application/x-www-form-urlencoded")
        });
        if !is_form {
            return Err(Error::NotAForm);
        }
        let body = to_bytes(request.into_body(), LARGEST)
            .await
            .map_err(|_| Error::TooLarge(LARGEST))?;
        let body: Cow<'_, str> = String::from_utf8_lossy(&body);
        Ok(Sent::read(&body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_the_first_of_a_name_counts() {
        let sent = Sent::read("a=x+y&b=%C3%A9&a=z&c&=&%FF=1");
        assert_eq!((sent.text("a"), sent.text("b"), sent.text("c")), ("x y", "é", ""));
        assert_eq!(sent.find("d"), None);
    }

    #[test]
    fn what_was_sent_does_not_show_itself() {
        assert_eq!(format!("{:?}", Sent::read("password=hush")), "Sent");
    }
}
