//! Names, numbers and websites as people type them.

use super::{build, found, named, rewrite};
use crate::builder::Document;
use crate::query::{MatchKind, Query, Rewrite};

#[test]
fn a_wrong_first_letter_is_corrected_if_nothing_else_is_found() {
    let index = build(&[
        named("Habitat for Humanity"),
        named("Salvation Army"),
        named("Red Cross"),
        named("Harbor House"),
    ]);
    for (typed, expected) in [
        ("jabitat for humanity", 0),
        ("abitat for humanity", 0),
        ("xhabitat for humanity", 0),
        ("jabitat", 0),
        ("dalvation army", 1),
        ("dalvati", 1),
        ("red vross", 2),
    ] {
        assert_eq!(found(&index, typed), [expected], "{typed}");
    }
    assert_eq!(rewrite(&index, "jabitat"), Some(Rewrite::FirstLetter(0)));
    // Too short, or too early to say what is meant.
    for typed in ["sed cross", "xarb", "dalv"] {
        assert_ne!(rewrite(&index, typed), Some(Rewrite::FirstLetter(0)), "{typed}");
    }
}

#[test]
fn a_first_letter_is_taken_as_meant_if_another_correction_is_found() {
    let index = build(&[named("Barbor House"), named("Harbour House")]);
    assert_eq!(found(&index, "harbor house"), [1]);
}

#[test]
fn a_registration_number_may_have_a_space_or_a_label() {
    let index = build(&[
        Document {
            registration_number: Some("530196605"),
            ..named("American Red Cross")
        },
        named("Painters Local 53"),
        named("EIN Foundation"),
    ]);
    for typed in [
        "53-0196605",
        "53 0196605",
        "EIN 53-0196605",
        "ein:530196605",
        "tax id 530196605",
    ] {
        assert_eq!(found(&index, typed), [0], "{typed}");
    }
    assert_eq!(found(&index, "ein foundation"), [2]);
}

#[test]
fn a_registration_number_that_no_document_has_finds_nothing_else() {
    let index = build(&[named("Painters Local 53"), named("Trust 123456789")]);
    for typed in ["53-0196606", "53 0196606", "EIN 530196606"] {
        assert!(found(&index, typed).is_empty(), "{typed}");
    }
    assert_eq!(found(&index, "123456789"), [1]);
}

#[test]
fn the_scheme_and_the_path_of_a_url_are_not_searched_for() {
    let index = build(&[
        named("Feeding America"),
        named("Donate Life America"),
        named("Https Institute"),
    ]);
    for typed in [
        "http://www.feedingamerica.org/donate",
        "https://feedingamerica.org/ways-to-give/america",
        "www.feedingamerica.org/donate/life",
        "http://feeding",
        "www.feed",
    ] {
        assert_eq!(found(&index, typed).first(), Some(&0), "{typed}");
    }
}

#[test]
fn a_filed_domain_is_found_after_all_others() {
    let index = build(&[
        Document {
            filed_domain: Some("http://www.harborlight.org/home"),
            postal_code: Some("97201"),
            kinds: &["shelter"],
            ..named("Harbor Light Mission")
        },
        Document {
            domain: Some("harborlight.org"),
            ..named("Beacon House")
        },
        named("Harborlight Org"),
    ]);
    assert_eq!(found(&index, "harborlight.org"), [1, 0]);
    assert_eq!(found(&index, "https://harborlight.org/give"), [1, 0]);
    assert!(found(&index, "harborlight.o").starts_with(&[1, 0]));
    let results = index.search(&Query::new("harborlight.org"));
    assert!(results.hits.iter().all(|hit| hit.kind == MatchKind::Domain));
}

#[test]
fn an_acronym_may_be_spelled_letter_by_letter() {
    let index = build(&[
        Document {
            aliases: &["ACLU"],
            ..named("American Civil Liberties Union")
        },
        named("Rapid City Y M C A"),
        named("Lucas A C Union"),
    ]);
    assert_eq!(found(&index, "a c l u")[0], 0);
    let spelled = build(&[named("Cat Adoption"), named("Catholic Charities"), named("C A T")]);
    assert_eq!(found(&spelled, "c a t")[..2], [2, 0]);
    assert_eq!(found(&index, "a.c.l.u.")[0], 0);
    assert_eq!(found(&index, "rapid city ymca"), [1]);
    assert_eq!(found(&index, "y m c a rapid"), [1]);
}

#[test]
fn a_digit_may_stand_for_a_word() {
    let index = build(&[
        named("Toys for Tots"),
        named("Kids 4 Peace"),
        named("Bridge to Hope"),
        named("Local 4"),
    ]);
    assert_eq!(found(&index, "toys 4 tots"), [0]);
    assert_eq!(found(&index, "bridge 2 hope"), [2]);
    assert_eq!(found(&index, "kids for peace"), [1]);
    assert_eq!(found(&index, "local 4"), [3]);
    assert_eq!(rewrite(&index, "toys 4 tots"), Some(Rewrite::Shorthand(1)));
}

#[test]
fn a_common_display_name_counts_as_a_whole_without_its_article() {
    let index = build(&[
        Document {
            prominence: 5.7,
            ..named("Salvation Army Trust")
        },
        Document {
            aliases: &["The Salvation Army"],
            prominence: 3.0,
            ..named("The Salvation Army")
        },
        Document {
            prominence: 0.5,
            ..named("Salvation Army")
        },
    ]);
    assert_eq!(found(&index, "salvation army"), [1, 0, 2]);
    assert_eq!(found(&index, "the salvation army")[0], 1);
}
