use super::*;
use proptest::prelude::*;

#[test]
fn a_cause_is_found_in_any_case_and_keeps_its_id() {
    let causes = Causes::built_in();
    let food = causes.find(" Food-Security ").unwrap();
    assert_eq!(food.category, Category::HumanServices);
    assert_eq!(food.id.to_string(), "32fd4cef-5bf2-5b4d-9a31-441cd728cb9a");
    assert!(causes.find("nothing").is_none());
    assert_eq!(causes.list().len(), 67);
}

#[test]
fn a_bad_list_is_refused_with_the_reason() {
    let read = |list: &str, words: &str| {
        Causes::read(list, "prefix,causes\nA,x\n", words)
            .map(|_| ())
            .unwrap_err()
            .0
    };
    let (head, rules) = ("name,category,title\n", "words,causes,when\n");
    assert!(read(&format!("{head}x,NOTHING,X\n"), rules).contains("none of the seven"));
    assert!(read(&format!("{head}x,HEALTH,X\nx,HEALTH,X\n"), rules).contains("listed twice"));
    assert!(read(&format!("{head}X y,HEALTH,X\n"), rules).contains("lower-case"));
    assert_eq!(
        read(&format!("{head}y,HEALTH,Y\n"), rules),
        "a rule names x, which is no cause"
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
    assert_eq!(causes.place("animals"), Causes::built_in().place("animals"));
}

fn names(code: &str, name: &str) -> Vec<&'static str> {
    let causes = Causes::built_in();
    causes
        .of_set(causes.of(Ntee::parse(code), name))
        .map(|cause| cause.name.as_str())
        .collect()
}

#[test]
fn a_code_tells_the_causes_of_all_its_prefixes() {
    assert_eq!(
        names("A51", "The Frick Collection"),
        ["art", "culture", "museums"]
    );
    assert_eq!(names("K31", "Second Harvest"), ["food-security", "humans"]);
}

#[test]
fn a_name_tells_where_the_code_is_missing() {
    assert_eq!(names("", "FIRST BAPTIST CHURCH"), ["christianity", "religion"]);
    assert_eq!(
        names("", "Portland Women's Food Bank"),
        ["food-security", "humans"]
    );
    assert!(names("", "Smith").is_empty());
}

#[test]
fn a_pair_of_words_goes_before_either_word_alone() {
    assert_eq!(names("", "Museum of Art"), ["art", "culture", "museums"]);
    assert!(!names("", "Ocean City Rotary").contains(&"oceans"));
}

#[test]
fn broad_words_do_not_outweigh_a_specific_code() {
    assert!(!names("E22", "Methodist Hospital").contains(&"religion"));
    assert!(names("E22", "Methodist Cancer Hospital").contains(&"cancer"));
}

#[test]
fn a_word_that_says_little_counts_only_by_itself() {
    assert_eq!(names("", "Smith Association"), ["humans"]);
    assert_eq!(names("", "Opera Association"), ["culture", "music"]);
    assert_eq!(names("Z99", "Smith"), ["humans"]);
    assert_eq!(names("Z99", "Smith Opera"), ["culture", "music"]);
}

#[test]
fn who_leads_a_body_is_never_guessed() {
    let causes = Causes::built_in();
    let led = causes.list().iter().filter(|cause| cause.name.ends_with("-led"));
    let mut led_set = CauseSet::default();
    for cause in led {
        led_set.insert(causes.place(&cause.name).unwrap());
    }
    assert_eq!(led_set.positions().count(), 5);
    assert!(causes.rules().all().all(|told| !told.intersects(led_set)));
}

proptest! {
    #[test]
    fn every_code_has_a_cause(code in "[A-Z][0-9][0-9A-Z]") {
        prop_assert!(!names(&code, "").is_empty());
    }

    #[test]
    fn case_and_marks_of_a_name_change_nothing(name in "[A-Z]{2,8}( [A-Z]{2,8}){0,4}") {
        prop_assert_eq!(names("", &name), names("", &name.to_lowercase().replace(' ', ", ")));
    }
}
