use super::*;
use crate::form990::filed_return::{Form, Program};
use directory::nonprofits::ein::Ein;
use directory::returns::facts::Amounts;
use proptest::prelude::*;

fn filed(name: &str, mission: &str, summary: &str) -> FiledReturn {
    FiledReturn {
        form: Form::Long,
        version: "2021v4.2".to_owned(),
        ein: Ein::new(1).unwrap(),
        period_begin: None,
        period_end: 202_112,
        filed_at: None,
        is_amended: false,
        is_final: false,
        is_group_return: false,
        name: Some(name.to_owned()),
        trade_name: None,
        website: None,
        mission: Some(mission.to_owned()),
        summary: Some(summary.to_owned()),
        programs: Vec::new(),
        officers: Vec::new(),
        explanations: Vec::new(),
        amounts: Amounts::default(),
        employees: None,
        volunteers: None,
        formed: None,
    }
}

fn explanation(reference: &str, text: &str) -> Explanation {
    Explanation {
        reference: reference.to_owned(),
        title: String::new(),
        text: text.to_owned(),
    }
}

fn short(filed: &FiledReturn) -> Option<String> {
    description(filed).map(|description| description.short)
}

#[test]
fn the_mission_of_part_iii_comes_before_part_i_and_schedule_o() {
    let mut each = filed("X", "TO FEED THE HUNGRY.", "TO FEED.");
    assert_eq!(short(&each).unwrap(), "To feed the hungry.");
    each.mission = Some("SEE SCHEDULE O.".to_owned());
    each.summary = Some("TO FEED PEOPLE.".to_owned());
    assert_eq!(short(&each).unwrap(), "To feed people.");
    each.summary = Some("See Part III, line 1".to_owned());
    each.explanations = vec![
        explanation("FORM 990, PART VI, LINE 11B", "THE BOARD REVIEWS THE RETURN."),
        explanation("FORM 990, PART III, LINE 1", "TO FEED ALL PEOPLE."),
    ];
    assert_eq!(short(&each).unwrap(), "To feed all people.");
    each.explanations = vec![explanation(
        "Other",
        "PART III, Line 1 - Organizational Mission To feed everyone here.",
    )];
    assert_eq!(short(&each).unwrap(), "To feed everyone here.");
    each.explanations[0].text =
        "PART I, Line 1 - Organization Mission & Signifcant Activites TO FEED EVERYONE.".to_owned();
    assert_eq!(short(&each).unwrap(), "To feed everyone.");
    each.explanations.clear();
    assert_eq!(description(&each), None);
}

#[test]
fn a_mission_that_part_iii_continues_is_joined() {
    let each = filed(
        "X",
        "most pressing issues. We learn.",
        "We tackle our (continued p 2)",
    );
    assert_eq!(
        short(&each).unwrap(),
        "We tackle our most pressing issues. We learn."
    );
}

#[test]
fn a_nonprofit_without_a_mission_is_described_by_its_first_program() {
    let mut each = filed("X", "", "");
    each.form = Form::PrivateFoundation;
    each.programs = vec![Program {
        text: "SCHOLARSHIPS FOR STUDENTS".to_owned(),
        ..Program::default()
    }];
    assert_eq!(short(&each).unwrap(), "Scholarships for students");
    each.form = Form::Long;
    each.mission = Some("Education".to_owned());
    assert_eq!(short(&each).unwrap(), "Scholarships for students");
    each.programs[0].text = "SEE STATEMENT 24".to_owned();
    assert_eq!(description(&each), None);
}

#[test]
fn pointers_are_dropped_and_the_text_around_them_stays() {
    for (filed, expected) in [
        ("SEE SCHEDULE O.REDWOOD EMPIRE HELPS", "REDWOOD EMPIRE HELPS"),
        (
            "MORE THAN (CONTINUED ON SCHEDULE O) (CONTINUED) 10 MILLION",
            "MORE THAN 10 MILLION",
        ),
        (
            "WE HELP PEOPLE. SEE SCHEDULE O FOR A FULL DESCRIPTION. AND ANIMALS",
            "WE HELP PEOPLE. AND ANIMALS",
        ),
        ("We help people (see Schedule O)", "We help people "),
        ("PLEASE SEE ATTACHED STATEMENT 12", ""),
        (
            "WE OVERSEE SCHEDULE ORDERS AND SEE PEOPLE",
            "WE OVERSEE SCHEDULE ORDERS AND SEE PEOPLE",
        ),
        ("SEE SCHEDULE OF EVENTS", "SEE SCHEDULE OF EVENTS"),
    ] {
        assert_eq!(drop_pointers(filed), expected);
    }
}

#[test]
fn long_texts_have_a_short_form_of_one_or_two_sentences() {
    let two = describe("One sentence. Two sentences. Three.".to_owned());
    assert_eq!(two.short, "One sentence. Two sentences.");
    assert_eq!(two.long.as_deref(), Some("Three."));
    let one = describe(format!("One sentence. {}.", "long ".repeat(80).trim()));
    assert_eq!(one.short, "One sentence.");
    let endless = describe("word ".repeat(100).trim().to_owned());
    assert!(endless.short.ends_with("word…") && endless.short.chars().count() <= MAX_SHORT_LEN);
    assert_eq!(endless.long, Some("word ".repeat(100).trim().to_owned()));
    assert_eq!(describe("Short".to_owned()).long, None);
}

#[test]
fn names_in_capitals_are_not_display_names() {
    assert_eq!(
        display_name(&filed("OneJustice", "", "")).as_deref(),
        Some("OneJustice")
    );
    assert_eq!(display_name(&filed("ONEJUSTICE INC", "", "")), None);
    assert_eq!(display_name(&filed("McDONALD HOUSE OF HOPE", "", "")), None);
}

#[test]
fn programs_are_readable() {
    let each = filed("BUEN VECINO", "", "");
    let text = "BUEN VECINO GAVE LEGAL HELP TO 120 FAMILIES.(CONTINUED ON SCHEDULE O)";
    assert_eq!(
        program_text(text, &each).unwrap(),
        "Buen Vecino gave legal help to 120 families."
    );
    assert_eq!(program_text("SEE SCH O", &each), None);
    assert_eq!(program_text("N/A", &each), None);
}

proptest! {
    #[test]
    fn any_text_can_be_described(mission in any::<String>(), summary in "[A-Z .,()]{0,400}", name in any::<String>()) {
        let mut each = filed(&name, &mission, &summary);
        for text in [mission, summary] {
            each.mission = Some(text);
            if let Some(found) = description(&each) {
                prop_assert!(found.short.chars().count() <= MAX_SHORT_LEN);
                prop_assert!(!found.short.is_empty());
                let short = found.short.trim_end_matches('…');
                each.mission = Some(match found.long {
                    Some(whole) if whole.starts_with(short) => whole,
                    Some(rest) => format!("{} {rest}", found.short),
                    None => found.short.clone(),
                });
                prop_assert_eq!(description(&each).map(|again| again.short), Some(found.short));
            }
        }
    }
}
