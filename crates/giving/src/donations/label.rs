//! Names that other systems give to payments and donors.

use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// The source of donations that are recorded without one.
pub const OPERATOR: &str = "operator";

/// The source of donations made on our own pages.
pub const SITE: &str = "site";

/// A name that another system gave: 1 to 255 characters, no control characters, no blanks around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label(String);

/// Why a text is no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it has 1 to 255 characters, and none of them control characters")]
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
