//! Donations in honor or in memory of somebody.

use crate::cli::server::run;
use crate::dashboard::visitor::{Visitor, emails, hidden};
use crate::world::World;

on_both_databases!(
    a_dedication_is_on_the_receipt_and_one_person_is_told_about_it,
    what_was_typed_about_a_dedication_survives_every_error,
    one_mailbox_gets_a_limited_number_of_notices,
);

const GIVE: &str = "/american-red-cross/give";
const FIELDS: [(&str, &str); 6] = [
    ("amount", "25"),
    ("name", "Ada Lovelace"),
    ("email", "ada@example.org"),
    ("dedication", "memory"),
    ("dedicatee", "Lord <Byron>"),
    ("notice_email", "Annabella@example.org"),
];
const MESSAGE: (&str, &str) = ("notice_message", "He loved the sea & poems.");

/// Gives with a test card, and returns the path of the receipt.
async fn give(visitor: &Visitor, fields: &[(&str, &str)]) -> String {
    let once = hidden(&visitor.get(200, GIVE).await.text(), "once");
    let fields = [fields, &[("once", once.as_str())]].concat();
    let started = visitor.post(303, GIVE, &fields).await;
    let pay = started.header("location").to_owned();
    visitor.post(303, &pay, &[("card", "4242424242424242")]).await;
    pay
}

async fn a_dedication_is_on_the_receipt_and_one_person_is_told_about_it(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let fields = [&FIELDS[..], &[MESSAGE]].concat();
    let receipt = give(&visitor, &fields).await;
    let page = visitor.get(200, &receipt).await.text();
    assert!(page.contains("In memory of Lord &#60;Byron&#62;"), "{page}");
    // Neither the person nor the message is the business of those who see the receipt later.
    assert!(!page.contains("nnabella"), "{page}");
    visitor.get(200, &receipt).await;
    let emails = emails(world, 2).await;
    assert_eq!(emails.len(), 2);
    let to = |address: &str| {
        let to = format!("To: {address}");
        emails.iter().find(|email| email.contains(&to)).unwrap()
    };
    assert!(
        to("ada@example.org").contains("Dedication: in memory of Lord <Byron>"),
        "{emails:?}"
    );
    let notice = to("Annabella@example.org");
    for expected in [
        "Subject: Test mode: A donation in memory of Lord <Byron>",
        "no money was charged",
        "Ada Lovelace made a donation to American Red Cross in memory of Lord <Byron>.",
        "He loved the sea & poems.",
        "He loved the sea &amp; poems.",
        "text/html",
        "http://causeway.test/american-red-cross",
    ] {
        assert!(notice.contains(expected), "{expected}: {notice}");
    }
    for secret in ["25", "ada@example.org", receipt.as_str()] {
        let body = notice.split_once("\n\n").unwrap().1;
        assert!(!body.contains(secret), "{secret}: {notice}");
    }

    let exported = run(world, &["donor", "export", "ada@example.org"]);
    let donation = &exported["donations"][0];
    assert_eq!(donation["dedication"], "in memory of Lord <Byron>", "{exported}");
    assert_eq!(donation["noticeEmail"], "Annabella@example.org");
    assert_eq!(donation["noticeMessage"], MESSAGE.1);
    let exported = run(world, &["donor", "export", "annabella@example.org"]);
    assert_eq!(exported["notices"][0]["message"], MESSAGE.1, "{exported}");
    assert!(!exported["notices"].to_string().contains("2500"), "{exported}");
    let line = run(world, &["donation", "export"]);
    assert_eq!(line["dedication"], "in memory of Lord <Byron>", "{line}");

    run(world, &["donor", "forget", "annabella@example.org"]);
    let contacts = "select notice_email from donations where notice_email is not null \
        union select notice_mailbox from donations where notice_mailbox is not null \
        union select notice_message from donations where notice_message is not null";
    assert!(world.texts(contacts).await.is_empty());
    let page = visitor.get(200, &receipt).await.text();
    assert!(page.contains("In memory of"), "{page}");
    run(world, &["donor", "forget", "ada@example.org"]);
    let page = visitor.get(200, &receipt).await.text();
    assert!(!page.contains("In memory of"), "{page}");
}

async fn what_was_typed_about_a_dedication_survives_every_error(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let once = hidden(&visitor.get(200, GIVE).await.text(), "once");
    let long = "x".repeat(501);
    for (field, value, error) in [
        ("dedicatee", " ", "Enter the name of the person"),
        ("dedicatee", "http://x.example", "Links are not allowed"),
        ("notice_message", "see WWW.x.example", "Links are not allowed"),
        ("notice_message", &long, "at most 500 characters"),
        ("notice_email", "annabella", "Enter an email address"),
        ("notice_email", "", "to which we should send your message"),
        ("amount", "2.505", "Enter an amount"),
    ] {
        let mut fields = [&FIELDS[..], &[MESSAGE, ("once", &once)]].concat();
        let changed = fields.iter_mut().find(|(name, _)| *name == field).unwrap();
        changed.1 = value;
        let page = visitor.post(422, GIVE, &fields).await.text();
        assert!(page.contains(error), "{error}: {page}");
        assert!(page.contains("value=\"memory\" checked"), "{page}");
        for (name, text) in [
            ("dedicatee", "Lord &#60;Byron&#62;"),
            ("notice_email", "Annabella@example.org"),
            ("notice_message", "He loved the sea &#38; poems."),
        ] {
            assert!(name == field || page.contains(text), "{field}: {page}");
        }
    }
    assert!(world.texts("select state from donations").await.is_empty());
}

async fn one_mailbox_gets_a_limited_number_of_notices(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let per_day = world.app.config.checkout.notices_per_day as usize;
    for number in 0..=per_day {
        let tagged = format!("annabella+{number}@example.org");
        let fields = [
            ("amount", "25"),
            ("dedication", "honor"),
            ("dedicatee", "Ada"),
            ("notice_email", tagged.as_str()),
        ];
        give(&visitor, &fields).await;
    }
    assert_eq!(emails(world, per_day).await.len(), per_day);
    let completed = "select state from donations where state = 'completed'";
    assert_eq!(world.texts(completed).await.len(), per_day + 1);
}
