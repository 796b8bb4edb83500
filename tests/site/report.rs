//! "Report this" on fundraisers and nonprofits.

use crate::dashboard::operator::operator;
use crate::dashboard::visitor::{Visitor, between, hidden};
use crate::site::feeds::create_fundraiser;
use crate::world::World;
use access::accounts::attempts::REPORTS;

on_both_databases!(
    a_report_reaches_the_operators_who_close_it,
    an_operator_hides_a_reported_fundraiser,
    invalid_reports_are_refused_and_reports_are_throttled,
);

const NONPROFIT: &str = "/american-red-cross";
const LIST: &str = "/dashboard/operator/reports";

async fn report(visitor: &Visitor, page: &str, reason: &str, details: &str, email: &str) {
    let shown = visitor.get(200, page).await.text();
    let form =
        between(&shown, "<a href=\"", "\" rel=\"nofollow\">Report this").unwrap_or_else(|| panic!("{shown}"));
    let form = form.rsplit("href=\"").next().unwrap().to_owned();
    let once = hidden(&visitor.get(200, &form).await.text(), "once");
    let fields = [
        ("reason", reason),
        ("details", details),
        ("email", email),
        ("once", &once),
    ];
    // Sent twice, it is one report.
    for _ in 0..2 {
        let thanks = visitor.post(200, &form, &fields).await.text();
        assert!(thanks.contains("Thank you for your report"), "{thanks}");
    }
}

async fn a_report_reaches_the_operators_who_close_it(world: &World) {
    world.load_demo().await;
    let (slug, _) = create_fundraiser(world, "Spring run", "We run for **shelter**.").await;
    let visitor = Visitor::new(world);
    report(
        &visitor,
        NONPROFIT,
        "misleading",
        "Wrong <b>logo</b>\r\nSee site",
        "",
    )
    .await;
    let page = format!("{NONPROFIT}/f/{slug}");
    report(&visitor, &page, "fraud", "Not their event", "Eve@example.org").await;

    let operator = operator(world).await;
    let accounts = operator.get(200, "/dashboard/operator/accounts").await.text();
    assert_eq!(
        between(&accounts, "id=\"open-reports\">", "<").as_deref(),
        Some("2"),
        "{accounts}"
    );
    let open = operator.get(200, LIST).await.text();
    for shown in [
        "American Red Cross",
        "href=\"/american-red-cross\"",
        "It is false or misleading",
        "Wrong &#60;b&#62;logo&#60;/b&#62;\nSee site",
        "Spring run",
        "It looks like a scam",
        "eve@example.org",
        "We run for shelter.",
        "Created by <a href=\"/dashboard/operator/accounts/",
    ] {
        assert!(open.contains(shown), "{shown}: {open}");
    }
    let id = between(&open, "action=\"/dashboard/operator/reports/", "/close").unwrap();
    for _ in 0..2 {
        operator.post(303, &format!("{LIST}/{id}/close"), &[]).await;
    }
    let (open, closed) = (
        operator.get(200, LIST).await.text(),
        operator.get(200, &format!("{LIST}?show=closed")).await.text(),
    );
    assert!(
        !open.contains("See site") && open.contains("Not their event"),
        "{open}"
    );
    assert!(
        closed.contains("See site") && !closed.contains("Not their event"),
        "{closed}"
    );
    assert_eq!(
        world
            .texts("select act from audit where act like 'report%'")
            .await,
        ["report close"]
    );
    operator.post(404, &format!("{LIST}/x/close"), &[]).await;
}

async fn an_operator_hides_a_reported_fundraiser(world: &World) {
    world.load_demo().await;
    let (slug, _) = create_fundraiser(world, "Spring run", "").await;
    let page = format!("{NONPROFIT}/f/{slug}");
    let visitor = Visitor::new(world);
    report(&visitor, &page, "fraud", "Not their event", "").await;
    report(&visitor, NONPROFIT, "other", "Hello", "").await;
    let operator = operator(world).await;
    let open = operator.get(200, LIST).await.text();
    let ids: Vec<&str> = open
        .split("action=\"/dashboard/operator/reports/")
        .skip(1)
        .filter_map(|rest| rest.split_once("/close").map(|(id, _)| id))
        .filter(|id| id.len() == 36)
        .collect();
    assert_eq!(ids.len(), 2, "{open}");
    // The reason is for the creator, so an empty or long one is not accepted.
    for reason in [String::new(), "a".repeat(501)] {
        let path = format!("{LIST}/{}/hide", ids[0]);
        operator.post(422, &path, &[("reason", &reason)]).await;
    }
    visitor.get(200, &page).await;
    operator
        .post(303, &format!("{LIST}/{}/hide", ids[0]), &[("reason", "A scam")])
        .await;
    // A nonprofit cannot be hidden.
    operator
        .post(404, &format!("{LIST}/{}/hide", ids[1]), &[("reason", "A scam")])
        .await;
    visitor.get(404, &page).await;
    visitor.get(200, NONPROFIT).await;
    assert!(!operator.get(200, LIST).await.text().contains("Spring run"));
    assert_eq!(
        world
            .texts("select hidden_reason from fundraisers where hidden_at is not null")
            .await,
        ["A scam"]
    );
}

async fn invalid_reports_are_refused_and_reports_are_throttled(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::with_client(&world.client.at([203, 0, 113, 7]));
    let form = format!("{NONPROFIT}/report");
    let once = hidden(&visitor.get(200, &form).await.text(), "once");
    let long = "x".repeat(2_001);
    for (reason, details, email) in [
        ("", "Hello", ""),
        ("nonsense", "Hello", ""),
        ("fraud", " ", ""),
        ("fraud", &long, ""),
        ("fraud", "a\u{0}b", ""),
        ("fraud", "Hello", "nobody"),
    ] {
        let fields = [
            ("reason", reason),
            ("details", details),
            ("email", email),
            ("once", &once),
        ];
        let page = visitor.post(422, &form, &fields).await.text();
        assert!(page.contains("Please fix the following"), "{page}");
    }
    visitor.post(404, "/no-such-nonprofit/report", &[]).await;
    visitor.get(404, "/american-red-cross/f/no-such-run/report").await;
    let valid = |once: &str| {
        [("reason", "fraud"), ("details", "Hello"), ("once", once)].map(|(a, b)| (a, b.to_owned()))
    };
    let mut sent = 0;
    loop {
        let id = uuid::Uuid::now_v7().to_string();
        let fields = valid(&id);
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        match visitor.post_any(&form, &fields).await {
            200 => sent += 1,
            429 => break,
            status => panic!("{status}"),
        }
    }
    assert_eq!(sent, REPORTS.attempts());
    // Other networks are not affected.
    let other = Visitor::with_client(&world.client.at([203, 0, 113, 8]));
    let id = uuid::Uuid::now_v7().to_string();
    let fields = valid(&id);
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    other.post(200, &form, &fields).await;
}
