//! The chapter, lodge or council that distinguishes a nonprofit from others with the same name.
//!
//! Filers put many things in the second name line: a trustee, a treasurer, "SAME". It is shown only if it looks like the
//! name of a part of an organization.

use platform::text::fold;

/// Longer lines are usually sentences.
const MAX_LENGTH: usize = 48;

/// Words for parts of an organization.
const PARTS: [&str; 48] = [
    "academy",
    "aerie",
    "affiliate",
    "assembly",
    "auxiliary",
    "branch",
    "camp",
    "chap",
    "chapter",
    "church",
    "circle",
    "club",
    "committee",
    "conference",
    "congregation",
    "council",
    "county",
    "court",
    "department",
    "detachment",
    "district",
    "division",
    "grange",
    "group",
    "hive",
    "hospital",
    "league",
    "local",
    "lodge",
    "mission",
    "nest",
    "parish",
    "post",
    "province",
    "pta",
    "pto",
    "ptsa",
    "region",
    "school",
    "section",
    "seminary",
    "squadron",
    "temple",
    "tent",
    "troop",
    "union",
    "unit",
    "ward",
];

/// Words for people who sign for an organization, and for former names.
const NOT_NAMES: [&str; 26] = [
    "agent",
    "aka",
    "atty",
    "cpa",
    "director",
    "executor",
    "exec",
    "fka",
    "formerly",
    "mbr",
    "none",
    "officer",
    "potential",
    "pres",
    "president",
    "return",
    "same",
    "sec",
    "secretary",
    "succ",
    "treas",
    "treasurer",
    "trustee",
    "trustees",
    "ttee",
    "ttees",
];

/// Returns the second name line if it is a name and adds something to the first line and the city.
///
/// `in_group` says whether the nonprofit belongs to a group exemption, whose members may all have the same first line.
pub(crate) fn distinguishing<'a>(
    chapter: &'a str,
    name: &str,
    city: &str,
    in_group: bool,
) -> Option<&'a str> {
    if chapter.is_empty() || chapter.len() > MAX_LENGTH || chapter.starts_with('%') {
        return None;
    }
    let folded = fold(chapter, ' ');
    let words = || folded.split(' ');
    if folded.starts_with("c o ") || words().any(|word| NOT_NAMES.contains(&word)) {
        return None;
    }
    let is_part = words().any(|word| PARTS.contains(&word));
    let is_numbered = folded.starts_with(|c: char| c.is_ascii_digit());
    let has_word = words().any(|word| word.len() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase()));
    let has_own_name = words().any(|word| !PARTS.contains(&word) && word != "inc");
    let already_shown = [fold(name, ' '), fold(city, ' ')];
    let is_redundant = words().all(|word| {
        already_shown
            .iter()
            .any(|text| text.split(' ').any(|shown| shown == word))
    });
    let is_name = has_word && has_own_name && (in_group || is_part || is_numbered);
    (is_name && !is_redundant).then_some(chapter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_council_or_chapter_is_shown() {
        for (chapter, name) in [
            ("678 Portland Council", "Knights of Columbus"),
            ("Psi Chapter", "Chi Omega Fraternity"),
            ("2320503 Cato LL", "Little League Baseball Inc"),
            ("12057 Chapter", "Modern Woodmen of America"),
            ("Portland Chapter", "Society of Women Engineers"),
        ] {
            assert_eq!(distinguishing(chapter, name, "Portland", false), Some(chapter));
        }
    }

    #[test]
    fn a_line_used_for_something_else_is_not_a_chapter() {
        for chapter in [
            "",
            "316",
            "NA",
            "Inc",
            "Same",
            "Church",
            "Group Return",
            "C/O Psi Chapter",
            "% Psi Chapter",
            "Radene G Stump Ttee",
            "Amaya Linda Pres",
            "The Treasurer of the Club",
        ] {
            assert_eq!(
                distinguishing(chapter, "Modern Woodmen of America", "Sumner", true),
                None
            );
        }
    }

    #[test]
    fn a_plain_name_is_a_chapter_only_within_a_group() {
        let newton = |in_group| {
            distinguishing(
                "Newton",
                "American Association of University Women",
                "Hillsboro",
                in_group,
            )
        };
        assert_eq!(newton(true), Some("Newton"));
        assert_eq!(newton(false), None, "it may be the name of a person");
    }

    #[test]
    fn words_of_the_name_and_the_city_are_not_repeated() {
        let name = "Rotary Club of Salem";
        assert_eq!(distinguishing("Rotary Club", name, "Salem", true), None);
        assert_eq!(distinguishing("Salem Rotary Club", name, "Salem", true), None);
        assert_eq!(
            distinguishing("Salem", "Rotary International", "Salem", true),
            None
        );
        assert_eq!(
            distinguishing("Keizer Rotary Club", name, "Salem", true),
            Some("Keizer Rotary Club")
        );
    }
}
