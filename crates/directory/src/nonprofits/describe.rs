//! The short description of a body of which only IRS facts are known: one or two plain sentences, no praise.

use super::irs::IrsFacts;
use super::ntee::Ntee;
use std::fmt::Write;

/// `A public charity in Portland, OR working in food banks and pantries, recognized by the IRS in 1987.`
///
/// A chapter stands before it: `678 Portland Council: a fraternal society in Portland, OR, recognized by the IRS in 1940.`
///
/// `location` may be empty. Where gifts are known not to be deductible, a second sentence says so. The text stays
/// under 200 characters, and with a chapter under 250.
pub fn describe(
    chapter: Option<&str>,
    facts: Option<&IrsFacts>,
    ntee: Option<Ntee>,
    location: &str,
) -> String {
    let kind = kind(facts, ntee);
    let field = ntee
        .and_then(Ntee::field)
        .filter(|field| !says_already(kind, field));
    let mut text = String::with_capacity(192);
    match chapter {
        // Writing to a String cannot fail.
        Some(chapter) => _ = write!(text, "{chapter}: a"),
        None => text.push('A'),
    }
    text.push_str(after_a(kind));
    text.push_str(kind);
    if !location.is_empty() && location.len() <= LONGEST_LOCATION {
        text.push_str(" in ");
        text.push_str(location);
    }
    if let (Some(field), Some(ntee)) = (field, ntee) {
        text.push_str(working(ntee));
        text.push_str(field);
    }
    if let Some(year) = facts.and_then(IrsFacts::ruling_year) {
        let joint = if field.is_some() || location.contains(',') {
            ","
        } else {
            ""
        };
        let _ = write!(text, "{joint} recognized by the IRS in {year}");
    }
    text.push('.');
    if facts.is_some_and(|facts| facts.deductibility == 2) {
        text.push_str(" Gifts are not tax-deductible.");
    }
    text
}

const LONGEST_LOCATION: usize = 60;

/// The kind of body. To the IRS every congregation is a church; people of other faiths would not say so.
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

/// The rest of the article. The kinds are ours, so their sound is known: none starts with a silent h or a spoken u.
fn after_a(kind: &str) -> &'static str {
    if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "n "
    } else {
        " "
    }
}

/// One works in a field, but on a disease or a right.
fn working(ntee: Ntee) -> &'static str {
    match ntee.code().as_bytes() {
        [b'G', b'2'..=b'8', _] | [b'F', b'5', _] | [b'R', b'2'..=b'6', _] => " working on ",
        _ => " working in ",
    }
}

/// `A church … working in religion`, `a credit union … working in credit unions` would say one thing twice.
fn says_already(kind: &str, field: &str) -> bool {
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
    // The beginning of a telling word stands for its plural too.
    let telling = kind
        .split(' ')
        .filter(|word| word.len() >= 5 && !matches!(*word, "public" | "private" | "organization"));
    telling
        .filter_map(|word| word.as_bytes().first_chunk::<5>())
        .any(|beginning| field.as_bytes().windows(5).any(|part| part == beginning))
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
    fn a_charity_is_described_by_kind_place_field_and_year() {
        assert_eq!(
            text(CHARITY, "K31", "Portland, OR"),
            "A public charity in Portland, OR working in food banks and pantries, recognized by the IRS in 1987."
        );
    }

    #[test]
    fn a_chapter_stands_before_what_it_is() {
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
    fn what_is_not_known_is_not_said() {
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
    fn gifts_that_are_not_deductible_are_called_so() {
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
    fn nothing_is_said_twice() {
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
    fn a_congregation_is_called_by_its_faith() {
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
    fn one_works_on_a_disease_and_in_a_field() {
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
