//! The form encoding of Stripe's parameters: nested names have brackets, as in `line_items[0][price_data][currency]`.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::{Display, Write as _};

/// Characters that are not encoded besides letters and digits.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The parameters of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(String);

impl Form {
    pub fn new() -> Form {
        Form::default()
    }

    /// Adds a parameter. `name` may contain brackets.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Display) -> Form {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        let value = value.to_string();
        let (name, value) = (
            utf8_percent_encode(name, ENCODED),
            utf8_percent_encode(&value, ENCODED),
        );
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{name}={value}");
        self
    }

    /// Adds a parameter if there is a value.
    #[must_use]
    pub(crate) fn set_some(self, name: &str, value: Option<impl Display>) -> Form {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Returns the encoded parameters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_encoded() {
        let form = Form::new()
            .set("line_items[0][price_data][unit_amount]", 2_500)
            .set("metadata[name]", "Ana & Bo = 50 %+é")
            .set_some("starting_after", None::<&str>)
            .set_some("limit", Some(100));
        assert_eq!(
            form.as_str(),
            "line_items%5B0%5D%5Bprice_data%5D%5Bunit_amount%5D=2500\
             &metadata%5Bname%5D=Ana%20%26%20Bo%20%3D%2050%20%25%2B%C3%A9&limit=100"
        );
    }
}
