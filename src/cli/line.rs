//! Text arguments of commands.

use anyhow::bail;

/// Parses one line of text for display.
pub(super) fn parse_line<'a>(what: &str, text: &'a str, max_chars: usize) -> anyhow::Result<&'a str> {
    if text.chars().count() > max_chars {
        bail!("{what} has more than {max_chars} characters; shorten it");
    }
    if text.chars().any(char::is_control) {
        bail!("{what} has control characters; remove them");
    }
    Ok(text.trim())
}
