use super::*;
use proptest::prelude::*;

#[test]
fn sentences_in_capitals_become_readable() {
    for (name, filed, expected) in [
        (
            "AMERICAN NATIONAL RED CROSS",
            "THE AMERICAN RED CROSS PREVENTS AND ALLEVIATES HUMAN SUFFERING. IT MOBILIZES VOLUNTEERS IN THE U.S. AND CANADA.",
            "The American Red Cross prevents and alleviates human suffering. It mobilizes volunteers in the U.S. and Canada.",
        ),
        (
            "AUTISTIC SELF ADVOCACY NETWORK",
            "ASAN SEEKS TO ORGANIZE AUTISTIC ADULTS. NOTHING ABOUT US, WITHOUT US!",
            "ASAN seeks to organize autistic adults. Nothing about us, without us!",
        ),
        (
            "THE FRIENDS COMMITTEE ON NATIONAL LEGISLATION",
            "THE FRIENDS COMMITTEE ON NATIONAL LEGISLATION (FCNL) LOBBIES CONGRESS.FCNL IS NONPARTISAN:IT LISTENS",
            "The Friends Committee on National Legislation (FCNL) lobbies Congress. FCNL is nonpartisan: it listens",
        ),
        (
            "",
            "TO SERVE LOW-INCOME LATINO/HISPANIC FAMILIES IN ALAMEDA COUNTY, EL PASO AND NEW YORK SINCE MAY 1999, AND I MAY HELP.",
            "To serve low-income Latino/Hispanic families in Alameda County, El Paso and New York since May 1999, and I may help.",
        ),
        (
            "",
            "A 501(C)(3) FOR STUDENTS,CHILDREN AND PARENTS: HIV/AIDS, STEM, PH.D. AND COVID-19 IN THE 21ST CENTURY",
            "A 501(c)(3) for students, children and parents: HIV/AIDS, STEM, Ph.D. and COVID-19 in the 21st century",
        ),
        (
            "MINDFUL LIFE PROJECT",
            "MINDFUL LIFE PROJECT'S MISSION IS TO HELP. SEE WWW.MINDFUL.ORG FOR MORE.",
            "Mindful Life Project's mission is to help. See www.mindful.org for more.",
        ),
    ] {
        assert_eq!(readable(filed, &[name]), expected);
    }
}

#[test]
fn texts_in_sentence_case_are_unchanged() {
    for text in [
        "The Child Care Law Center (\"CCLC\") educates, advocates, and litigates to make child care a civil right.",
        "OneJustice's mission is to strengthen the legal services sector in the U.S. and at example.org.",
        "Feed 3,300 people. Visit www.Example.org/Path, or call.",
    ] {
        assert_eq!(readable(text, &["ONEJUSTICE"]), text);
    }
    assert_eq!(readable("  two\n spaces.Then more", &[]), "two spaces. Then more");
}

#[test]
fn sentences_do_not_end_with_an_abbreviation() {
    let text = "ADM Capital Foundation, Inc. supports the U.S. and Dr. King. It helps! Does it? Yes";
    let parts: Vec<&str> = sentences(text).into_iter().map(str::trim).collect();
    assert_eq!(
        parts,
        [
            "ADM Capital Foundation, Inc. supports the U.S. and Dr. King.",
            "It helps!",
            "Does it?",
            "Yes"
        ]
    );
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .flat_map(char::to_lowercase)
        .collect()
}

proptest! {
    #[test]
    fn no_letter_is_lost_and_converting_twice_changes_nothing(
        text in "[A-Z][A-Z ,.;:'()/&0-9-]{0,80}",
        name in "[A-Z]{1,6}( [A-Z]{1,6}){0,3}",
    ) {
        let once = readable(&text, &[&name]);
        prop_assert_eq!(letters(&once), letters(&text));
        prop_assert_eq!(readable(&once, &[&name]), once);
    }

    #[test]
    fn any_text_can_be_converted(text in any::<String>(), name in any::<String>()) {
        let once = readable(&text, &[&name]);
        prop_assert!(!once.chars().any(char::is_control));
        prop_assert_eq!(sentences(&once).concat(), once);
    }
}
