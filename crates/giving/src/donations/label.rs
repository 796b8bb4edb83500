//! Labels: identifiers of payments and donors that come from other systems.

use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// The source of donations that are recorded without one.
pub const OPERATOR: &str = "operator";

/// The source of donations made at our own checkout.
pub(crate) const SITE: &str = "site";

/// An identifier from another system: 1 to 255 characters without control characters or surrounding whitespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label(String);

/// The error of a text that is not a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it must have 1 to 255 characters and no control characters")]
pub struct InvalidLabel;

impl Label {
    pub fn parse(text: &str) -> Result<Label, InvalidLabel> {
        let text = text.trim();
        let is_valid =
            (1..=255).contains(&text.chars().take(256).count()) && !text.contains(char::is_control);
        if is_valid {
            Ok(Label(text.to_owned()))
        } else {
            Err(InvalidLabel)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Label {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Label, InvalidLabel> {
        Label::parse(text)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
