//! Fundraisers that operators hide or review.

use super::create::PIXEL;
use super::{Organizer, RED_CROSS, SPECIAL, id_of};
use crate::client::Client;
use crate::dashboard::visitor::{Visitor, emails, hidden};
use crate::site::media::picture_file;
use crate::wait::eventually;
use crate::world::World;
use access::accounts::{Username, operators, store as accounts};
use access::audit::Actor;
use access::keys::{KeyText, Kind, store as keys};
use axum::http::Method;
use causeway::app::App;
use giving::fundraisers::moderate::Decision;
use giving::fundraisers::review::Review;
use platform::ids::FundraiserId;
use serde_json::{Value, json};
use uuid::Uuid;

on_both_databases!(
    a_fundraiser_tells_its_status,
    a_hidden_fundraiser_is_only_for_its_owner_and_operators,
    a_hidden_fundraiser_takes_no_donations_and_old_receipts_stay,
    an_uploaded_cover_is_hidden_with_its_fundraisers,
    an_uploaded_cover_waits_for_the_review,
    a_decision_reaches_other_servers,
    the_first_fundraiser_of_an_account_waits_for_a_review,
    every_fundraiser_waits_for_a_review,
);

const READ: &str = "/v0.2/nonprofit/american-red-cross/fundraiser/spring-run";
const PAGE: &str = "/american-red-cross/f/spring-run";

fn id(fundraiser: &Value) -> FundraiserId {
    FundraiserId(Uuid::try_parse(fundraiser["id"].as_str().unwrap()).unwrap())
}

async fn decide(app: &App, fundraiser: &Value, decision: Decision) {
    app.moderation()
        .decide(id(fundraiser), decision, Actor::Command)
        .await
        .unwrap();
}

fn hide() -> Decision {
    Decision::Hide("The story is <not> true.".to_owned())
}

/// A client with the public key of another account.
async fn other_client(world: &World, username: &str) -> Client {
    let username = Username::parse(username).unwrap();
    let account = accounts::insert_without_password(&world.app.db, &username, None, false, 0)
        .await
        .unwrap()
        .unwrap();
    let text = KeyText::generate(Kind::Public);
    keys::insert(&world.app.db, account, "other", &text, 0)
        .await
        .unwrap();
    world.client.with_key(text.expose())
}

/// Calls a tool of the Model Context Protocol for the fundraiser, and returns the response.
async fn call_tool(client: &Client, tool: &str) -> String {
    let url = format!("/mcp?apiKey={}", client.key);
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let arguments = json!({"nonprofit": "american-red-cross", "fundraiser": "spring-run"});
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    client
        .send_body(200, &Method::POST, &url, &headers, body)
        .await
        .text()
}

async fn status(organizer: &Organizer) -> Value {
    let read = organizer.write(200, &Method::GET, READ, "", &[]).await.json;
    json!([
        read["data"]["fundraiser"]["status"],
        read["data"]["fundraiser"]["active"]
    ])
}

async fn a_fundraiser_tells_its_status(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    assert_eq!(
        (&created["status"], &created["active"]),
        (&json!("PUBLISHED"), &json!(true))
    );
    let path = format!("/v0.2/fundraiser/{}", created["id"].as_str().unwrap());
    let closed = organizer
        .write(200, &Method::POST, &format!("{path}/close"), "", &[])
        .await;
    assert_eq!(closed.json["data"]["fundraiser"]["status"], "CLOSED");
    assert_eq!(status(&organizer).await, json!(["CLOSED", false]));
    organizer
        .write(200, &Method::POST, &format!("{path}/reopen"), "", &[])
        .await;
    assert_eq!(status(&organizer).await, json!(["PUBLISHED", true]));
    decide(&world.app, &created, hide()).await;
    assert_eq!(status(&organizer).await, json!(["HIDDEN", false]));
    // The owner can edit and close it, but not show it.
    let renamed = organizer
        .write(
            200,
            &Method::PATCH,
            &path,
            json!({"title": "A true story"}).to_string(),
            &[],
        )
        .await;
    assert_eq!(renamed.json["data"]["fundraiser"]["status"], "HIDDEN");
    let reopened = organizer
        .write(200, &Method::POST, &format!("{path}/reopen"), "", &[])
        .await;
    assert_eq!(reopened.json["data"]["fundraiser"]["status"], "HIDDEN");
    let own = organizer
        .write(200, &Method::GET, "/v0.2/fundraisers", "", &[])
        .await;
    assert_eq!(own.json["fundraisers"][0]["status"], "HIDDEN");
    decide(&world.app, &created, Decision::Show).await;
    assert_eq!(status(&organizer).await, json!(["PUBLISHED", true]));
    let audit = world
        .texts("select act || ' ' || detail from audit where act like 'fundraiser%' order by id")
        .await;
    assert_eq!(
        audit,
        ["fundraiser hide The story is <not> true.", "fundraiser show "]
    );
}

/// Every URL that shows a public fundraiser to everybody, except those of the API.
const PUBLIC_URLS: [&str; 4] = [
    PAGE,
    "/american-red-cross/f/spring-run/give",
    "/american-red-cross/f/spring-run/report",
    "/share/american-red-cross/f/spring-run.png",
];

async fn a_hidden_fundraiser_is_only_for_its_owner_and_operators(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let other = other_client(world, "eve").await;
    let cover = format!("/media/fundraiser-{}", created["id"].as_str().unwrap());
    let lists = [
        "/american-red-cross",
        "/feeds/fundraisers.xml",
        "/american-red-cross/fundraisers.xml",
    ];
    // The page of the nonprofit may come from a cache.
    for _ in 0..2 {
        for url in PUBLIC_URLS {
            world.client.get_plain(200, url).await;
        }
        for url in lists {
            assert!(
                world
                    .client
                    .get_plain(200, url)
                    .await
                    .text()
                    .contains("Spring run"),
                "{url}"
            );
        }
    }
    world.client.get_plain(200, &cover).await;
    let raised = format!("{READ}/raised");
    other.get(200, &raised).await;

    for (decision, code) in [(hide(), 404), (Decision::Show, 200), (hide(), 404)] {
        decide(&world.app, &created, decision).await;
        for url in PUBLIC_URLS.iter().chain([&cover.as_str()]) {
            world.client.get_plain(code, url).await;
        }
        for url in lists {
            let is_listed = world
                .client
                .get_plain(200, url)
                .await
                .text()
                .contains("Spring run");
            assert_eq!(is_listed, code == 200, "{url}");
        }
        for url in [READ, &raised] {
            // Every visitor of a page can see a public key, so it is no proof of an owner.
            for client in [&other, &world.client] {
                let response = client.get(code, url).await;
                assert!(code == 200 || response.code() == "fundraiser_not_found");
            }
            organizer.write(200, &Method::GET, url, "", &[]).await;
        }
        for client in [&other, &world.client] {
            for tool in ["get_fundraiser", "get_raised"] {
                assert_eq!(
                    call_tool(client, tool).await.contains("fundraiser_not_found"),
                    code == 404,
                    "{tool}"
                );
            }
        }
        // The home page too may come from a cache.
        let home = world.client.get_plain(200, "/").await.text();
        assert_eq!(home.contains("Spring run"), code == 200);
    }
    // The public key of an operator is no better.
    let eve = Username::parse("eve").unwrap();
    operators::set(&world.app.db, &eve, true, Actor::Command, 0)
        .await
        .unwrap();
    world.app.access.keys.refresh().await.unwrap();
    other.get(404, READ).await;
    assert!(
        call_tool(&other, "get_fundraiser")
            .await
            .contains("fundraiser_not_found")
    );
    sessions_of_the_owner_and_operators_see_it(world).await;
}

/// Hides a fundraiser, and checks who sees its page and its cover.
async fn sessions_of_the_owner_and_operators_see_it(world: &World) {
    let (owner, stranger) = (Visitor::new(world), Visitor::new(world));
    owner.sign_up("grace").await;
    stranger.sign_up("oscar").await;
    let once = hidden(&owner.get(200, "/dashboard/fundraisers/new").await.text(), "once");
    let fields = [
        ("nonprofit", "american-red-cross"),
        ("title", "Autumn run"),
        ("once", &once),
    ];
    owner.post(303, "/dashboard/fundraisers/new", &fields).await;
    decide(&world.app, &json!({"id": once}), hide()).await;
    let page = "/american-red-cross/f/autumn-run";
    let seen = owner.get(200, page).await;
    assert_eq!(seen.header("cache-control"), "no-store");
    for shown in [
        seen.text(),
        owner
            .get(200, &format!("/dashboard/fundraisers/{once}"))
            .await
            .text(),
    ] {
        assert!(
            shown.contains("An operator has hidden this fundraiser")
                && shown.contains("The story is &#60;not&#62; true."),
            "{shown}"
        );
        assert!(!shown.contains("/autumn-run/give"), "{shown}");
    }
    owner.get(200, &format!("/media/fundraiser-{once}")).await;
    stranger.get(404, page).await;
    stranger.get(404, &format!("/media/fundraiser-{once}")).await;
    world
        .execute("update accounts set operator = true where username = 'oscar'")
        .await;
    stranger.get(200, page).await;
}

/// The path of a fundraiser's cover.
fn cover(fundraiser: &Value) -> String {
    format!("/media/{}", fundraiser["coverImageHostedId"].as_str().unwrap())
}

async fn an_uploaded_cover_is_hidden_with_its_fundraisers(world: &World) {
    let organizer = Organizer::new(world).await;
    let first = organizer.create_fundraiser(json!({"imageBase64": PIXEL})).await;
    let second = json!({"title": "Second run", "imageBase64": PIXEL});
    let second = organizer.create_fundraiser(second).await;
    let cover = cover(&first);
    let seen = world.client.get_plain(200, &cover).await;
    assert_eq!(seen.header("cache-control"), "public, max-age=3600");
    // The second one is still public.
    decide(&world.app, &first, hide()).await;
    world.client.get_plain(200, &cover).await;
    decide(&world.app, &second, hide()).await;
    for url in [&cover, &format!("{cover}?w=256")] {
        world.client.get_plain(404, url).await;
    }
    let known = [("if-none-match", seen.header("etag"))];
    world
        .client
        .send_body(404, &Method::GET, &cover, &known, "")
        .await;
    decide(&world.app, &second, Decision::Show).await;
    world.client.get_plain(200, &cover).await;
    decide(&world.app, &second, hide()).await;

    // On pages, an owner of a fundraiser with this cover and operators see it.
    let (owner, stranger) = (Visitor::new(world), Visitor::new(world));
    owner.sign_up("grace").await;
    stranger.sign_up("oscar").await;
    owner.get(404, &cover).await;
    let once = hidden(&owner.get(200, "/dashboard/fundraisers/new").await.text(), "once");
    let fields = [
        ("nonprofit", "american-red-cross"),
        ("title", "Autumn run"),
        ("once", &once),
    ];
    owner.post(303, "/dashboard/fundraisers/new", &fields).await;
    world
        .execute("update fundraisers set cover = (select id from pictures) where slug = 'autumn-run'")
        .await;
    decide(&world.app, &json!({"id": once}), hide()).await;
    let seen = owner.get(200, &cover).await;
    assert_eq!(seen.header("cache-control"), "private, no-store");
    stranger.get(404, &cover).await;
    world
        .execute("update accounts set operator = true where username = 'oscar'")
        .await;
    stranger.get(200, &cover).await;

    // A nonprofit may use the same picture.
    world.client.get_plain(404, &cover).await;
    for field in ["logo", "cover"] {
        let line = format!(r#"{{"ein":"{RED_CROSS}","{field}":"data:image/png;base64,{PIXEL}"}}"#);
        world.import_nonprofits(&line).await.unwrap();
        world.client.get_plain(200, &cover).await;
        let line = format!(r#"{{"ein":"{RED_CROSS}","{field}":null}}"#);
        world.import_nonprofits(&line).await.unwrap();
        world.client.get_plain(404, &cover).await;
    }
    // One that may become a cover, such as in a form that is not sent yet, is never in a shared cache.
    let upload = world.app.pictures.add(picture_file(9, 3, 2)).await.unwrap();
    let uploaded = world
        .client
        .get_plain(200, &format!("/media/{}", upload.id))
        .await;
    assert_eq!(uploaded.header("cache-control"), "private, max-age=3600");
}

async fn an_uploaded_cover_waits_for_the_review(world: &World) {
    let (app, organizer) = reviewed(world, Review::All).await;
    let created = organizer.create_fundraiser(json!({"imageBase64": PIXEL})).await;
    let cover = cover(&created);
    organizer.client.get_plain(404, &cover).await;
    decide(&app, &created, Decision::Show).await;
    organizer.client.get_plain(200, &cover).await;
    app.db.close().await;
}

async fn a_hidden_fundraiser_takes_no_donations_and_old_receipts_stay(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let donor = Visitor::new(world);
    let give = format!("{PAGE}/give");
    let mut donations = Vec::new();
    for _ in 0..2 {
        let once = hidden(&donor.get(200, &give).await.text(), "once");
        let started = donor.post(303, &give, &[("amount", "20"), ("once", &once)]).await;
        donations.push(started.header("location").to_owned());
    }
    let card = [("card", "4242424242424242")];
    donor.post(303, &donations[0], &card).await;
    decide(&world.app, &created, hide()).await;
    donor
        .post(
            404,
            &give,
            &[("amount", "20"), ("once", &Uuid::now_v7().to_string())],
        )
        .await;
    let refused = donor.post(422, &donations[1], &card).await.text();
    assert!(refused.contains("not open"), "{refused}");
    assert!(donor.get(200, &donations[0]).await.text().contains("Thank you"));
    let raised = organizer
        .write(200, &Method::GET, &format!("{READ}/raised"), "", &[])
        .await;
    assert_eq!(raised.json["raised"], 2_000);
}

async fn a_decision_reaches_other_servers(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({"imageBase64": PIXEL})).await;
    let (app, client) = world.restart().await;
    let background = tokio::spawn(causeway::server::background::run(app.clone()));
    // The cover comes first, when no fundraiser is in the cache of the other server.
    for (url, decision, code) in [
        (cover(&created), hide(), 404),
        (cover(&created), Decision::Show, 200),
        (PAGE.to_owned(), hide(), 404),
    ] {
        client.get_plain(if code == 404 { 200 } else { 404 }, &url).await;
        decide(&world.app, &created, decision).await;
        eventually("the other server follows the decision", async || {
            let (status, _) = client.send_any(&Method::GET, &url, &[], "").await;
            (status == code).then_some(())
        })
        .await;
    }
    background.abort();
    app.db.close().await;
}

/// An organizer of a server that reviews new fundraisers.
async fn reviewed(world: &World, review: Review) -> (App, Organizer) {
    let organizer = Organizer::new(world).await;
    let mut config = world.app.config.clone();
    config.fundraisers.review = review;
    let app = App::build(config).await.unwrap();
    let organizer = organizer.at(&Client::new(&app, &world.client.key));
    (app, organizer)
}

async fn the_first_fundraiser_of_an_account_waits_for_a_review(world: &World) {
    let (app, organizer) = reviewed(world, Review::First).await;
    world
        .execute("update accounts set email = 'ada@example.org' where username = 'ada'")
        .await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"}).to_string();
    let preview = organizer
        .write(200, &Method::POST, "/v0.2/fundraiser?dryRun=1", body, &[])
        .await;
    assert_eq!(preview.json["data"]["fundraiser"]["status"], "IN_REVIEW");
    let first = organizer.create_fundraiser(json!({})).await;
    assert_eq!(
        (&first["status"], &first["active"]),
        (&json!("IN_REVIEW"), &json!(false))
    );
    // A second one does not get around the review of the first, and closing it does not end the review.
    let second = organizer.create_fundraiser(json!({"title": "Second run"})).await;
    assert_eq!(second["status"], "IN_REVIEW");
    let close = format!("/v0.2/fundraiser/{}/close", second["id"].as_str().unwrap());
    let closed = organizer.write(200, &Method::POST, &close, "", &[]).await;
    assert_eq!(closed.json["data"]["fundraiser"]["status"], "IN_REVIEW");
    organizer.client.get_plain(404, PAGE).await;
    decide(&app, &second, hide()).await;
    assert_eq!(
        organizer.create_fundraiser(json!({"title": "Third run"})).await["status"],
        "IN_REVIEW"
    );
    decide(&app, &first, Decision::Show).await;
    organizer.client.get_plain(200, PAGE).await;
    assert_eq!(
        organizer.create_fundraiser(json!({"title": "Fourth run"})).await["status"],
        "PUBLISHED"
    );
    let sent = emails(world, 2).await;
    assert!(
        sent[0].contains("To: ada@example.org") && sent[0].contains("Reason: The story is <not> true."),
        "{}",
        sent[0]
    );
    assert!(sent[1].contains("\"Spring run\" is now public"), "{}", sent[1]);
    app.db.close().await;
}

async fn every_fundraiser_waits_for_a_review(world: &World) {
    let (app, organizer) = reviewed(world, Review::All).await;
    for title in ["One", "Two"] {
        let fundraiser = organizer.create_fundraiser(json!({"title": title})).await;
        assert_eq!(fundraiser["status"], "IN_REVIEW");
        decide(&app, &fundraiser, Decision::Show).await;
    }
    let several = json!({
        "nonprofitId": SPECIAL, "title": "Several", "type": "MULTIPLE_NONPROFITS", "forNonprofits": [id_of(RED_CROSS)],
    });
    assert_eq!(organizer.create_fundraiser(several).await["status"], "IN_REVIEW");
    app.db.close().await;
}
