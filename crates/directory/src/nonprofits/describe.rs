//! Generates a short description from the IRS facts of a nonprofit.

use super::irs::IrsFacts;
use super::ntee::Ntee;
use std::fmt::Write;

/// Describes a nonprofit in one or two sentences:
/// `A public charity in Portland, OR working in food banks and pantries, recognized by the IRS in 1987.`
///
/// A chapter comes first: `678 Portland Council: a fraternal society in Portland, OR, recognized by the IRS in 1940.`
///
/// `location` may be empty. If donations are known not to be deductible, a second sentence says so. The text has fewer
/// than 200 characters, or fewer than 250 with a chapter.
pub(crate) fn describe(
    chapter: Option<&str>,
    facts: Option<&IrsFacts>,
    ntee: Option<Ntee>,
    location: &str,
) -> String {
    let kind = kind(facts, ntee);
    let field = ntee
        .and_then(Ntee::field)
        .filter(|field| !is_redundant(kind, field));
    let mut text = String::with_capacity(192);
    match chapter {
        // Writing to a String cannot fail.
        Some(chapter) => _ = write!(text, "{chapter}: a"),
        None => text.push('A'),
    }
    text.push_str(article_ending(kind));
    text.push_str(kind);
    if !location.is_empty() && location.len() <= MAX_LOCATION_LENGTH {
        text.push_str(" in ");
        text.push_str(location);
    }
    if let (Some(field), Some(ntee)) = (field, ntee) {
        text.push_str(preposition(ntee));
        text.push_str(field);
    }
    if let Some(year) = facts.and_then(IrsFacts::ruling_year) {
        let separator = if field.is_some() || location.contains(',') {
            ","
        } else {
            ""
        };
        let _ = write!(text, "{separator} recognized by the IRS in {year}");
    }
    text.push('.');
    if facts.is_some_and(|facts| facts.deductibility == 2) {
        text.push_str(" Gifts are not tax-deductible.");
    }
    text
}

const MAX_LOCATION_LENGTH: usize = 60;

/// Returns the kind of organization. The IRS calls every congregation a church, which other faiths do not.
fn kind(facts: Option<&IrsFacts>, ntee: Option<Ntee>) -> &'static str {
    let kind = facts.map_or("nonprofit organization", IrsFacts::kind);
    if kind != CHURCH {
        return kind;
    }
    match ntee.as_ref().map_or("", Ntee::code).as_bytes() {
        [b'X', b'2', b'1'] => "Protestant church",
        [b'X', b'2', b'2'] => "Roman Catholic church",
        [b'X', b'2', _] => CHURCH,
        [b'X', b'3', _] => "Jewish congregation",
        [b'X', b'4', _] => "Muslim congregation",
        [b'X', b'5', _] => "Buddhist congregation",
        [b'X', b'7', _] => "Hindu congregation",
        _ => "religious congregation",
    }
}

const CHURCH: &str = "church";

/// Returns what follows the `a` of the article. No kind starts with a silent h or a u that sounds like "you".
fn article_ending(kind: &str) -> &'static str {
    if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "n "
    } else {
        " "
    }
}

/// Returns `working in` for a field, and `working on` for a disease or a right.
fn preposition(ntee: Ntee) -> &'static str {
    match ntee.code().as_bytes() {
        [b'G', b'2'..=b'8', _] | [b'F', b'5', _] | [b'R', b'2'..=b'6', _] => " working on ",
        _ => " working in ",
    }
}

/// Returns whether the kind already names the field: `A church … working in religion`.
fn is_redundant(kind: &str, field: &str) -> bool {
    if kind.ends_with(CHURCH) || kind.ends_with("congregation") {
        return [
            "religion",
            "Christianity",
            "Judaism",
            "Islam",
            "Buddhism",
            "Hinduism",
        ]
        .contains(&field)
            || field.ends_with("churches");
    }
    if kind == "school" {
        return field == "education";
    }
    // Comparing the first letters of a word also matches its plural.
    let specific_words = kind
        .split(' ')
        .filter(|word| word.len() >= 5 && !matches!(*word, "public" | "private" | "organization"));
    specific_words
        .filter_map(|word| word.as_bytes().first_chunk::<5>())
        .any(|prefix| field.as_bytes().windows(5).any(|part| part == prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHARITY: IrsFacts = IrsFacts {
        subsection: 3,
        deductibility: 1,
        foundation: 15,
        status: 1,
        affiliation: 3,
        group: 0,
        ruling: 198_705,
        tax_period: 0,
        assets: None,
        income: None,
        revenue: None,
    };

    fn text(facts: IrsFacts, code: &str, location: &str) -> String {
        describe(None, Some(&facts), Ntee::parse(code), location)
    }

    #[test]
    fn a_charity_is_described_by_kind_location_field_and_year() {
        assert_eq!(
            text(CHARITY, "K31", "Portland, OR"),
            "A public charity in Portland, OR working in food banks and pantries, recognized by the IRS in 1987."
        );
    }

    #[test]
    fn a_chapter_comes_first() {
        let council = IrsFacts {
            subsection: 8,
            ruling: 194_009,
            ..CHARITY
        };
        assert_eq!(
            describe(Some("678 Portland Council"), Some(&council), None, "Portland, OR"),
            "678 Portland Council: a fraternal society in Portland, OR, recognized by the IRS in 1940."
        );
        let local = IrsFacts {
            subsection: 9,
            ruling: 0,
            ..CHARITY
        };
        assert_eq!(
            describe(Some("Local 42"), Some(&local), None, ""),
            "Local 42: an employee benefit association."
        );
    }

    #[test]
    fn unknown_facts_are_left_out() {
        assert_eq!(describe(None, None, None, ""), "A nonprofit organization.");
        assert_eq!(
            text(IrsFacts { ruling: 0, ..CHARITY }, "", "Guam"),
            "A public charity in Guam."
        );
        assert_eq!(
            text(CHARITY, "Z99", ""),
            "A public charity recognized by the IRS in 1987."
        );
    }

    #[test]
    fn a_second_sentence_says_that_donations_are_not_deductible() {
        let club = IrsFacts {
            subsection: 7,
            foundation: 0,
            deductibility: 2,
            ..CHARITY
        };
        assert_eq!(
            text(club, "N6A", "Reno, NV"),
            "A social club in Reno, NV working in golf, recognized by the IRS in 1987. Gifts are not tax-deductible."
        );
    }

    #[test]
    fn the_field_is_left_out_if_the_kind_names_it() {
        let church = IrsFacts {
            foundation: 10,
            ..CHARITY
        };
        assert_eq!(
            text(church, "X20", "Troy, NY"),
            "A church in Troy, NY, recognized by the IRS in 1987."
        );
        let union = IrsFacts {
            subsection: 14,
            ..CHARITY
        };
        assert_eq!(
            text(union, "W61", "Troy, NY"),
            "A credit union in Troy, NY, recognized by the IRS in 1987."
        );
        let cemetery = IrsFacts {
            subsection: 13,
            ..CHARITY
        };
        assert_eq!(
            text(cemetery, "Y50", "Troy, NY"),
            "A cemetery company in Troy, NY, recognized by the IRS in 1987."
        );
    }

    #[test]
    fn a_congregation_is_named_after_its_faith() {
        let church = IrsFacts {
            foundation: 10,
            ruling: 0,
            ..CHARITY
        };
        assert_eq!(
            text(church, "X30", "Monsey, NY"),
            "A Jewish congregation in Monsey, NY."
        );
        assert_eq!(
            text(church, "X22", "Monsey, NY"),
            "A Roman Catholic church in Monsey, NY."
        );
        assert_eq!(
            text(church, "", "Monsey, NY"),
            "A religious congregation in Monsey, NY."
        );
    }

    #[test]
    fn nonprofits_work_on_a_disease_and_in_a_field() {
        let charity = IrsFacts { ruling: 0, ..CHARITY };
        assert_eq!(
            text(charity, "G32", "Reno, NV"),
            "A public charity in Reno, NV working on breast cancer."
        );
        assert_eq!(
            text(charity, "G98", "Reno, NV"),
            "A public charity in Reno, NV working in pediatrics."
        );
    }

    proptest! {
        #[test]
        fn every_description_is_short_and_ends_with_a_period(
            subsection in 0_u8..100, foundation in 0_u8..30, deductibility in 0_u8..5, ruling in 0_u32..210_000,
            code in "[A-Z][0-9][0-9A-Z]", location in "[A-Za-z, ]{0,80}", chapter in "[A-Z][a-z]{0,47}",
        ) {
            let facts = IrsFacts { subsection, deductibility, foundation, ruling, ..CHARITY };
            let text = text(facts, &code, location.trim());
            prop_assert!(text.chars().count() < 200, "{}", text);
            prop_assert!(text.ends_with('.') && text.starts_with('A'));
            let named = describe(Some(&chapter), Some(&facts), Ntee::parse(&code), location.trim());
            prop_assert!(named.chars().count() < 250 && named.ends_with(&text[1..]), "{}", named);
        }
    }
}
