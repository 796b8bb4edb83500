//! The donations of an owner's fundraisers as CSV.

use super::visitor::{Visitor, hidden};
use crate::api::fundraisers::RED_CROSS;
use crate::world::World;

on_both_databases!(an_owner_exports_donations_and_anonymous_donors_stay_anonymous);

const NEW: &str = "/dashboard/fundraisers/new";

async fn create(visitor: &Visitor, title: &str) -> String {
    let once = hidden(&visitor.get(200, NEW).await.text(), "once");
    let fields = [("nonprofit", RED_CROSS), ("title", title), ("once", &once)];
    visitor.post(303, NEW, &fields).await;
    once
}

async fn give(world: &World, slug: &str, fields: &[(&str, &str)]) {
    let visitor = Visitor::new(world);
    let url = format!("/american-red-cross/f/{slug}/give");
    let once = hidden(&visitor.get(200, &url).await.text(), "once");
    let sent = [fields, &[("once", once.as_str())]].concat();
    let started = visitor.post(303, &url, &sent).await;
    visitor
        .post(
            303,
            started.header("location"),
            &[("card", "4242 4242 4242 4242")],
        )
        .await;
}

async fn an_owner_exports_donations_and_anonymous_donors_stay_anonymous(world: &World) {
    world.load_demo().await;
    let grace = Visitor::new(world);
    grace.sign_up("grace").await;
    let run = create(&grace, "Run, \"walk\"").await;
    let swim = create(&grace, "Swim").await;
    let public = [
        ("amount", "25"),
        ("name", "=HYPERLINK(\"//example.org\")"),
        ("email", "ada@example.org"),
        ("message", "@Run well"),
        ("public", "yes"),
    ];
    give(world, "run-walk", &public).await;
    let private = [
        ("amount", "other"),
        ("other_amount", "1234.05"),
        ("name", "Bob Secret"),
        ("email", "bob@example.org"),
        ("message", "Hush"),
        ("public", "no"),
    ];
    give(world, "run-walk", &private).await;
    give(world, "swim", &[("amount", "10")]).await;

    let all = "/dashboard/fundraisers/donations.csv";
    assert!(
        grace
            .get(200, "/dashboard/fundraisers")
            .await
            .text()
            .contains(all)
    );
    let response = grace.get(200, all).await;
    assert_eq!(response.header("content-type"), "text/csv; charset=utf-8");
    assert!(response.header("content-disposition").starts_with("attachment"));
    let text = response.text();
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "date,fundraiser_id,fundraiser,amount,refunded,currency,donor,message,mode"
    );
    for (line, id, rest) in [
        (
            lines[1],
            &run,
            "\"Run, \"\"walk\"\"\",25.00,0.00,USD,\"'=HYPERLINK(\"\"//example.org\"\")\",\"'@Run well\",test",
        ),
        (
            lines[2],
            &run,
            "\"Run, \"\"walk\"\"\",1234.05,0.00,USD,\"Anonymous\",\"\",test",
        ),
        (lines[3], &swim, "\"Swim\",10.00,0.00,USD,\"Anonymous\",\"\",test"),
    ] {
        assert!(line.ends_with(&format!("Z,{id},{rest}")), "{line}");
    }
    assert_eq!(lines[4..], [""]);
    for secret in ["Bob", "Hush", "@example.org"] {
        assert!(!text.contains(secret), "{text}");
    }
    let one = grace
        .get(200, &format!("/dashboard/fundraisers/{swim}/donations.csv"))
        .await
        .text();
    assert!(one.contains("Swim") && !one.contains("Run"), "{one}");

    let eve = Visitor::new(world);
    eve.sign_up("eve").await;
    eve.get(404, &format!("/dashboard/fundraisers/{swim}/donations.csv"))
        .await;
    assert_eq!(eve.get(200, all).await.text().matches("\r\n").count(), 1);
}
