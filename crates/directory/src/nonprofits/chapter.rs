//! The chapter, lodge or council that tells a body apart from the thousands of its name.
//!
//! Filers use the second name line for all sorts of things: a trustee, a treasurer, "SAME". So it is shown only where it
//! reads as the name of a part of something.

use platform::text::fold;

/// A longer line is a sentence.
const LONGEST: usize = 48;

/// What parts of larger bodies call themselves.
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

/// Who signs for a body, or what it was called: no name of its own.
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

/// The second name line, where it is a name and says more than the first line and the city do.
///
/// `in_group`: the body is one of a group exemption, all of which may share their first line.
pub fn distinguishing<'a>(chapter: &'a str, name: &str, city: &str, in_group: bool) -> Option<&'a str> {
    if chapter.is_empty() || chapter.len() > LONGEST || chapter.starts_with('%') {
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
    let is_named = words().any(|word| !PARTS.contains(&word) && word != "inc");
    let known = [fold(name, ' '), fold(city, ' ')];
    let is_said = words().all(|word| {
        known
            .iter()
            .any(|text| text.split(' ').any(|known| known == word))
    });
    let is_name = has_word && is_named && (in_group || is_part || is_numbered);
    (is_name && !is_said).then_some(chapter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn councils_lodges_and_posts_tell_bodies_apart() {
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
    fn a_line_of_another_use_is_no_chapter() {
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
    fn a_bare_name_is_a_chapter_only_within_a_group() {
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
    fn what_the_name_and_the_city_say_is_not_said_again() {
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
