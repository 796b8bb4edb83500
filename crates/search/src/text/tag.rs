//! Tags: terms that say what a document is or where, rather than a word of its names.
//!
//! A tag is a term like any other, in the record of the document and with a posting list, but starts with a
//! character that no word has, so that nothing typed is mistaken for one. A word or phrase of the query is
//! mapped to a tag where it has such a meaning.

/// The first character of a tag. No other term starts with it.
pub(crate) const TAG_START: char = '/';

/// What the tags of filed domains start with after [`TAG_START`]; no kind does. Like every sign in a term, it sorts before
/// digits and letters, as the trie requires.
const FILED_DOMAIN_START: char = '.';

/// Number of digits of a postal code.
const POSTAL_CODE_DIGITS: usize = 5;
/// Number of digits that the postal codes of an area share.
const POSTAL_AREA_DIGITS: usize = 3;

/// Returns the tag of a kind of organization.
pub(crate) fn kind_tag(kind: &str) -> String {
    format!("{TAG_START}{kind}")
}

/// Returns the tag of a postal code, if `text` is one. Digits after a hyphen are ignored.
pub(crate) fn postal_code_tag(text: &str) -> Option<String> {
    let code = text.split('-').next()?;
    is_postal_code(code).then(|| format!("{TAG_START}{code}"))
}

/// Returns what the tags of all postal codes in the area of one start with.
pub(crate) fn postal_area_tag_prefix(code: &str) -> String {
    let digits = code.get(..POSTAL_AREA_DIGITS).unwrap_or(code);
    format!("{TAG_START}{digits}")
}

/// Returns the tag of a domain that is only filed.
pub(crate) fn filed_domain_tag(domain: &str) -> String {
    format!("{TAG_START}{FILED_DOMAIN_START}{domain}")
}

/// Returns `true` if a word has the form of a postal code.
pub(crate) fn is_postal_code(word: &str) -> bool {
    word.len() == POSTAL_CODE_DIGITS && word.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenizer::Tokens;

    #[test]
    fn no_word_is_a_tag() {
        for text in ["/zoo", "a/zoo", "/97201"] {
            assert!(Tokens::new(text).iter().all(|word| !word.starts_with(TAG_START)));
        }
    }

    #[test]
    fn a_postal_code_has_five_digits() {
        assert_eq!(postal_code_tag("97201-1234").as_deref(), Some("/97201"));
        for text in ["9720", "972011234", "K1A 0B1", ""] {
            assert_eq!(postal_code_tag(text), None, "{text}");
        }
    }
}
