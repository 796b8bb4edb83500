//! The message of a thank-you email.

use crate::checkout::dedication::has_link;
use thiserror::Error;

/// The maximum length in characters.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// A message that can be sent: plain text without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(String);

/// Why a message cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidMessage {
    #[error("the message is empty")]
    Empty,
    #[error("the message is longer than {MAX_MESSAGE_CHARS} characters")]
    TooLong,
    #[error("the message contains a link")]
    Link,
}

impl Message {
    /// Trims a message and drops control characters and those that change the direction of the text around them. Links are
    /// refused: the email is sent in our name, and must not lead donors to other sites.
    pub fn parse(text: &str) -> Result<Message, InvalidMessage> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let is_kept = |c: &char| *c == '\n' || !(c.is_control() || is_direction(*c));
        let text: String = text.chars().filter(is_kept).collect();
        let text = text.trim();
        if text.is_empty() {
            return Err(InvalidMessage::Empty);
        }
        if text.chars().count() > MAX_MESSAGE_CHARS {
            return Err(InvalidMessage::TooLong);
        }
        if has_link(text) {
            return Err(InvalidMessage::Link);
        }
        Ok(Message(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_plain_text_without_links() {
        assert_eq!(
            Message::parse(" Thank\r\nyou\u{7}! ").unwrap().as_str(),
            "Thank\nyou!"
        );
        for (text, error) in [
            (" \n\u{202e} ", InvalidMessage::Empty),
            ("See HTTPS://evil.example", InvalidMessage::Link),
            ("See www.evil.example", InvalidMessage::Link),
            (&"x".repeat(2_001), InvalidMessage::TooLong),
        ] {
            assert_eq!(Message::parse(text), Err(error));
        }
        assert!(Message::parse(&"é".repeat(2_000)).is_ok());
    }
}
