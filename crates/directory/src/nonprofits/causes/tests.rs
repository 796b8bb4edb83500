use super::*;
use proptest::prelude::*;

#[test]
fn a_cause_is_found_in_any_letter_case_and_its_id_is_stable() {
    let causes = Causes::built_in();
    let food = causes.find(" Food-Security ").unwrap();
    assert_eq!(food.category, Category::HumanServices);
    assert_eq!(food.id.to_string(), "32fd4cef-5bf2-5b4d-9a31-441cd728cb9a");
    assert!(causes.find("nothing").is_none());
    assert_eq!(causes.list().len(), 67);
}

#[test]
fn an_invalid_list_is_rejected_with_a_reason() {
    let read = |list: &str, words: &str| {
        Causes::read(list, "prefix,causes\nA,x\n", words)
            .map(|_| ())
            .unwrap_err()
            .0
    };
    let (head, rules) = ("name,category,title\n", "words,causes,when\n");
    assert!(read(&format!("{head}x,NOTHING,X\n"), rules).contains("not one of the seven"));
    assert!(read(&format!("{head}x,HEALTH,X\nx,HEALTH,X\n"), rules).contains("listed twice"));
    assert!(read(&format!("{head}X y,HEALTH,X\n"), rules).contains("lowercase"));
    assert_eq!(
        read(&format!("{head}y,HEALTH,Y\n"), rules),
        "a rule refers to x, which is not in the list of causes"
    );
    let listed = format!("{head}x,HEALTH,X\n");
    assert!(read(&listed, "words,causes,when\nw,x,never\n").contains("never"));
    assert!(read(&listed, "words,causes,when\nw,x\n").contains("causes by name"));
}

#[test]
fn an_operator_can_add_a_cause_at_the_end() {
    let list = concat!(
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/causes.csv")),
        "chess,EDUCATION,Chess\n"
    );
    let causes = Causes::read(list, "prefix,causes\n", "words,causes,when\nchess,chess,always\n").unwrap();
    let found: Vec<_> = causes.of_set(causes.of(None, "Reno Chess Club")).collect();
    assert_eq!(found, [causes.find("chess").unwrap()]);
    assert_eq!(causes.position("animals"), Causes::built_in().position("animals"));
}

fn names(code: &str, name: &str) -> Vec<&'static str> {
    let causes = Causes::built_in();
    causes
        .of_set(causes.of(Ntee::parse(code), name))
        .map(|cause| cause.name.as_str())
        .collect()
}

#[test]
fn a_code_has_the_causes_of_all_its_prefixes() {
    assert_eq!(
        names("A51", "The Frick Collection"),
        ["art", "culture", "museums"]
    );
    assert_eq!(names("K31", "Second Harvest"), ["food-security", "humans"]);
}

#[test]
fn without_a_code_the_name_determines_the_causes() {
    assert_eq!(names("", "FIRST BAPTIST CHURCH"), ["christianity", "religion"]);
    assert_eq!(
        names("", "Portland Women's Food Bank"),
        ["food-security", "humans"]
    );
    assert!(names("", "Smith").is_empty());
}

#[test]
fn a_rule_for_two_words_takes_precedence_over_a_single_word() {
    assert_eq!(names("", "Museum of Art"), ["art", "culture", "museums"]);
    assert!(!names("", "Ocean City Rotary").contains(&"oceans"));
}

#[test]
fn broad_words_do_not_override_a_specific_code() {
    assert!(!names("E22", "Methodist Hospital").contains(&"religion"));
    assert!(names("E22", "Methodist Cancer Hospital").contains(&"cancer"));
}

#[test]
fn a_vague_word_counts_only_if_nothing_else_is_known() {
    assert_eq!(names("", "Smith Association"), ["humans"]);
    assert_eq!(names("", "Opera Association"), ["culture", "music"]);
    assert_eq!(names("Z99", "Smith"), ["humans"]);
    assert_eq!(names("Z99", "Smith Opera"), ["culture", "music"]);
}

#[test]
fn no_rule_assigns_a_cause_about_leadership() {
    let causes = Causes::built_in();
    let led = causes.list().iter().filter(|cause| cause.name.ends_with("-led"));
    let mut led_set = CauseSet::default();
    for cause in led {
        led_set.insert(causes.position(&cause.name).unwrap());
    }
    assert_eq!(led_set.positions().count(), 5);
    assert!(causes.rules().all().all(|causes| !causes.intersects(led_set)));
}

proptest! {
    #[test]
    fn every_code_has_a_cause(code in "[A-Z][0-9][0-9A-Z]") {
        prop_assert!(!names(&code, "").is_empty());
    }

    #[test]
    fn letter_case_and_punctuation_of_a_name_do_not_matter(name in "[A-Z]{2,8}( [A-Z]{2,8}){0,4}") {
        prop_assert_eq!(names("", &name), names("", &name.to_lowercase().replace(' ', ", ")));
    }
}
