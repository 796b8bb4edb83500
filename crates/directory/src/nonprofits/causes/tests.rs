use super::*;
use proptest::prelude::*;

#[test]
fn a_cause_is_found_in_any_letter_case_and_its_id_is_stable() {
    let causes = Causes::built_in();
    let food = causes.find(" Food-Security ").unwrap();
    assert_eq!(food.category, Category::HumanServices);
    assert_eq!(food.id.to_string(), "32fd4cef-5bf2-5b4d-9a31-441cd728cb9a");
    assert!(causes.find("nothing").is_none());
    assert_eq!(causes.list().len(), 74);
}

#[test]
fn an_invalid_list_is_rejected_with_a_reason() {
    let read = |list: &str, words: &str| {
        Causes::read(list, "prefix,causes,when\nA,x,always\n", words)
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
    let by_code = Causes::read(&listed, "prefix,causes,when\nA,x,broad\n", rules);
    assert!(by_code.unwrap_err().0.contains("only a name"));
}

#[test]
fn an_operator_can_add_a_cause_at_the_end() {
    let list = concat!(
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/causes.csv")),
        "chess,EDUCATION,Chess\n"
    );
    let causes = Causes::read(
        list,
        "prefix,causes,when\n",
        "words,causes,when\nchess,chess,always\n",
    )
    .unwrap();
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
        ["art", "culture", "museums", "visualart"]
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
    assert_eq!(
        names("", "Museum of Art"),
        ["art", "culture", "museums", "visualart"]
    );
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
fn a_name_does_not_change_the_field_of_a_specific_code() {
    assert_eq!(
        names("X21", "Baptist Food Pantry"),
        ["christianity", "food-security", "religion"]
    );
    assert_eq!(
        names("W30", "Veterans Immigration Project"),
        ["humans", "immigrants", "veterans"]
    );
    // A grantmaker works in the field that its name states, and so does an unclassified nonprofit.
    assert_eq!(names("T20", "Coral Reef Foundation"), ["environment", "oceans"]);
    assert_eq!(names("T20", "Smith Foundation"), ["humans"]);
    // Most of the group is in this decile, so it says little.
    assert_eq!(
        names("B20", "Saint Mary Catholic School"),
        ["christianity", "education", "religion"]
    );
}

#[test]
fn schools_and_parents_are_not_youth_work() {
    for (code, name) in [
        ("B94", "Lincoln Elementary PTA"),
        ("", "Lincoln Elementary PTO"),
        ("B24", "Lincoln School"),
        ("B20", "Lincoln Academy"),
        ("", "Lincoln High Band Boosters"),
        ("E24", "Lincoln Childrens Hospital"),
        ("A52", "Lincoln Childrens Museum"),
    ] {
        assert!(!names(code, name).contains(&"youth"), "{code} {name}");
    }
    assert!(names("", "Lincoln Youth Center").contains(&"youth"));
    assert!(names("O20", "Lincoln Club").contains(&"youth"));
}

#[test]
fn a_word_with_another_meaning_does_not_assign_a_cause() {
    assert!(!names("", "Foster Park Sports").contains(&"adoption"));
    assert!(names("", "Reno Foster Care Alliance").contains(&"adoption"));
    assert_eq!(names("D20", "Pug Rescue and Adoption"), ["animals", "dogs"]);
    assert_eq!(names("", "Rescue & Adoption of Reno"), ["animals"]);
    assert!(!names("N63", "Western Wildfire Softball").contains(&"wildfires"));
    assert!(!names("P20", "Iraq and Afghanistan Veterans").contains(&"afghanistan"));
    assert!(!names("R20", "Sunrise Education Fund").contains(&"education"));
    assert!(!names("G84", "Reno Autism Center").contains(&"disease"));
    assert!(!names("P74", "Reno Hospice").contains(&"seniors"));
    assert!(!names("D20", "Old Senior Dogs").contains(&"seniors"));
}

#[test]
fn causes_that_were_missing_are_assigned() {
    assert_eq!(names("A26", "Reno Arts Council"), ["art", "culture"]);
    assert!(names("A40", "Reno Painters").contains(&"visualart"));
    assert!(names("", "Reno Center for Entrepreneurship").contains(&"entrepreneurship"));
    assert!(names("Q05", "Middle East Institute").contains(&"middle-east"));
    assert!(names("", "Maui Wildfire Relief").contains(&"maui-wildfires"));
    assert!(names("", "Hurricane Laura Relief").contains(&"hurricane-laura"));
    assert_eq!(
        names("R61", "Reno Coalition for Reproductive Justice"),
        ["justice", "reproductive-justice", "womens-health"]
    );
    assert!(names("", "Second Harvest of Reno").contains(&"food-security"));
    assert!(names("P81", "Reno Senior Hub").contains(&"seniors"));
}

#[test]
fn no_rule_assigns_a_cause_about_leadership() {
    let causes = Causes::built_in();
    let led = causes.list().iter().filter(|cause| cause.name.ends_with("-led"));
    let mut led_set = CauseSet::default();
    for cause in led {
        led_set.insert(causes.position(&cause.name).unwrap());
    }
    assert_eq!(led_set.positions().count(), 6);
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
