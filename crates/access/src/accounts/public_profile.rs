//! How an account appears to everyone: a name and a picture, shown on its fundraisers.

use thiserror::Error;

/// The maximum length of a display name in characters.
pub const MAX_NAME_CHARS: usize = 100;

/// The name and the picture of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicProfile {
    pub username: String,
    /// The name to show instead of the username.
    pub display_name: Option<String>,
    /// The ID of a hosted picture.
    pub picture: Option<String>,
}

impl PublicProfile {
    /// Returns the name to show.
    pub fn name(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.username)
    }
}

/// A part of a public profile, which an operator can remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilePart {
    Name,
    Picture,
}

impl ProfilePart {
    /// The name of its removal in the audit log and on the command line.
    pub const fn action(self) -> &'static str {
        match self {
            ProfilePart::Name => "account remove-name",
            ProfilePart::Picture => "account remove-picture",
        }
    }
}

/// The error of a display name that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("enter a name of up to 100 characters, in one line")]
pub struct InvalidName;

/// Parses a display name. An empty one means that the username is shown.
pub fn parse_name(text: &str) -> Result<Option<String>, InvalidName> {
    let name = text.trim();
    if name.chars().count() > MAX_NAME_CHARS || name.contains(is_refused) {
        return Err(InvalidName);
    }
    Ok(Some(name.to_owned()).filter(|name| !name.is_empty()))
}

/// Control characters, and those that change the direction of the text around them.
fn is_refused(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_of_up_to_100_characters() {
        assert_eq!(parse_name("  Ada Lovelace "), Ok(Some("Ada Lovelace".to_owned())));
        assert_eq!(parse_name(" "), Ok(None));
        assert!(parse_name(&"é".repeat(MAX_NAME_CHARS)).is_ok());
        for bad in ["a\nb", "a\0", "\u{202e}ada", &"x".repeat(MAX_NAME_CHARS + 1)] {
            assert_eq!(parse_name(bad), Err(InvalidName), "{bad:?}");
        }
    }
}
