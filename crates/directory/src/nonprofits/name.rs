//! Converts names from capital letters: `AMERICAN NATIONAL RED CROSS` becomes American National Red Cross.
//!
//! A name that already has lowercase letters was written by a person, so only its whitespace is cleaned.

use super::capitalization;
use std::borrow::Cow;

/// Returns a name as people write it.
pub fn readable(filed: &str) -> String {
    let visible = visible(filed);
    let mut out = String::with_capacity(visible.len() + 4);
    let has_lowercase = if visible.is_ascii() {
        visible.bytes().any(|b| b.is_ascii_lowercase())
    } else {
        visible.chars().any(char::is_lowercase)
    };
    if has_lowercase {
        for word in words(&visible) {
            start_word(&mut out);
            out.push_str(word);
        }
        return out;
    }
    let mut previous = "";
    let mut rest = words(&visible).peekable();
    while let Some(word) = rest.next() {
        let next = rest.peek().copied();
        if word == "S" && takes_possessive(previous) {
            out.push_str("'s");
        } else {
            start_word(&mut out);
            write_token(&mut out, word, previous, next);
        }
        previous = word;
    }
    out
}

/// Removes invisible characters that can mislead: zero-width characters and changes of the writing direction.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() && text.contains(is_hidden) {
        Cow::Owned(text.chars().filter(|&c| !is_hidden(c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn is_hidden(c: char) -> bool {
    let ranges = [
        '\u{200b}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
    ];
    matches!(c, '\u{ad}' | '\u{feff}') || ranges.iter().any(|range| range.contains(&c))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
}

fn start_word(out: &mut String) {
    if !out.is_empty() {
        out.push(' ');
    }
}

/// Returns whether a lone `S` after a word is a possessive. Some filers write a space for the apostrophe: `WOMEN S CLUB`.
fn takes_possessive(previous: &str) -> bool {
    matches!(
        previous,
        "WOMEN" | "MEN" | "CHILDREN" | "WOMAN" | "VETERAN" | "FIREMEN" | "CHILD" | "MARY" | "GOD"
    )
}

/// Writes one word, depending on the words next to it.
fn write_token(out: &mut String, token: &str, previous: &str, next: Option<&str>) {
    let is_first = previous.is_empty();
    let is_last = next.is_none_or(|next| matches!(next, "INC" | "INCORPORATED" | "LLC" | "CORP"));
    if let Some(written) = form_in_context(token, previous, next, is_last) {
        out.push_str(written);
    } else if !is_first && is_minor_here(token, previous, next, is_last) {
        capitalization::write_lowercase(out, token);
    } else if is_last && !is_first && capitalization::is_state_code(token) {
        out.push_str(token);
    } else if token.bytes().all(|b| b.is_ascii_alphanumeric()) {
        capitalization::write_word(out, token);
    } else if let Some(written) = capitalization::lookup(token) {
        out.push_str(written);
    } else {
        write_pieces(out, token, is_first);
    }
}

/// Returns whether a word is written in lowercase. Minor words keep their capitals at the end of a name, where they are a
/// state or a grade (`PORTLAND OR`, `HEPATITIS A`), unless the name was truncated after them.
///
/// A Spanish article belongs to the name of a place, as in `NORTH LAS VEGAS`, unless another Spanish word of that
/// sort comes before it. `Y` is the Spanish "and" between words, but a letter among letters: `RAPID CITY Y M C A`.
fn is_minor_here(token: &str, previous: &str, next: Option<&str>, is_last: bool) -> bool {
    match token {
        "A" => !is_last && BEFORE_ARTICLE.contains(&previous),
        "OF" | "AND" | "THE" => true,
        "LA" | "LAS" | "LOS" => !is_last && takes_article(previous),
        "Y" => !is_last && previous.len() > 1 && next.is_some_and(|next| next.len() > 1),
        _ => !is_last && capitalization::is_minor_word(token),
    }
}

/// Returns whether a Spanish or French article after the word is no part of the name of a place.
fn takes_article(word: &str) -> bool {
    matches!(
        word,
        "A" | "CON"
            | "CONTRA"
            | "DE"
            | "EN"
            | "ENTRE"
            | "ES"
            | "HACIA"
            | "PAR"
            | "PARA"
            | "POR"
            | "POUR"
            | "SIN"
            | "SOBRE"
            | "TODA"
            | "TODAS"
            | "TODO"
            | "TODOS"
            | "Y"
    )
}

/// Words after which `A` is the article. After a given name it is an initial: `GERALD A DOERING`.
const BEFORE_ARTICLE: [&str; 60] = [
    "FOR", "WITH", "OF", "ON", "AT", "IN", "AND", "TO", "FROM", "AS", "IS", "ITS", "BE", "ARE", "HAS",
    "HAVE", "LIKE", "THAN", "UPON", "JUST", "NOT", "SUCH", "WHAT", "UP", "ALWAYS", "NEED", "MAKE", "MAKING",
    "SAVE", "SAVING", "ADOPT", "BUILD", "BUILDING", "TAKE", "TAKES", "GIVE", "GIVING", "LEND", "LENDING",
    "HELP", "SHARE", "PLANT", "TEACH", "CHANGE", "CHANGING", "TOUCH", "THANK", "SEE", "FIND", "FEED",
    "CREATE", "CREATING", "CATCH", "GET", "INC", "CENTER", "CLUB", "FUND", "CHURCH", "TRUST",
];

/// Returns the form of a word that depends on the words next to it.
fn form_in_context(token: &str, previous: &str, next: Option<&str>, is_last: bool) -> Option<&'static str> {
    match token {
        "MT" if is_last => Some("MT"),
        "AM" if previous == "&" => Some("AM"),
        "XI" if is_greek_letter(previous) || next.is_some_and(is_greek_letter) => Some("Xi"),
        "US" if matches!(
            previous,
            "OF" | "ABOUT" | "WITH" | "FOR" | "TO" | "LIKE" | "AMONG" | "BEFORE"
        ) && is_last =>
        {
            Some("Us")
        }
        _ if matches!(previous, "ST" | "SAINT" | "SAINTS" | "STS") => {
            capitalization::lookup_after_saint(token)
        }
        _ => None,
    }
}

/// Writes a word with punctuation inside, one piece at a time: `PARENT-TEACHER`, `MUSIC/DANCE`, `A&M`.
fn write_pieces(out: &mut String, token: &str, is_first: bool) {
    let mut rest = token;
    let mut starts_name = is_first;
    let mut is_first_piece = true;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_word_char(c)).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        if !starts_name && !is_first_piece && capitalization::is_minor_word(piece) && !tail.is_empty() {
            capitalization::write_lowercase(out, piece);
        } else if !piece.is_empty() {
            capitalization::write_word(out, piece);
        }
        let separator = tail.chars().next().map_or(0, char::len_utf8);
        out.push_str(&tail[..separator]);
        rest = &tail[separator..];
        starts_name &= piece.is_empty();
        is_first_piece = false;
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | 'ʻ')
}

fn is_greek_letter(word: &str) -> bool {
    GREEK_LETTERS.contains(&word)
}

const GREEK_LETTERS: [&str; 23] = [
    "ALPHA", "BETA", "GAMMA", "DELTA", "EPSILON", "ZETA", "ETA", "THETA", "IOTA", "KAPPA", "LAMBDA", "MU",
    "NU", "OMICRON", "PI", "RHO", "SIGMA", "TAU", "UPSILON", "PHI", "CHI", "PSI", "OMEGA",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_in_capitals_become_readable() {
        for (filed, expected) in [
            ("AMERICAN NATIONAL RED CROSS", "American National Red Cross"),
            (
                "ST JUDE CHILDRENS RESEARCH HOSPITAL",
                "St Jude Children's Research Hospital",
            ),
            ("BOYS & GIRLS CLUBS OF AMERICA", "Boys & Girls Clubs of America"),
            ("THE MUSEUM OF MODERN ART", "The Museum of Modern Art"),
            ("YMCA OF THE USA", "YMCA of the USA"),
            (
                "RONALD MCDONALD HOUSE CHARITIES INC",
                "Ronald McDonald House Charities Inc",
            ),
            (
                "VETERANS OF FOREIGN WARS OF THE UNITED STATES",
                "Veterans of Foreign Wars of the United States",
            ),
            (
                "PARENT-TEACHER ASSOCIATION OF OBRIEN SCHOOL",
                "Parent-Teacher Association of O'Brien School",
            ),
            ("A WOMENS PLACE", "A Women's Place"),
            (
                "1ST BAPTIST CHURCH OF MT VERNON",
                "1st Baptist Church of Mt Vernon",
            ),
            ("IGLESIA DE DIOS Y AMOR", "Iglesia de Dios y Amor"),
            ("CASA DE LA ESPERANZA", "Casa de la Esperanza"),
            ("AMIGOS DE LOS RIOS", "Amigos de los Rios"),
            (
                "CITY OF NORTH LAS VEGAS LIBRARY",
                "City of North Las Vegas Library",
            ),
            ("BOYS CLUB OF LAS CRUCES", "Boys Club of Las Cruces"),
            ("RAPID CITY Y M C A", "Rapid City Y M C A"),
            ("ROTARY CLUB OF LA JOLLA", "Rotary Club of La Jolla"),
            ("TEXAS A&M FOUNDATION", "Texas A&M Foundation"),
            ("SHOP WITH A COP", "Shop with a Cop"),
            ("GERALD A DOERING FUND", "Gerald A Doering Fund"),
            (
                "AFRICAN AMERICAN ASSOCIATION OF",
                "African American Association of",
            ),
        ] {
            assert_eq!(readable(filed), expected);
        }
    }

    #[test]
    fn a_state_at_the_end_keeps_its_capitals_but_a_word_does_not() {
        assert_eq!(
            readable("GARDEN CLUB OF PORTLAND OR INC"),
            "Garden Club of Portland OR Inc"
        );
        assert_eq!(
            readable("HISTORICAL SOCIETY OF HELENA MT"),
            "Historical Society of Helena MT"
        );
        assert_eq!(readable("VOLUNTEER FIRE CO"), "Volunteer Fire Co");
        assert_eq!(readable("TO BE OR NOT TO BE"), "To Be or Not to Be");
    }

    #[test]
    fn saints_take_a_possessive_and_family_names_do_not() {
        assert_eq!(readable("ST PETERS CHURCH"), "St Peter's Church");
        assert_eq!(readable("PETERS FAMILY FOUNDATION"), "Peters Family Foundation");
        assert_eq!(readable("ST THOMAS PARISH"), "St Thomas Parish");
        assert_eq!(readable("WOMEN S CLUB"), "Women's Club");
    }

    #[test]
    fn greek_letters_and_numerals_are_distinguished() {
        assert_eq!(readable("ALPHA XI DELTA"), "Alpha Xi Delta");
        assert_eq!(readable("ARTICLE XI"), "Article XI");
    }

    #[test]
    fn a_name_with_lowercase_letters_is_kept() {
        assert_eq!(readable("  charity: water  "), "charity: water");
        assert_eq!(readable("McSweeney's  LITERARY"), "McSweeney's LITERARY");
    }

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(readable("RED\u{0}\u{7}CROSS\r\n"), "Red Cross");
        assert_eq!(readable("RED\u{202e} CROSS"), "Red Cross");
        assert_eq!(readable(" \t"), "");
    }

    proptest! {
        #[test]
        fn a_readable_name_keeps_its_letters_and_does_not_change_again(filed in "[A-Z0-9&/ -]{0,70}") {
            let once = readable(&filed);
            let letters = |text: &str| text.to_uppercase().replace(['\'', '-', ' '], "");
            prop_assert_eq!(letters(&once), letters(&filed));
            prop_assert!(!once.contains("  ") && once.trim() == once);
            if once.chars().any(char::is_lowercase) {
                prop_assert_eq!(readable(&once), once);
            }
        }

        #[test]
        fn control_characters_are_removed_from_any_text(filed in any::<String>()) {
            prop_assert!(!readable(&filed).chars().any(char::is_control));
        }
    }
}
