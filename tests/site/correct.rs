//! "Request a correction" on the page of a nonprofit.

use crate::cli::server::run;
use crate::dashboard::operator::operator;
use crate::dashboard::visitor::{Visitor, between, hidden};
use crate::world::World;
use access::accounts::attempts::REPORTS;

on_both_databases!(
    a_correction_reaches_the_operators_who_mark_it_as_done,
    invalid_corrections_are_refused_and_corrections_are_throttled,
);

const NONPROFIT: &str = "/american-red-cross";
const FORM: &str = "/american-red-cross/correct";
const LIST: &str = "/dashboard/operator/reports";

async fn a_correction_reaches_the_operators_who_mark_it_as_done(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    assert!(visitor.get(200, NONPROFIT).await.text().contains(FORM));
    let once = hidden(&visitor.get(200, FORM).await.text(), "once");
    let fields = [
        ("wrong", "The <b>website</b>"),
        ("right", "https://redcross.example\r\nSince May"),
        ("email", "Eve@redcross.example"),
        ("once", &once),
    ];
    for _ in 0..2 {
        let thanks = visitor.post(200, FORM, &fields).await.text();
        assert!(thanks.contains("Thank you for your request"), "{thanks}");
    }
    let reports = run(world, &["report", "list"])["reports"].clone();
    assert_eq!(reports.as_array().unwrap().len(), 1);
    assert_eq!(reports[0]["reason"], "correction");
    assert_eq!(reports[0]["email"], "eve@redcross.example");
    let operator = operator(world).await;
    let open = operator.get(200, LIST).await.text();
    for shown in [
        ">Correction</span>",
        "Mark as done",
        "href=\"/american-red-cross\"",
        "The &#60;b&#62;website&#60;/b&#62;",
        "https://redcross.example\nSince May",
        "eve@redcross.example",
    ] {
        assert!(open.contains(shown), "{shown}: {open}");
    }
    let id = between(&open, "action=\"/dashboard/operator/reports/", "/close").unwrap();
    operator.post(303, &format!("{LIST}/{id}/close"), &[]).await;
    assert!(!operator.get(200, LIST).await.text().contains("redcross.example"));
    assert!(
        operator
            .get(200, &format!("{LIST}?show=closed"))
            .await
            .text()
            .contains("redcross.example")
    );
    // A report cannot pretend to be a correction.
    let report = "/american-red-cross/report";
    let once = hidden(&visitor.get(200, report).await.text(), "once");
    let fields = [("reason", "correction"), ("details", "x"), ("once", &once)];
    visitor.post(422, report, &fields).await;
}

async fn invalid_corrections_are_refused_and_corrections_are_throttled(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::with_client(&world.client.at([203, 0, 113, 7]));
    let long = "x".repeat(901);
    let id = || uuid::Uuid::now_v7().to_string();
    for (wrong, right, email) in [
        ("", "b", "a@example.org"),
        ("a", " ", "a@example.org"),
        ("a", "b", ""),
        ("a", "b", "nobody"),
        ("a\u{0}", "b", "a@example.org"),
        (&long, "b", "a@example.org"),
    ] {
        let once = id();
        let fields = [
            ("wrong", wrong),
            ("right", right),
            ("email", email),
            ("once", &once),
        ];
        let page = visitor.post(422, FORM, &fields).await.text();
        assert!(page.contains("Please fix the following"), "{page}");
    }
    visitor.get(404, "/no-such-nonprofit/correct").await;
    let longest = "é".repeat(900);
    let mut sent = 0;
    loop {
        let once = id();
        let fields = [
            ("wrong", longest.as_str()),
            ("right", &longest),
            ("email", "a@example.org"),
            ("once", &once),
        ];
        match visitor.post_any(FORM, &fields).await {
            200 => sent += 1,
            429 => break,
            status => panic!("{status}"),
        }
    }
    assert_eq!(sent, REPORTS.attempts());
}
