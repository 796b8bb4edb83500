//! Fundraisers on the dashboard.

use super::visitor::{PASSWORD, Visitor, between, hidden};
use crate::api::fundraisers::{AARP, Organizer, RED_CROSS, assert_ledger, basic, id_of};
use crate::world::World;
use axum::http::Method;
use serde_json::{Value, json};

on_both_databases!(
    a_fundraiser_created_on_the_dashboard_is_in_the_api,
    a_form_sent_twice_creates_one_fundraiser,
    a_fundraiser_is_edited_closed_and_reopened,
    saving_the_form_keeps_the_time_of_an_unchanged_date,
    a_stale_form_does_not_undo_newer_changes,
    a_fundraiser_of_another_account_is_not_found,
    invalid_input_is_reported_by_field_and_kept_in_the_form,
    a_long_list_is_paged_and_creating_is_rate_limited,
);

const LIST: &str = "/dashboard/fundraisers";
const NEW: &str = "/dashboard/fundraisers/new";

/// Every field of the form.
const FULL: [(&str, &str); 7] = [
    ("nonprofit", "53-0196605"),
    ("title", "Ada's <Spring> run"),
    ("description", "For all.\r\nCome!"),
    ("startDate", "2026-05-01"),
    ("endDate", "2199-06-30"),
    ("goal", "$1,234.50"),
    ("raisedOffline", "20"),
];

/// Loads the demo directory and signs up as grace.
async fn grace(world: &World) -> Visitor {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor
}

/// Creates a fundraiser and returns its path and the `once` token of the form.
async fn create<'a>(visitor: &Visitor, fields: &[(&'a str, &'a str)]) -> (String, String) {
    let once = hidden(&visitor.get(200, NEW).await.text(), "once");
    let sent = [fields, &[("once", once.as_str())]].concat();
    let response = visitor.post(303, NEW, &sent).await;
    (response.header("location").to_owned(), once)
}

async fn read(world: &World, slug: &str) -> Value {
    let path = format!("/v0.2/nonprofit/american-red-cross/fundraiser/{slug}");
    world.client.get(200, &path).await.json["data"]["fundraiser"].clone()
}

async fn a_fundraiser_created_on_the_dashboard_is_in_the_api(world: &World) {
    let visitor = grace(world).await;
    let empty = visitor.get(200, LIST).await.text();
    assert!(empty.contains("No fundraisers yet") && empty.contains(NEW));
    let (url, once) = create(&visitor, &FULL).await;
    assert_eq!(url, format!("{LIST}/{once}"));
    let page = visitor.get(200, &url).await.text();
    for shown in [
        "Fundraiser created",
        "Ada&#39;s &#60;Spring&#62; run",
        "American Red Cross",
        "$1,234.50",
        "$20.00",
        "Open",
        "May 1, 2026",
        "June 30, 2199",
        "For all.",
        "Come!",
        "WhatsApp",
        "http://causeway.test/american-red-cross/f/adas-spring-run",
        "http://causeway.test/v0.2/nonprofit/american-red-cross/fundraiser/adas-spring-run",
    ] {
        assert!(page.contains(shown), "{shown} is missing from {page}");
    }
    let poster = visitor.get(200, &format!("{url}/poster")).await.text();
    assert!(
        poster.contains("Scan to donate")
            && poster.contains("/share/american-red-cross/f/adas-spring-run.svg"),
        "{poster}"
    );
    let created = read(world, "adas-spring-run").await;
    for (field, value) in [
        ("id", json!(once)),
        ("nonprofitId", json!(id_of(RED_CROSS))),
        ("title", json!("Ada's <Spring> run")),
        ("description", json!("For all.\nCome!")),
        ("startDate", json!("2026-05-01T00:00:00.000Z")),
        ("endDate", json!("2199-06-30T23:59:59.999Z")),
        ("goalAmount", json!(123_450)),
        ("raisedOffline", json!(2_000)),
        ("active", json!(true)),
    ] {
        assert_eq!(created[field], value, "{field}");
    }
    let list = visitor.get(200, LIST).await.text();
    assert!(list.contains(&url) && list.contains("American Red Cross") && list.contains("$0.00"));
    assert_ledger(world, 1).await;
}

async fn a_form_sent_twice_creates_one_fundraiser(world: &World) {
    let visitor = grace(world).await;
    let once = hidden(&visitor.get(200, NEW).await.text(), "once");
    let fields = [
        ("nonprofit", "american-red-cross"),
        ("title", "Run"),
        ("once", &once),
    ];
    let (one, other) = tokio::join!(visitor.post(303, NEW, &fields), visitor.post(303, NEW, &fields));
    assert_eq!(one.header("location"), other.header("location"));
    world.app.clock.advance(std::time::Duration::from_hours(48));
    let visitor = Visitor::new(world);
    visitor.sign_in(303, "grace", PASSWORD).await;
    let again = visitor.post(303, NEW, &fields).await;
    assert_eq!(again.header("location"), one.header("location"));
    assert!(
        visitor
            .get(200, one.header("location"))
            .await
            .text()
            .contains("already done")
    );
    assert_eq!(world.texts("select title from fundraisers").await, ["Run"]);
}

async fn a_fundraiser_is_edited_closed_and_reopened(world: &World) {
    let visitor = grace(world).await;
    let (url, _) = create(&visitor, &FULL).await;
    let edit = format!("{url}/edit");
    let form = visitor.get(200, &edit).await.text();
    for value in [
        "value=\"2026-05-01\"",
        "value=\"2199-06-30\"",
        "value=\"$1,234.50\"",
        "value=\"$20.00\"",
        "For all.\nCome!</textarea>",
    ] {
        assert!(form.contains(value), "{value} is missing from {form}");
    }
    let fields = [
        ("title", "Autumn run"),
        ("description", ""),
        ("startDate", ""),
        ("endDate", "2199-06-30"),
        ("goal", ""),
        ("raisedOffline", "$45.05"),
    ];
    for _ in 0..2 {
        assert_eq!(visitor.post(303, &edit, &fields).await.header("location"), url);
    }
    let now = read(world, "adas-spring-run").await;
    assert_eq!(now["title"], "Autumn run");
    assert_eq!(
        (&now["description"], &now["startDate"], &now["goalAmount"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(
        (&now["endDate"], &now["raisedOffline"]),
        (&json!("2199-06-30T23:59:59.999Z"), &json!(4_505))
    );
    assert!(
        visitor
            .get(200, &url)
            .await
            .text()
            .contains("grows automatically")
    );

    assert!(
        visitor
            .get(200, &format!("{url}/close"))
            .await
            .text()
            .contains("Autumn run will stop accepting donations")
    );
    for (action, active, shown) in [
        ("close", false, "Closed"),
        ("close", false, "Closed"),
        ("reopen", true, "Open"),
        ("reopen", true, "Open"),
    ] {
        visitor.get(200, &format!("{url}/{action}")).await;
        visitor.post(303, &format!("{url}/{action}"), &[]).await;
        assert_eq!(read(world, "adas-spring-run").await["active"], active, "{action}");
        assert!(
            visitor
                .get(200, LIST)
                .await
                .text()
                .contains(&format!(">{shown}</span>")),
            "{action}"
        );
    }
    // A change is recorded once, even if it is sent repeatedly.
    assert_eq!(
        world.texts("select change from fundraiser_history").await.len(),
        3
    );
    assert_ledger(world, 2).await;
}

async fn saving_the_form_keeps_the_time_of_an_unchanged_date(world: &World) {
    let visitor = grace(world).await;
    let keys = (
        visitor.create_key("public", "website").await,
        visitor.create_key("private", "server").await,
    );
    let organizer = Organizer {
        client: world.client.clone(),
        basic: basic(&keys.0, &keys.1),
    };
    let created = organizer
        .create_fundraiser(json!({"endDate": "2199-06-01T12:30:00Z"}))
        .await;
    let edit = format!("{LIST}/{}/edit", created["id"].as_str().unwrap());
    let form = visitor.get(200, &edit).await.text();
    assert!(form.contains("value=\"2199-06-01\""));
    visitor
        .post(303, &edit, &[("title", "Run"), ("endDate", "2199-06-01")])
        .await;
    let now = read(world, "spring-run").await;
    assert_eq!(
        (&now["title"], &now["endDate"]),
        (&json!("Run"), &json!("2199-06-01T12:30:00.000Z"))
    );
}

async fn a_stale_form_does_not_undo_newer_changes(world: &World) {
    let visitor = grace(world).await;
    let keys = (
        visitor.create_key("public", "website").await,
        visitor.create_key("private", "server").await,
    );
    let organizer = Organizer {
        client: world.client.clone(),
        basic: basic(&keys.0, &keys.1),
    };
    let (url, id) = create(&visitor, &FULL).await;
    let edit = format!("{url}/edit");
    let shown = hidden(&visitor.get(200, &edit).await.text(), "shown");
    let meanwhile = json!({
        "description": "New", "startDate": "2026-06-01T08:00:00Z", "endDate": null, "goal": 900_000, "raisedOffline": 7_700,
    });
    organizer
        .write(
            200,
            &Method::PATCH,
            &format!("/v0.2/fundraiser/{id}"),
            meanwhile.to_string(),
            &[],
        )
        .await;
    // As the form showed it, except for the title and the notation of the goal.
    let fields = [
        ("title", "Autumn run"),
        ("description", "For all.\r\nCome!"),
        ("startDate", "2026-05-01"),
        ("endDate", "2199-06-30"),
        ("goal", "1234.5"),
        ("raisedOffline", "$20.00"),
        ("shown", &shown),
    ];
    let refused = [&[("title", "")], &fields[1..]].concat();
    let page = visitor.post(422, &edit, &refused).await.text();
    assert_eq!(hidden(&page, "shown"), shown);
    visitor.post(303, &edit, &fields).await;
    let now = read(world, "adas-spring-run").await;
    for (field, value) in [
        ("title", json!("Autumn run")),
        ("description", json!("New")),
        ("startDate", json!("2026-06-01T08:00:00.000Z")),
        ("endDate", Value::Null),
        ("goalAmount", json!(900_000)),
        ("raisedOffline", json!(7_700)),
    ] {
        assert_eq!(now[field], value, "{field}");
    }
    let changes = world
        .texts("select change from fundraiser_history order by version")
        .await;
    assert!(
        changes.len() == 2 && changes[1].contains("title") && !changes[1].contains("goal"),
        "{changes:?}"
    );
    // An edited field wins over a concurrent change.
    let touched = [&[("goal", "$5")], &fields[..4], &fields[5..]].concat();
    visitor.post(303, &edit, &touched).await;
    let now = read(world, "adas-spring-run").await;
    assert_eq!(
        (&now["goalAmount"], &now["raisedOffline"]),
        (&json!(500), &json!(7_700))
    );
    assert_ledger(world, 2).await;
}

async fn a_fundraiser_of_another_account_is_not_found(world: &World) {
    let organizer = Organizer::new(world).await;
    let id = organizer.create_fundraiser(json!({})).await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let visitor = Visitor::new(world);
    visitor.get(303, LIST).await;
    visitor.sign_up("grace").await;
    for id in [id.as_str(), "x", "%00", "00000000-0000-0000-0000-000000000000"] {
        for path in ["", "/edit", "/close", "/reopen"] {
            visitor.get(404, &format!("{LIST}/{id}{path}")).await;
        }
        for path in ["/edit", "/close", "/reopen"] {
            visitor
                .post(404, &format!("{LIST}/{id}{path}"), &[("title", "Mine")])
                .await;
        }
    }
    let fields = [("nonprofit", RED_CROSS), ("title", "Mine"), ("once", id.as_str())];
    let response = visitor.post(303, NEW, &fields).await;
    visitor.get(404, response.header("location")).await;
    assert!(visitor.get(200, LIST).await.text().contains("No fundraisers yet"));
    assert_eq!(world.texts("select title from fundraisers").await, ["Spring run"]);
    assert!(
        world
            .texts("select change from fundraiser_history")
            .await
            .is_empty()
    );
}

async fn invalid_input_is_reported_by_field_and_kept_in_the_form(world: &World) {
    let visitor = grace(world).await;
    let (url, _) = create(&visitor, &FULL).await;
    let edit = format!("{url}/edit");
    let once = hidden(&visitor.get(200, NEW).await.text(), "once");
    let long = "x".repeat(121);
    let longest = "x".repeat(20_001);
    for (field, typed, expected) in [
        ("nonprofit", "", "Enter the nonprofit’s name"),
        ("nonprofit", "zzqqxxjj", "We could not find this nonprofit"),
        (
            "nonprofit",
            "\u{202e}<zzqqxxjj>",
            "We could not find this nonprofit",
        ),
        (
            "nonprofit",
            "ddacc399-20c5-462e-80e1-97fa958071ea",
            "We could not find this nonprofit",
        ),
        ("nonprofit", AARP, "This nonprofit cannot receive donations"),
        ("title", " ", "The title must have 1 to 120 characters"),
        ("title", &long, "The title must have 1 to 120 characters"),
        ("title", "a\nb", "The title must be one line"),
        (
            "description",
            &longest,
            "The description must have at most 20,000 characters",
        ),
        ("startDate", "next week", "Enter a date as year, month and day"),
        ("startDate", "2026-02-30", "Enter a date as year, month and day"),
        ("startDate", "9999-01-01", "a date between 1970 and 2199"),
        ("startDate", "2199-07-01", "The end must be after the start"),
        ("endDate", "2026-04-30", "The end must be after the start"),
        ("goal", "lots", "Enter an amount in dollars"),
        ("goal", "1.234,50", "Enter an amount in dollars"),
        ("goal", "10000000000.01", "Enter an amount in dollars"),
        ("goal", "0", "Enter an amount greater than $0"),
        ("raisedOffline", "-5", "Enter an amount in dollars"),
        ("raisedOffline", "1,000,000.01", "Report at most $1,000,000.00"),
    ] {
        let fields: Vec<_> = FULL
            .iter()
            .map(|(name, value)| (*name, if *name == field { typed } else { value }))
            .collect();
        let sent = [fields.as_slice(), &[("once", once.as_str())]].concat();
        let mut pages = vec![visitor.post(422, NEW, &sent).await.text()];
        if field != "nonprofit" {
            pages.push(visitor.post(422, &edit, &fields).await.text());
        }
        for page in pages {
            assert!(
                page.contains(expected) && page.contains("aria-invalid"),
                "{field} {typed:.40}: {page:.3000}"
            );
            assert!(
                page.contains("Ada&#39;s &#60;Spring&#62; run") || field == "title",
                "{field}"
            );
            assert!(page.contains("$1,234.50") || field == "goal", "{field}");
            assert!(!page.contains("<zzqqxxjj>"));
        }
    }
    let all = [
        ("nonprofit", ""),
        ("title", ""),
        ("startDate", "x"),
        ("goal", "x"),
        ("raisedOffline", "x"),
        ("once", once.as_str()),
    ];
    let page = visitor.post(422, NEW, &all).await.text();
    for field in ["nonprofit", "title", "startDate", "goal", "raisedOffline"] {
        assert!(page.contains(&format!("href=\"#{field}\"")), "{field}");
    }
    // The hidden field is required.
    visitor.post(415, NEW, &FULL).await;
    assert_eq!(world.texts("select title from fundraisers").await.len(), 1);
    assert!(
        world
            .texts("select change from fundraiser_history")
            .await
            .is_empty()
    );
}

async fn a_long_list_is_paged_and_creating_is_rate_limited(world: &World) {
    world.app.clock.stop();
    let visitor = grace(world).await;
    let limit = world.app.config.limits.of_class(access::keys::Class::Create);
    for number in 0..limit {
        create(
            &visitor,
            &[("nonprofit", RED_CROSS), ("title", &format!("Run {number}."))],
        )
        .await;
    }
    let once = hidden(&visitor.get(200, NEW).await.text(), "once");
    let fields = [
        ("nonprofit", RED_CROSS),
        ("title", "One too many"),
        ("once", &once),
    ];
    let page = visitor.post(429, NEW, &fields).await;
    assert!(page.text().contains("One too many") && page.text().contains("too quickly"));
    let first = visitor.get(200, LIST).await.text();
    assert_eq!(first.matches("class=\"card key").count(), 20);
    assert!(first.contains("Run 29.") && !first.contains(">Newer<"));
    let older = between(&first, "<a href=\"/dashboard/fundraisers?", "\">Older").unwrap();
    let second = visitor.get(200, &format!("{LIST}?{older}")).await.text();
    assert!(second.contains("Run 0.") && second.contains(">Newer<") && !second.contains(">Older<"));
    for page in ["0", "x", "-1"] {
        assert!(
            visitor
                .get(200, &format!("{LIST}?page={page}"))
                .await
                .text()
                .contains("Run 29.")
        );
    }
    let past = visitor
        .get(200, &format!("{LIST}?page=99999999999999999999"))
        .await
        .text();
    assert!(past.contains("no more fundraisers") && past.contains("?page=2\">Newer"));
}
