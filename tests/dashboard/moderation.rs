//! What operators do to accounts, fundraisers and comments, and what becomes of the fundraisers of a deleted account.

use super::operator::operator;
use super::visitor::{PASSWORD, Visitor, between, emails, hidden};
use crate::api::fundraisers::{Organizer, basic};
use crate::site::media::picture_file;
use crate::wait::eventually;
use crate::world::World;
use access::accounts::store::{self as accounts, profile};
use axum::http::Method;
use giving::fundraisers::review::Review;
use serde_json::json;

on_both_databases!(
    deleting_an_account_closes_its_fundraisers,
    a_blocked_key_stops_its_account_from_creating,
    a_suspended_account_cannot_do_anything_until_it_is_restored,
    an_operator_reviews_fundraisers_with_one_click,
    operators_see_large_reported_amounts,
    an_operator_removes_a_comment,
    an_operator_removes_a_display_name_and_a_picture,
    an_operator_finds_donations_and_exposed_keys,
    moderation_pages_are_only_for_operators,
);

const NEW: &str = "/dashboard/fundraisers/new";
const RUN: &str = "/american-red-cross/f/spring-run";

/// Signs up and creates a fundraiser; returns the visitor and its ID.
async fn organizer(world: &World, username: &str) -> (Visitor, String) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up(username).await;
    let id = create(&visitor, "Spring run").await;
    (visitor, id)
}

async fn create(visitor: &Visitor, title: &str) -> String {
    let once = hidden(&visitor.get(200, NEW).await.text(), "once");
    let fields = [
        ("nonprofit", "american-red-cross"),
        ("title", title),
        ("once", &once),
    ];
    visitor.post(303, NEW, &fields).await;
    once
}

async fn statuses(world: &World) -> Vec<String> {
    world
        .texts("select title || case when closed_at is null then ' open' else ' closed' end from fundraisers order by id")
        .await
}

async fn deleting_an_account_closes_its_fundraisers(world: &World) {
    let (visitor, _) = organizer(world, "grace").await;
    create(&visitor, "Autumn run").await;
    let donor = Visitor::new(world);
    donor.get(200, &format!("{RUN}/give")).await;
    visitor
        .post(
            422,
            "/dashboard/settings/delete",
            &[("current", "wrong password")],
        )
        .await;
    assert_eq!(statuses(world).await, ["Spring run open", "Autumn run open"]);
    visitor
        .post(303, "/dashboard/settings/delete", &[("current", PASSWORD)])
        .await;
    assert_eq!(statuses(world).await, ["Spring run closed", "Autumn run closed"]);
    // At once, although the page was cached.
    let form = donor.get(200, &format!("{RUN}/give")).await.text();
    assert!(form.contains("not open"), "{form}");
    assert!(donor.get(200, RUN).await.text().contains("Closed on"));
    assert_eq!(
        world
            .texts("select kind from outbox where kind = 'fundraiser_closed'")
            .await
            .len(),
        2
    );
}

async fn a_blocked_key_stops_its_account_from_creating(world: &World) {
    let (visitor, _) = organizer(world, "grace").await;
    visitor.create_key("public", "website").await;
    let id = between(&visitor.get(200, "/dashboard").await.text(), "id=\"key-", "\"").unwrap();
    let key_form = hidden(&visitor.get(200, "/dashboard/keys/new").await.text(), "once");
    let fundraiser_form = hidden(&visitor.get(200, NEW).await.text(), "once");
    let operator = operator(world).await;
    let page = format!("/dashboard/operator/keys/{id}");
    operator
        .post(303, &format!("{page}/block"), &[("reason", "Too many calls")])
        .await;
    // Revoking the key does not help.
    visitor
        .post(303, &format!("/dashboard/keys/{id}/revoke"), &[])
        .await;
    let key = [("name", "next"), ("kind", "public"), ("once", &key_form)];
    let fundraiser = [
        ("nonprofit", "american-red-cross"),
        ("title", "Run"),
        ("once", &fundraiser_form),
    ];
    for url in ["/dashboard/keys/new", NEW] {
        let refused = visitor.get(403, url).await.text();
        assert!(
            refused.contains("An operator has blocked one of your keys"),
            "{refused}"
        );
    }
    visitor.post(403, "/dashboard/keys/new", &key).await;
    visitor.post(403, NEW, &fundraiser).await;
    assert_eq!(statuses(world).await, ["Spring run open"]);
    operator.post(303, &format!("{page}/unblock"), &[]).await;
    visitor.post(200, "/dashboard/keys/new", &key).await;
    visitor.post(303, NEW, &fundraiser).await;
}

async fn a_suspended_account_cannot_do_anything_until_it_is_restored(world: &World) {
    let (visitor, id) = organizer(world, "grace").await;
    let public = visitor.create_key("public", "website").await;
    let private = visitor.create_key("private", "server").await;
    let client = world.client.with_key(&public);
    let basic = basic(&public, &private);
    let headers = [("authorization", basic.as_str())];
    client.details(200, "530196605").await;
    let (app, other) = world.restart().await;
    let other = other.with_key(&public);
    other.details(200, "530196605").await;
    let background = tokio::spawn(causeway::server::background::run(app.clone()));

    let operator = operator(world).await;
    let page = "/dashboard/operator/accounts/grace";
    let shown = operator.get(200, page).await.text();
    assert!(
        shown.contains("grace@example.org") && shown.contains("Spring run"),
        "{shown}"
    );
    operator
        .post(422, &format!("{page}/suspend"), &[("reason", " ")])
        .await;
    let reason = "Fake causes <b>";
    operator
        .post(303, &format!("{page}/suspend"), &[("reason", reason)])
        .await;

    // Keys, here and on other servers.
    assert_eq!(client.details(403, "530196605").await.code(), "blocked_key");
    client
        .send(403, &Method::GET, "/v0.2/fundraisers", &headers)
        .await;
    eventually("the other server stops the key", async || {
        let (status, _) = other.get_any("/v0.2/nonprofit/530196605").await;
        (status == 403).then_some(())
    })
    .await;
    // The owner learns why.
    let sent = emails(world, 1).await;
    let notice = sent
        .iter()
        .find(|email| email.contains("Subject: Your account was suspended"));
    let notice = notice.unwrap_or_else(|| panic!("{sent:?}"));
    assert!(
        notice.contains("To: grace@example.org") && notice.contains("Fake causes"),
        "{notice}"
    );
    assert!(
        notice.contains("From: Causeway <"),
        "the sender has the name of the site: {notice}"
    );
    // Fundraisers and sessions.
    assert_eq!(statuses(world).await, ["Spring run closed"]);
    visitor.get(303, "/dashboard").await;
    let refused = Visitor::new(world).sign_in(403, "grace", PASSWORD).await.text();
    assert!(
        refused.contains("suspended") && refused.contains("Fake causes &#60;b&#62;"),
        "{refused}"
    );
    Visitor::new(world)
        .sign_in(422, "grace", "not the password")
        .await;
    let listed = operator
        .get(200, "/dashboard/operator/accounts?account=grace")
        .await
        .text();
    assert!(listed.contains("Suspended"), "{listed}");

    operator.post(303, &format!("{page}/restore"), &[]).await;
    client.details(200, "530196605").await;
    eventually("the key works again on the other server", async || {
        let (status, _) = other.get_any("/v0.2/nonprofit/530196605").await;
        (status == 200).then_some(())
    })
    .await;
    assert_eq!(statuses(world).await, ["Spring run closed"]);
    visitor.sign_in(303, "grace", PASSWORD).await;
    visitor
        .post(303, &format!("/dashboard/fundraisers/{id}/reopen"), &[])
        .await;
    assert_eq!(statuses(world).await, ["Spring run open"]);
    let audit = operator.get(200, "/dashboard/operator/audit").await.text();
    for shown in ["account suspend", "Fake causes &#60;b&#62;", "account restore"] {
        assert!(audit.contains(shown), "{shown}: {audit}");
    }
    // An operator cannot lock themselves out.
    let own = "/dashboard/operator/accounts/olga/suspend";
    operator.post(422, own, &[("reason", "x")]).await;
    background.abort();
    app.db.close().await;
}

async fn operators_see_large_reported_amounts(world: &World) {
    let organizer = Organizer::new(world).await;
    for (title, cents) in [
        ("Small run", 9_999_999),
        ("Large run", 10_000_000),
        ("Larger run", 20_000_000),
    ] {
        let fields = json!({"title": title, "raisedOffline": cents});
        organizer.create_fundraiser(fields).await;
    }
    let operator = operator(world).await;
    let list = operator
        .get(200, "/dashboard/operator/fundraisers?show=reported")
        .await
        .text();
    let place = |title: &str| list.find(&format!("<bdi>{title}</bdi>"));
    assert!(
        place("Larger run").is_some() && place("Larger run") < place("Large run"),
        "{list}"
    );
    assert!(
        place("Small run").is_none() && list.contains("$100,000.00 reported"),
        "{list}"
    );
}

async fn an_operator_reviews_fundraisers_with_one_click(world: &World) {
    let (visitor, first) = organizer(world, "grace").await;
    let mut config = world.app.config.clone();
    config.fundraisers.review = Review::All;
    let app = causeway::app::App::build(config).await.unwrap();
    let reviewed = Visitor::with_client(&crate::client::Client::new(&app, ""));
    reviewed.sign_in(303, "grace", PASSWORD).await;
    let second = create(&reviewed, "Autumn run").await;
    let third = create(&reviewed, "Winter run").await;
    let own = reviewed
        .get(200, &format!("/dashboard/fundraisers/{second}"))
        .await
        .text();
    assert!(
        own.contains("In review") && own.contains("Until an operator approves it"),
        "{own}"
    );

    let operator = operator(world).await;
    let list = "/dashboard/operator/fundraisers";
    let accounts = operator.get(200, "/dashboard/operator/accounts").await.text();
    assert_eq!(
        between(&accounts, "id=\"open-reviews\">", "<").as_deref(),
        Some("2"),
        "{accounts}"
    );
    let waiting = operator.get(200, list).await.text();
    assert!(
        waiting.contains("Autumn run") && waiting.contains("Winter run") && !waiting.contains("Spring run")
    );
    operator.post(303, &format!("{list}/{second}/show"), &[]).await;
    // One click sends the reason that the page suggests.
    let suggested = between(
        &waiting,
        &format!("id=\"reason-{third}\" name=\"reason\" type=\"text\" value=\""),
        "\"",
    );
    operator
        .post(
            303,
            &format!("{list}/{third}/hide"),
            &[("reason", &suggested.unwrap())],
        )
        .await;
    operator
        .post(303, &format!("{list}/{third}/hide"), &[("reason", "Not true")])
        .await;
    operator
        .post(422, &format!("{list}/{third}/hide"), &[("reason", "")])
        .await;
    world
        .client
        .get_plain(200, "/american-red-cross/f/autumn-run")
        .await;
    world
        .client
        .get_plain(404, "/american-red-cross/f/winter-run")
        .await;
    let accounts = operator.get(200, "/dashboard/operator/accounts").await.text();
    assert!(!accounts.contains("open-reviews"));
    let hidden_list = operator.get(200, &format!("{list}?show=hidden")).await.text();
    assert!(hidden_list.contains("Winter run") && !hidden_list.contains("Autumn run"));
    let all = operator.get(200, &format!("{list}?show=all")).await.text();
    assert!(all.contains(&first) && all.contains(&second) && all.contains(&third));
    let own = visitor
        .get(200, &format!("/dashboard/fundraisers/{third}"))
        .await
        .text();
    assert!(own.contains("Not true"), "{own}");
    operator
        .post(
            404,
            &format!("{list}/00000000-0000-0000-0000-000000000000/show"),
            &[],
        )
        .await;
    app.db.close().await;
}

/// Gives to the fundraiser with a public name and a message, and returns the path of the receipt.
async fn comment(world: &World, name: &str, message: &str) -> String {
    let donor = Visitor::new(world);
    let give = format!("{RUN}/give");
    let once = hidden(&donor.get(200, &give).await.text(), "once");
    let fields = [
        ("amount", "20"),
        ("name", name),
        ("public", "yes"),
        ("message", message),
        ("email", "donor@example.org"),
        ("once", &once),
    ];
    let donation = donor
        .post(303, &give, &fields)
        .await
        .header("location")
        .to_owned();
    donor.post(303, &donation, &[("card", "4242424242424242")]).await;
    donation
}

async fn an_operator_removes_a_comment(world: &World) {
    let (_, id) = organizer(world, "grace").await;
    comment(world, "Rude Rudi", "You all <b>smell</b>").await;
    comment(world, "Kind Kim", "Well done").await;
    let page = world.client.get_plain(200, RUN).await.text();
    assert!(page.contains("Rude Rudi") && page.contains("smell") && page.contains("Kind Kim"));
    let operator = operator(world).await;
    let path = format!("/dashboard/operator/fundraisers/{id}");
    let shown = operator.get(200, &path).await.text();
    assert!(
        shown.contains("Rude Rudi") && !shown.contains("<b>smell"),
        "{shown}"
    );
    for _ in 0..2 {
        operator
            .post(303, &format!("{path}/comments/remove"), &[("entry", "1")])
            .await;
    }
    operator
        .post(303, &format!("{path}/comments/remove"), &[("entry", "99")])
        .await;
    let page = world.client.get_plain(200, RUN).await.text();
    assert!(!page.contains("Rude Rudi") && !page.contains("smell"), "{page}");
    assert!(
        page.contains("Kind Kim") && page.contains("Anonymous") && page.contains("$40.00"),
        "{page}"
    );
    assert!(!operator.get(200, &path).await.text().contains("Rude Rudi"));
    assert_eq!(
        world
            .texts("select act || ' ' || detail from audit where act = 'comment remove'")
            .await,
        ["comment remove entry 1"]
    );
    let check = giving::check::check(&world.app.db).await.unwrap();
    assert_eq!(check.errors, Vec::<String>::new());
}

async fn an_operator_finds_donations_and_exposed_keys(world: &World) {
    let (visitor, id) = organizer(world, "grace").await;
    let receipt = comment(world, "Kind Kim", "Well done").await;
    comment(world, "Ada", "").await;
    let donor = Visitor::new(world);
    let give = "/american-red-cross/give";
    let once = hidden(&donor.get(200, give).await.text(), "once");
    let started = donor.post(303, give, &[("amount", "5"), ("once", &once)]).await;
    let unpaid = started.header("location").rsplit('/').next().unwrap().to_owned();
    let private = visitor.create_key("private", "server").await;
    world.client.with_key(&private).get_any("/v0.2/search/red").await;

    let operator = operator(world).await;
    let list = "/dashboard/operator/donations";
    let all = operator.get(200, list).await.text();
    assert!(
        all.contains("Donations found: 2") && all.contains("Kind Kim") && all.contains("Ada"),
        "{all}"
    );
    for (filter, count) in [
        (format!("fundraiser={id}"), 2),
        ("nonprofit=53-0196605".to_owned(), 2),
        ("nonprofit=aarp".to_owned(), 0),
        ("source=site&from=2020-01-01&until=2199-01-01".to_owned(), 2),
        ("source=shop".to_owned(), 0),
        ("until=2020-01-01".to_owned(), 0),
        ("from=2199-01-01".to_owned(), 0),
        (
            "from=nonsense&fundraiser=%00&nonprofit=nobody-at-all&page=7".to_owned(),
            2,
        ),
    ] {
        let page = operator.get(200, &format!("{list}?{filter}")).await.text();
        assert_eq!(page.matches("<th scope=\"row\">").count(), count, "{filter}");
    }
    let checkout = receipt.rsplit('/').next().unwrap();
    for id in ["1", checkout] {
        let page = operator.get(200, &format!("{list}/{id}")).await.text();
        for shown in [
            "Kind Kim",
            "donor@example.org",
            "$20.00",
            "completed",
            "Spring run",
            "Well done",
        ] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
    }
    let unpaid = operator.get(200, &format!("{list}/{unpaid}")).await.text();
    assert!(unpaid.contains("started") && unpaid.contains("$5.00"), "{unpaid}");
    for missing in ["99", "x", "00000000-0000-0000-0000-000000000000"] {
        operator.get(404, &format!("{list}/{missing}")).await;
    }
    let keys = operator
        .get(200, "/dashboard/operator/keys?account=grace")
        .await
        .text();
    assert!(keys.contains("Exposed"), "{keys}");
}

async fn an_operator_removes_a_display_name_and_a_picture(world: &World) {
    let (_, _) = organizer(world, "grace").await;
    let (operator, visitor) = (operator(world).await, Visitor::new(world));
    let page = "/dashboard/operator/accounts/grace";
    let empty = operator.get(200, page).await.text();
    assert!(empty.contains("neither a display name nor a picture"), "{empty}");
    let picture = world.app.pictures.add(picture_file(1, 40, 40)).await.unwrap().id;
    let id = accounts::find(&world.app.db, "grace").await.unwrap().unwrap().id;
    let set = profile::update(&world.app.db, id, Some("A rude word"), Some(&picture));
    set.await.unwrap();
    let shown = visitor.get(200, RUN).await.text();
    assert!(
        shown.contains("A rude word") && shown.contains(&picture),
        "{shown}"
    );
    let shown = operator.get(200, page).await.text();
    assert!(
        shown.contains("A rude word") && shown.contains(&picture),
        "{shown}"
    );

    for (part, title) in [
        ("remove-name", "Remove display name"),
        ("remove-picture", "Remove picture"),
    ] {
        let url = format!("{page}/{part}");
        let confirm = operator.get(200, &url).await.text();
        assert!(
            confirm.contains(title) && confirm.contains("by grace"),
            "{confirm}"
        );
        operator.post(303, &url, &[]).await;
        let done = operator.get(200, page).await.text();
        assert!(done.contains("removed."), "{done}");
        operator.post(303, &url, &[]).await;
        let again = operator.get(200, page).await.text();
        assert!(!again.contains("removed."), "{again}");
    }
    let shown = visitor.get(200, RUN).await.text();
    assert!(shown.contains("grace"), "{shown}");
    assert!(
        !shown.contains("A rude word") && !shown.contains(&picture),
        "{shown}"
    );
    visitor.get(404, &format!("/media/{picture}")).await;
    let audit = world
        .texts("select act || ' ' || subject || ' ' || detail from audit where act like 'account remove%' order by id");
    assert_eq!(
        audit.await,
        ["account remove-name grace ", "account remove-picture grace "]
    );
}

async fn moderation_pages_are_only_for_operators(world: &World) {
    let (visitor, id) = organizer(world, "grace").await;
    let base = "/dashboard/operator";
    for path in [
        "/fundraisers",
        "/reports",
        "/donations",
        "/donations/1",
        "/accounts/grace",
        "/accounts/grace/remove-name",
        "/accounts/grace/remove-picture",
    ] {
        visitor.get(403, &format!("{base}{path}")).await;
    }
    for path in [
        format!("/fundraisers/{id}/hide"),
        format!("/fundraisers/{id}/show"),
        format!("/fundraisers/{id}/comments/remove"),
        "/accounts/olga/suspend".to_owned(),
        "/accounts/grace/restore".to_owned(),
        "/accounts/grace/remove-name".to_owned(),
        "/accounts/grace/remove-picture".to_owned(),
        format!("/reports/{id}/close"),
        format!("/reports/{id}/hide"),
    ] {
        visitor
            .post(403, &format!("{base}{path}"), &[("reason", "x"), ("entry", "1")])
            .await;
    }
    let other = Visitor::new(world);
    other
        .post(303, &format!("{base}/accounts/grace/suspend"), &[("reason", "x")])
        .await;
    visitor.get(200, "/dashboard").await;
}
