//! Domain names in URLs and in typed text.

use std::ops::Range;

use crate::text::tokenizer::MAX_WORD_BYTES;

/// Top-level domains that people type.
const TOP_LEVEL_DOMAINS: &[&str] = &[
    "academy",
    "ca",
    "care",
    "center",
    "charity",
    "church",
    "co",
    "com",
    "community",
    "coop",
    "earth",
    "edu",
    "foundation",
    "fund",
    "gives",
    "global",
    "gov",
    "health",
    "house",
    "info",
    "int",
    "io",
    "life",
    "me",
    "museum",
    "net",
    "ngo",
    "ong",
    "org",
    "school",
    "tv",
    "uk",
    "us",
    "world",
];

/// Top-level domains that are recognized while they are typed.
const FREQUENT_TOP_LEVEL_DOMAINS: &[&str] = &["com", "edu", "gov", "net", "org"];

/// What can precede the domain of a country without being the name of the owner, as in `example.org.uk`.
const SECOND_LEVEL_DOMAINS: &[&str] = &["ac", "co", "com", "edu", "gov", "k12", "net", "org"];

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
    // Nearly all text has no dot, and each keystroke is one.
    if !text.contains('.') {
        return None;
    }
    let text = text.trim();
    let without_scheme = match text.find("://") {
        Some(at) => &text[at + 3..],
        None => text,
    };
    let host = without_scheme.split(['/', '?', '#', ':']).next()?;
    let host = host.rsplit('@').next()?;
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

/// Returns `true` if the text is a URL with a scheme, a path or `www.`, rather than a domain alone.
pub(crate) fn is_url(text: &str) -> bool {
    text.contains('/') || name_start(text) > 0
}

/// Returns where the text starts to say something: after the scheme of a URL and after `www.`.
pub(crate) fn name_start(text: &str) -> usize {
    let starts_with = |at: usize, start: &str| {
        let part = text.get(at..at + start.len());
        part.is_some_and(|part| part.eq_ignore_ascii_case(start))
    };
    let mut at = text.len() - text.trim_start().len();
    if let Some(scheme) = ["https://", "http://"]
        .iter()
        .find(|scheme| starts_with(at, scheme))
    {
        at += scheme.len();
    }
    if starts_with(at, "www.") {
        at + 4
    } else if at > 0 && text[..at].ends_with('/') {
        at
    } else {
        0
    }
}

/// The parts of a typed domain that can be words of its owner's name, as byte ranges of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainName {
    /// The part that names the owner: `redcross` of `www.redcross.org`.
    pub label: Range<usize>,
    /// The top-level domain, which some names end in. It may be incomplete.
    pub top_level: Range<usize>,
}

/// Finds the name of the owner in text that looks like a URL or a domain.
///
/// Text with another ending than a top-level domain, such as "st.jude", is not a domain.
pub(crate) fn find_domain_name(text: &str) -> Option<DomainName> {
    let domain = parse_domain(text)?;
    // ASCII letters keep their positions in lowercase.
    let start = text.to_ascii_lowercase().find(&domain)?;
    let (rest, top_level) = domain.rsplit_once('.')?;
    let is_known = TOP_LEVEL_DOMAINS.contains(&top_level);
    let is_beginning = FREQUENT_TOP_LEVEL_DOMAINS
        .iter()
        .any(|known| known.starts_with(top_level));
    if !is_known && !is_beginning {
        return None;
    }
    let owner = match rest.rsplit_once('.') {
        Some((owner, second)) if top_level.len() == 2 && SECOND_LEVEL_DOMAINS.contains(&second) => owner,
        _ => rest,
    };
    let from = owner.rfind('.').map_or(0, |at| at + 1);
    (owner.len() - from >= 2).then(|| DomainName {
        label: start + from..start + owner.len(),
        top_level: start + rest.len() + 1..start + domain.len(),
    })
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
    fn the_owner_is_named_before_the_top_level_domain() {
        for (text, label) in [
            ("https://www.RedCross.org/donate", Some("RedCross")),
            ("give.redcross.o", Some("redcross")),
            ("cornell.edu ", Some("cornell")),
            ("info@mercycorps.org", Some("mercycorps")),
            ("save-the-children.org.uk", Some("save-the-children")),
            ("portland.k12.us", Some("portland")),
            ("st.jude", None),
            ("u.s.co", None),
            ("red cross", None),
        ] {
            let found = find_domain_name(text).map(|name| &text[name.label]);
            assert_eq!(found, label, "{text}");
        }
        let text = "Code.Org";
        assert_eq!(
            find_domain_name(text).map(|name| &text[name.top_level]),
            Some("Org")
        );
    }

    #[test]
    fn scheme_and_www_say_nothing() {
        for (text, rest) in [
            ("https://www.red", "red"),
            (" HTTP://red", "red"),
            ("www.red", "red"),
            ("www.", ""),
            (" red", " red"),
            ("https", "https"),
            ("wwf", "wwf"),
        ] {
            assert_eq!(&text[name_start(text)..], rest, "{text}");
        }
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
