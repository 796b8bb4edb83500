//! Clients that were written for the hosted service: what they can rely on in any case, and with
//! `compat.existing_clients`.

use super::fundraisers::{Organizer, RED_CROSS, basic, id_of};
use crate::client::Client;
use crate::world::World;
use access::keys::{KeyText, Kind, store};
use axum::http::Method;
use causeway::app::App;
use serde_json::json;

on_both_databases!(
    a_trailing_slash_is_ignored,
    a_search_term_may_contain_slashes,
    every_version_path_gets_problem_details,
    an_idempotency_key_may_have_the_former_name,
    former_donate_links_lead_to_the_form,
    donate_links_choose_colors_exits_and_ways_to_pay,
    paths_may_begin_with_api,
    fundraisers_have_the_picture_name_of_the_hosted_service,
    a_public_key_of_another_service_can_be_taken_over,
    an_unknown_cause_is_an_empty_list,
    reads_without_a_key_are_limited_per_address,
    a_public_key_may_be_sent_as_a_bearer_token,
    dates_without_a_zone_are_in_utc,
    pictures_have_the_names_and_urls_of_the_hosted_service,
    lists_and_nonprofits_have_the_fields_of_the_hosted_service,
);

/// A client of the same store with the switch on, and with a low limit for reads without a key.
async fn switched_on(world: &World) -> (App, Client) {
    let mut config = world.app.config.clone();
    config.compat.existing_clients = true;
    config.limits.anonymous = 3;
    let app = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let client = Client::new(&app, &world.client.key);
    (app, client)
}

async fn a_trailing_slash_is_ignored(world: &World) {
    world.load_demo().await;
    for path in [
        "/v0.2/nonprofit/530196605",
        "/v0.2/causes",
        "/v0.2/search/red%20cross",
    ] {
        let plain = world.client.get(200, path).await;
        let slash = world.client.get(200, &format!("{path}/")).await;
        assert_eq!(plain.body, slash.body, "{path}");
    }
    world.client.get_plain(200, "/american-red-cross/").await;
    world.client.get_plain(200, "/american-red-cross/give//").await;
}

async fn a_search_term_may_contain_slashes(world: &World) {
    world.load_demo().await;
    let spaces = world.client.get(200, "/v0.2/search/red%20cross").await;
    for term in ["red/cross", "red%2Fcross", "red/cross/"] {
        let found = world.client.get(200, &format!("/v0.2/search/{term}")).await;
        assert_eq!(found.json["nonprofits"][0]["ein"], RED_CROSS, "{term}");
        assert_eq!(found.json["nonprofits"], spaces.json["nonprofits"], "{term}");
    }
    world
        .client
        .get(400, &format!("/v0.2/search/a/{}", "b".repeat(256)))
        .await;
}

async fn every_version_path_gets_problem_details(world: &World) {
    for path in ["/v1", "/v3/nonprofit/x", "/v0.1/search/x", "/v0.2"] {
        let response = world.client.get_plain(404, path).await;
        assert_eq!(
            response.header("content-type"),
            "application/problem+json",
            "{path}"
        );
    }
    for path in ["/v1a", "/valley"] {
        let response = world.client.get_plain(404, path).await;
        assert!(response.header("content-type").starts_with("text/html"), "{path}");
    }
}

async fn an_idempotency_key_may_have_the_former_name(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"});
    let first = organizer
        .create_with(200, &body, &[("x-idempotency-key", "once")])
        .await;
    let second = organizer
        .create_with(200, &body, &[("idempotency-key", "once")])
        .await;
    assert_eq!(first.json, second.json);
    let both = [("x-idempotency-key", "once"), ("idempotency-key", "twice")];
    organizer.create_with(400, &body, &both).await;
}

async fn former_donate_links_lead_to_the_form(world: &World) {
    world.load_demo().await;
    let link = "/american-red-cross/donate?amount=25&frequency=once";
    let response = world.client.get_plain(308, link).await;
    let target = response.header("location");
    assert_eq!(target, "/american-red-cross/give?amount=25&frequency=once");
    let form = world.client.get_plain(200, target).await.text();
    assert!(
        form.contains("id=\"donate\"") && form.contains("value=\"25"),
        "{form}"
    );
    world.client.get_plain(404, "/%2F%2Fevil.example/donate").await;
    for (former, current) in [
        ("/53-0196605/donate", "/american-red-cross/give"),
        (
            "/ein/530196605/donate?amount=5",
            "/american-red-cross/give?amount=5",
        ),
        (
            "/american-red-cross/donate/card",
            "/american-red-cross/give?method=card",
        ),
        (
            "/american-red-cross/donate/crypto?amount=5",
            "/american-red-cross/give?amount=5&method=crypto",
        ),
    ] {
        let response = world.client.get_plain(308, former).await;
        assert_eq!(response.header("location"), current, "{former}");
    }
    let start = world
        .client
        .get_plain(303, "/american-red-cross/fundraiser")
        .await;
    assert_eq!(
        start.header("location"),
        "/dashboard/fundraisers/new?nonprofit=american-red-cross"
    );
    let problem = world.client.get_plain(404, "/v0.2/donate").await;
    assert_eq!(problem.header("content-type"), "application/problem+json");
    let button = world.client.get_plain(200, "/0.4/button.js").await;
    let current = world.client.get_plain(200, "/embed/button.js").await;
    assert_eq!(button.body, current.body);
    world.client.get_plain(404, "/american-red-cross/button.js").await;
    let profile = world.client.get_plain(200, "/american-red-cross").await.text();
    assert!(profile.contains("id=\"donate\""), "{profile}");
}

async fn donate_links_choose_colors_exits_and_ways_to_pay(world: &World) {
    world.load_demo().await;
    let form = "/american-red-cross/give?theme_color=7a1fa2&no_exit=1&method=crypto";
    let page = world.client.get_plain(200, form).await.text();
    assert!(page.contains("href=\"/embed/theme/7a1fa2.css\""), "{page}");
    assert!(page.contains("You cannot pay by cryptocurrency here"), "{page}");
    assert!(!page.contains("<p class=\"eyebrow\"><a"), "{page}");
    let theme = world.client.get_plain(200, "/embed/theme/7a1fa2.css").await;
    assert_eq!(theme.header("content-type"), "text/css; charset=utf-8");
    assert!(theme.text().contains("--accent: #7a1fa2"));
    for unreadable in ["ffee00.css", "teal.css", "7a1fa2"] {
        world
            .client
            .get_plain(404, &format!("/embed/theme/{unreadable}"))
            .await;
    }
    // The button of the page keeps what its URL says.
    let profile = world
        .client
        .get_plain(200, "/american-red-cross?partner_donation_id=7&x=1")
        .await;
    let text = profile.text();
    assert!(
        text.contains("href=\"/american-red-cross/give?partner_donation_id=7\""),
        "{text}"
    );
}

async fn paths_may_begin_with_api(world: &World) {
    world.load_demo().await;
    let (_app, client) = switched_on(world).await;
    let plain = client.get(200, "/v0.2/search/red%20cross?take=2").await;
    let former = client.get(200, "/api/v0.2/search/red%20cross?take=2").await;
    assert_eq!(plain.json, former.json);
    client.get(404, "/api/v0.2/nothing").await;
    world.client.get(404, "/api/v0.2/search/red%20cross").await;
}

async fn fundraisers_have_the_picture_name_of_the_hosted_service(world: &World) {
    world.load_demo().await;
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"});
    let plain = organizer.create(200, &body).await;
    assert!(!plain.text().contains("coverImageCloudinaryId"));
    let (_app, client) = switched_on(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Summer run"});
    let created = organizer.at(&client).create(200, &body).await;
    let fundraiser = &created.json["data"]["fundraiser"];
    assert!(fundraiser["coverImageHostedId"].is_string());
    assert_eq!(
        fundraiser["coverImageCloudinaryId"],
        fundraiser["coverImageHostedId"]
    );
}

async fn a_public_key_of_another_service_can_be_taken_over(world: &World) {
    let organizer = Organizer::new(world).await;
    let foreign = world.client.with_key("pk_live_0123456789abcdef");
    assert_eq!(foreign.details(401, RED_CROSS).await.code(), "invalid_key");
    let text = KeyText::parse(&foreign.key).unwrap();
    store::insert(&world.app.db, world.account, "old site", &text, 0)
        .await
        .unwrap();
    world.app.access.keys.refresh().await.unwrap();
    foreign.details(200, RED_CROSS).await;
    let (_, private) = world.create_key(Kind::Private).await;
    let organizer = Organizer {
        basic: basic(&foreign.key, &private),
        ..organizer
    };
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"});
    organizer.create(200, &body).await;
}

async fn an_unknown_cause_is_an_empty_list(world: &World) {
    world.load_demo().await;
    world.client.get(404, "/v0.2/browse/unheard-of").await;
    let (_app, client) = switched_on(world).await;
    let response = client.get(200, "/v0.2/browse/unheard-of?take=5").await;
    assert_eq!(response.json["nonprofits"], json!([]));
    let pagination = json!({"page": 1, "page_size": 5, "pages": 0, "total_results": 0});
    for (name, expected) in pagination.as_object().unwrap() {
        assert_eq!(&response.json["pagination"][name], expected);
    }
}

async fn reads_without_a_key_are_limited_per_address(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"});
    organizer.create(200, &body).await;
    let fundraiser = "/v0.2/nonprofit/american-red-cross/fundraiser/spring-run";
    let raised = &format!("{fundraiser}/raised");
    for path in ["/v0.2/nonprofit/530196605", fundraiser, raised] {
        assert_eq!(world.client.get_plain(401, path).await.code(), "missing_key");
    }
    let (_app, client) = switched_on(world).await;
    for path in ["/v0.2/nonprofit/530196605", fundraiser, raised] {
        client.at([192, 0, 2, 1]).get_plain(200, path).await;
        let unknown = client.at([192, 0, 2, 2]).with_key("unknown");
        unknown.get(200, path).await;
    }
    // Details and fundraisers are counted apart, and so is each address.
    let visitor = client.at([192, 0, 2, 3]);
    for _ in 0..3 {
        let response = visitor.get_plain(200, "/v0.2/nonprofit/530196605").await;
        assert_eq!(response.header("ratelimit-policy"), "\"details\";q=3;w=60");
    }
    visitor.get_plain(429, "/v0.2/nonprofit/530196605").await;
    visitor.get(200, "/v0.2/nonprofit/530196605").await;
    client
        .at([192, 0, 2, 4])
        .get_plain(200, "/v0.2/nonprofit/530196605")
        .await;
    // Everything else still needs a key, and a private key in a URL is never accepted.
    client.get_plain(401, "/v0.2/search/red").await;
    let (_, private) = world.create_key(Kind::Private).await;
    let exposed = client.with_key(&private).details(401, RED_CROSS).await;
    assert_eq!(exposed.code(), "private_key_exposed");
}

async fn a_public_key_may_be_sent_as_a_bearer_token(world: &World) {
    world.load_demo().await;
    let token = format!("Bearer {}", world.client.key);
    let headers = [("authorization", token.as_str())];
    let path = "/v0.2/search/red%20cross";
    world.client.send(401, &Method::GET, path, &headers).await;
    let (_app, client) = switched_on(world).await;
    client.send(200, &Method::GET, path, &headers).await;
    let wrong = [("authorization", "Bearer cwpk_wrong")];
    client.send(401, &Method::GET, path, &wrong).await;
    let (_, private) = world.create_key(Kind::Private).await;
    let private = format!("Bearer {private}");
    let secret = [("authorization", private.as_str())];
    let refused = client.send(401, &Method::GET, path, &secret).await;
    assert_eq!(refused.code(), "missing_key");
}

async fn dates_without_a_zone_are_in_utc(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run",
        "startDate": "2026-05-01", "endDate": "2026-05-31T18:30"});
    organizer.create(400, &body).await;
    let (_app, client) = switched_on(world).await;
    let organizer = organizer.at(&client);
    let created = organizer.create(200, &body).await;
    let text = created.text();
    assert!(
        text.contains("\"startDate\":\"2026-05-01T00:00:00.000Z\""),
        "{text}"
    );
    assert!(
        text.contains("\"endDate\":\"2026-05-31T18:30:00.000Z\""),
        "{text}"
    );
}

async fn pictures_have_the_names_and_urls_of_the_hosted_service(world: &World) {
    world.load_demo().await;
    let (_app, client) = switched_on(world).await;
    let response = client.details(200, RED_CROSS).await;
    let nonprofit = response.nonprofit();
    for (hosted, name) in [
        ("logoHostedId", "logoCloudinaryId"),
        ("coverImageHostedId", "coverImageCloudinaryId"),
    ] {
        let id = nonprofit[name].as_str().unwrap();
        assert_eq!(nonprofit[hosted], id);
        let media = client.get_plain(200, &format!("/media/{id}")).await;
        for transforms in ["", "c_lfill,w_24,h_24,dpr_2/", "c_crop,ar_24:24/q_auto,f_auto/"] {
            let url = format!("/image/upload/{transforms}{id}");
            assert_eq!(client.get_plain(200, &url).await.body, media.body, "{url}");
            let off = world.client.get_plain(404, &url).await;
            assert_eq!(off.header("content-type"), "application/problem+json");
        }
    }
    let tag = &response.json["data"]["nonprofitTags"][0];
    assert!(tag["tagImageCloudinaryId"].is_string());
    assert_eq!(tag["tagImageHostedId"], tag["tagImageCloudinaryId"]);
    client.get_plain(404, "/image/upload/w_24/unknown").await;
    let plain = world.client.details(200, RED_CROSS).await.text();
    assert!(!plain.contains("CloudinaryId"), "{plain}");
}

async fn lists_and_nonprofits_have_the_fields_of_the_hosted_service(world: &World) {
    world.load_demo().await;
    let (_app, client) = switched_on(world).await;
    let browse = client.get(200, "/v0.2/browse/animals").await;
    let search = client.get(200, "/v0.2/search/red%20cross").await;
    let details = client.details(200, RED_CROSS).await;
    assert_eq!(browse.json["nonprofits"][0]["matchedTerms"], json!([]));
    assert_eq!(
        search.json["nonprofits"][0]["matchedTerms"],
        json!(["red", "cross"])
    );
    for nonprofit in [
        &browse.json["nonprofits"][0],
        &search.json["nonprofits"][0],
        details.nonprofit(),
    ] {
        assert_eq!(nonprofit["type"], "NONPROFIT");
        assert_eq!(
            (&nonprofit["donationsEnabled"], &nonprofit["hasAdmin"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(nonprofit["logoCloudinaryId"], nonprofit["logoHostedId"]);
    }
    let plain = world.client.get(200, "/v0.2/browse/animals").await;
    let item = plain.json["nonprofits"][0].as_object().unwrap();
    for name in ["matchedTerms", "type", "donationsEnabled", "hasAdmin"] {
        assert!(!item.contains_key(name), "{name}");
    }
}
