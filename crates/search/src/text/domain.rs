//! Domain names in URLs and in typed text.

use crate::text::tokenizer::MAX_WORD_BYTES;

/// Extracts the domain from text that looks like a URL or a domain, without a leading `www.`.
///
/// The rules are looser than those of a URL parser because the text may still be incomplete. A domain is
/// stored as one term and therefore cannot be longer than a word.
///
/// ```
/// assert_eq!(search::parse_domain("HTTPS://www.RedCross.org/donate").as_deref(), Some("redcross.org"));
/// assert_eq!(search::parse_domain("U.S. Fund"), None);
/// ```
pub fn parse_domain(text: &str) -> Option<String> {
    let text = text.trim();
    let without_scheme = match text.find("://") {
        Some(at) => &text[at + 3..],
        None => text,
    };
    let host = without_scheme.split(['/', '?', '#', ':']).next()?;
    let host = match host.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("www.") => &host[4..],
        _ => host,
    };
    let (name, _) = host.rsplit_once('.')?;
    let has_valid_bytes = host
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-');
    (has_valid_bytes && name.len() >= 2 && host.len() <= MAX_WORD_BYTES && !host.contains(".."))
        .then(|| host.trim_end_matches('.').to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_www_and_path_are_removed() {
        assert_eq!(parse_domain("redcross.org").as_deref(), Some("redcross.org"));
        assert_eq!(
            parse_domain("www.k-9.example.org/x?y").as_deref(),
            Some("k-9.example.org")
        );
    }

    #[test]
    fn a_sentence_is_not_a_domain() {
        for text in ["red cross", "u.s.", "st. jude", "inc.", "a..b", ""] {
            assert!(
                parse_domain(text).is_none_or(|domain| !domain.contains(' ')),
                "{text}"
            );
        }
    }
}
