//! Fundraisers on the public site: discovering them, their organizer, story, proof, end and share links.

use crate::api::fundraisers::create::PIXEL;
use crate::api::fundraisers::{Organizer, RED_CROSS, donate, donate_in};
use crate::dashboard::visitor::{PASSWORD, Visitor, between, hidden};
use crate::wait::eventually;
use crate::world::World;
use axum::http::Method;
use base64::prelude::{BASE64_STANDARD, Engine};
use giving::ledger::entry::Mode;
use serde_json::{Value, json};

on_both_databases!(
    the_list_shows_published_fundraisers_active_ones_first,
    a_long_list_has_pages,
    an_organizer_has_a_name_and_a_picture,
    a_story_is_safe_markdown,
    a_total_is_verified_by_its_entries,
    a_fundraiser_that_is_not_open_says_so_and_leads_on,
    a_page_is_shared_and_so_is_a_donation,
    a_profile_with_fundraisers_is_cached_until_one_of_them_changes,
);

const LIST: &str = "/fundraisers";

async fn fundraiser(organizer: &Organizer, title: &str, fields: Value) -> Value {
    let mut all = json!({ "title": title });
    let fields = fields.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(fields);
    organizer.create_fundraiser(all).await
}

/// The titles of the list in their order.
async fn titles(world: &World, path: &str) -> Vec<String> {
    let page = world.client.get_plain(200, path).await.text();
    let cards = page.split("<li class=\"fundraiser-card\">").skip(1);
    cards
        .map(|card| between(card, "<bdi>", "</bdi>").unwrap())
        .collect()
}

async fn the_list_shows_published_fundraisers_active_ones_first(world: &World) {
    let organizer = Organizer::new(world).await;
    let empty = world.client.get_plain(200, LIST).await.text();
    assert!(empty.contains("No fundraisers yet"), "{empty}");
    // Created at the same moment, they would have no order.
    let step = || world.app.clock.advance(std::time::Duration::from_secs(1));
    let rich = fundraiser(&organizer, "Rich", json!({})).await;
    step();
    fundraiser(&organizer, "Poor", json!({"goal": 10_000})).await;
    step();
    let ended = json!({"startDate": "2020-01-01T00:00:00Z", "endDate": "2020-02-01T00:00:00Z"});
    let ended = fundraiser(&organizer, "Ended", ended).await;
    step();
    for (title, state) in [
        ("Closed", "closed_at = 1"),
        ("Hidden", "hidden_at = 1, hidden_reason = 'Spam'"),
        ("Waiting", "in_review_since = 1"),
    ] {
        fundraiser(&organizer, title, json!({})).await;
        world
            .execute_owned(format!("update fundraisers set {state} where title = '{title}'"))
            .await;
    }
    donate(world, &rich, "one", "ada", 5_000).await.unwrap();
    donate(world, &ended, "two", "ada", 9_000).await.unwrap();
    assert_eq!(titles(world, LIST).await, ["Poor", "Rich", "Ended"]);
    assert_eq!(
        titles(world, &format!("{LIST}?sort=raised")).await,
        ["Rich", "Poor", "Ended"]
    );
    let page = world.client.get_plain(200, LIST).await.text();
    for shown in [
        "for American Red Cross",
        "$50.00 raised of $1,000.00",
        "1 supporter",
        "Not open now",
        "href=\"/american-red-cross/f/rich\"",
        "aria-current=\"true\">Fundraisers</a>",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // One that is hidden disappears at once.
    let id = platform::ids::FundraiserId(rich["id"].as_str().unwrap().parse().unwrap());
    let hide = giving::fundraisers::moderate::Decision::Hide("Spam".to_owned());
    world
        .app
        .moderation()
        .decide(id, hide, access::audit::Actor::Command)
        .await
        .unwrap();
    assert_eq!(titles(world, LIST).await, ["Poor", "Ended"]);
}

async fn a_long_list_has_pages(world: &World) {
    let organizer = Organizer::new(world).await;
    for number in 0..25 {
        fundraiser(&organizer, &format!("Run {number}"), json!({})).await;
    }
    let (first, second) = (
        titles(world, LIST).await,
        titles(world, "/fundraisers?page=2").await,
    );
    assert_eq!((first.len(), second.len()), (24, 1));
    assert!(!first.contains(&second[0]));
    let page = world
        .client
        .get_plain(200, "/fundraisers?sort=raised")
        .await
        .text();
    assert!(
        page.contains("href=\"/fundraisers?sort=raised&#38;page=2\""),
        "{page}"
    );
    let beyond = world.client.get_plain(200, "/fundraisers?page=99").await.text();
    assert!(
        beyond.contains("There are no fundraisers on this page"),
        "{beyond}"
    );
    for odd in ["?page=0", "?page=x", "?sort=%00", "?page=99999999999999999999"] {
        world.client.get_plain(200, &format!("{LIST}{odd}")).await;
    }
}

async fn an_organizer_has_a_name_and_a_picture(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let once = hidden(
        &visitor.get(200, "/dashboard/fundraisers/new").await.text(),
        "once",
    );
    let fields = [("nonprofit", RED_CROSS), ("title", "Run"), ("once", &once)];
    visitor.post(303, "/dashboard/fundraisers/new", &fields).await;
    let page = "/american-red-cross/f/run";
    let shown = async || world.client.get_plain(200, page).await.text();
    assert!(shown().await.contains("by <bdi>grace</bdi>"));
    let settings = "/dashboard/settings/profile";
    assert!(
        visitor
            .get(200, "/dashboard/settings")
            .await
            .text()
            .contains(settings)
    );
    for name in ["a\nb".to_owned(), "x".repeat(101)] {
        let refused = visitor
            .upload(422, settings, &[("name", &name)], None)
            .await
            .text();
        assert!(
            refused.contains("Enter a name of up to 100 characters"),
            "{refused}"
        );
    }
    let pixel = BASE64_STANDARD.decode(PIXEL).unwrap();
    visitor
        .upload(303, settings, &[("name", "Grace <Hopper>")], Some(&pixel))
        .await;
    let named = shown().await;
    assert!(named.contains("by <bdi>Grace &#60;Hopper&#62;</bdi>"), "{named}");
    let picture = between(&named, "<img class=\"organizer-picture\" src=\"", "\"").unwrap();
    world.client.get_plain(200, &picture).await;
    // Without a file, the picture stays.
    visitor.upload(303, settings, &[("name", "Grace")], None).await;
    assert!(shown().await.contains(&picture));
    visitor
        .upload(303, settings, &[("name", ""), ("remove_picture", "yes")], None)
        .await;
    let plain = shown().await;
    assert!(plain.contains("by <bdi>grace</bdi>") && !plain.contains("organizer-picture"));
    visitor
        .upload(303, settings, &[("name", "Grace Hopper")], Some(&pixel))
        .await;
    visitor
        .post(303, "/dashboard/settings/delete", &[("current", PASSWORD)])
        .await;
    let deleted = shown().await;
    assert!(
        !deleted.contains("Grace") && !deleted.contains("organizer-picture"),
        "{deleted}"
    );
    let kept =
        "select display_name || picture from accounts where display_name is not null or picture is not null";
    assert!(world.texts(kept).await.is_empty());
}

async fn a_story_is_safe_markdown(world: &World) {
    let organizer = Organizer::new(world).await;
    let story = "First.\n\n**Second** with [a link](https://example.org/) and [another](javascript:alert(1)).\n\n\
         <script>alert(1)</script>\n\n- one\n- two";
    let created = fundraiser(&organizer, "Run", json!({ "description": story })).await;
    assert_eq!(created["description"], story);
    let page = world
        .client
        .get_plain(200, "/american-red-cross/f/run")
        .await
        .text();
    let shown = between(&page, "<div class=\"prose\">", "</section>").unwrap();
    for expected in [
        "<p>First.</p>",
        "<strong>Second</strong>",
        "href=\"https://example.org/\"",
        "<li>one</li>",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(
        !shown.contains("<script") && !shown.contains("javascript:"),
        "{shown}"
    );
}

async fn a_total_is_verified_by_its_entries(world: &World) {
    let organizer = Organizer::new(world).await;
    let run = fundraiser(&organizer, "Run", json!({"raisedOffline": 2_000})).await;
    donate(world, &run, "one", "ada", 5_000).await.unwrap();
    donate_in(Mode::Test, world, &run, "two", "bob", 1_050)
        .await
        .unwrap();
    let page = world
        .client
        .get_plain(200, "/american-red-cross/f/run")
        .await
        .text();
    let proof = "/american-red-cross/f/run/proof";
    assert!(
        page.contains(&format!("<a href=\"{proof}\">Verified total</a>")),
        "{page}"
    );
    // What the organizer reports is no part of any figure, and is said in its own words.
    let reported = "The organizer reports $20.00 raised elsewhere. This amount is not verified.";
    assert!(
        page.contains("<span id=\"raised-amount\">$60.50</span>"),
        "{page}"
    );
    assert!(page.contains(reported), "{page}");
    for (url, expected) in [
        ("/", "$60.50 raised"),
        ("/fundraisers", "$60.50 raised of $1,000.00"),
        ("/american-red-cross", "$60.50"),
        ("/feeds/fundraisers.xml", "$60.50 raised"),
        ("/embed/fundraisers/american-red-cross/run", "$60.50"),
    ] {
        let shown = world.client.get_plain(200, url).await.text();
        assert!(
            shown.contains(expected) && !shown.contains("$80.50"),
            "{url}: {shown}"
        );
    }
    // The API counts it in `raised`, next to `raisedOffline`.
    assert_eq!(organizer.raised(&run).await["raised"], 8_050);
    let shown = world.client.get_plain(200, proof).await.text();
    for expected in [
        "$60.50",
        "The sum of the entries matches the total on the page.",
        "Reported by the organizer",
        "$20.00",
        "$50.00",
        "$10.50",
        ">Test</span>",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let hash = between(&shown, "<code class=\"hash\">", "<").unwrap();
    assert!(hash.len() == 64 && !page.contains(&hash), "{hash}");
    // Another server counts live donations only.
    let (app, client) = world.with_provider(giving::providers::Provider::Off).await;
    let live = client.get_plain(200, proof).await.text();
    assert!(!live.contains("$70.00") && !live.contains("$10.50"), "{live}");
    app.db.close().await;
    // A changed amount does not go unnoticed.
    world
        .execute("update ledger_entries set amount = 4000 where source = 'test' and external_id = 'one'")
        .await;
    let changed = world.client.get_plain(200, proof).await.text();
    assert!(
        changed.contains("does not match the total on the page"),
        "{changed}"
    );
    // A hidden fundraiser has no proof.
    fundraiser(&organizer, "Walk", json!({})).await;
    world
        .execute("update fundraisers set hidden_at = 1 where title = 'Walk'")
        .await;
    world
        .client
        .get_plain(404, "/american-red-cross/f/walk/proof")
        .await;
}

async fn a_fundraiser_that_is_not_open_says_so_and_leads_on(world: &World) {
    let organizer = Organizer::new(world).await;
    let ended = json!({"startDate": "2020-01-01T00:00:00Z", "endDate": "2020-02-01T00:00:00Z"});
    let ended = fundraiser(&organizer, "Ended", ended).await;
    donate(world, &ended, "one", "ada", 9_000).await.unwrap();
    fundraiser(&organizer, "Later", json!({"startDate": "2199-01-01T00:00:00Z"})).await;
    fundraiser(&organizer, "Open", json!({})).await;
    let page = async |slug: &str| {
        let path = format!("/american-red-cross/f/{slug}");
        world.client.get_plain(200, &path).await.text()
    };
    let ended = page("ended").await;
    for shown in [
        "This fundraiser has ended",
        "It raised $90.00 from 1 supporter.",
        "href=\"/american-red-cross/give\"",
        "href=\"/fundraisers\"",
    ] {
        assert!(ended.contains(shown), "{shown}: {ended}");
    }
    assert!(!ended.contains("id=\"donate\""));
    let later = page("later").await;
    assert!(
        later.contains("This fundraiser has not started yet") && later.contains("Starts on January 1, 2199"),
        "{later}"
    );
    let open = page("open").await;
    assert!(
        open.contains("id=\"donate\"") && !open.contains("aria-labelledby=\"end\""),
        "{open}"
    );
}

async fn a_page_is_shared_and_so_is_a_donation(world: &World) {
    let organizer = Organizer::new(world).await;
    fundraiser(&organizer, "Run & walk", json!({})).await;
    let url = "/american-red-cross/f/run-and-walk";
    let visitor = Visitor::new(world);
    let page = visitor.get(200, url).await.text();
    let form = visitor.get(200, &format!("{url}/give")).await.text();
    let fields = [("amount", "25"), ("once", &hidden(&form, "once"))];
    let started = visitor.post(303, &format!("{url}/give"), &fields).await;
    let receipt = started.header("location");
    assert!(!visitor.get(200, receipt).await.text().contains("share-sites"));
    visitor
        .post(303, receipt, &[("card", "4242 4242 4242 4242")])
        .await;
    let thanks = visitor.get(200, receipt).await.text();
    assert!(thanks.contains("Share it with your friends"), "{thanks}");
    let link = "http%3A%2F%2Fcauseway.test%2Famerican-red-cross%2Ff%2Frun-and-walk";
    for shared in [&page, &thanks] {
        for expected in [
            format!("https://www.facebook.com/sharer/sharer.php?u={link}"),
            format!("https://x.com/intent/post?url={link}&#38;text=Run%20%26%20walk"),
            format!("https://wa.me/?text=Run%20%26%20walk%20{link}"),
            format!("https://www.linkedin.com/sharing/share-offsite/?url={link}"),
            format!("mailto:?subject=Run%20%26%20walk&#38;body={link}"),
            "data-share=\"http://causeway.test/american-red-cross/f/run-and-walk\"".to_owned(),
            "src=\"/share/american-red-cross/f/run-and-walk.svg\"".to_owned(),
        ] {
            assert!(shared.contains(&expected), "{expected}: {shared}");
        }
        // The URL of a receipt is not for others.
        assert!(!shared.contains(&format!("data-share=\"http://causeway.test{receipt}")));
    }
    for path in [
        "/share/american-red-cross/f/run-and-walk.svg",
        "/share/american-red-cross.svg",
    ] {
        let code = world.client.get_plain(200, path).await;
        assert_eq!(code.header("content-type"), "image/svg+xml");
        assert!(code.text().starts_with("<svg"));
    }
    world.client.get_plain(404, "/share/nobody-at-all.svg").await;
    world
        .client
        .get_plain(404, "/share/american-red-cross/f/nothing.svg")
        .await;
}

async fn a_profile_with_fundraisers_is_cached_until_one_of_them_changes(world: &World) {
    let organizer = Organizer::new(world).await;
    let first = fundraiser(&organizer, "Spring run", json!({})).await;
    // A page omits its fundraisers if the store is slow.
    let profile = async || {
        eventually("the page has fundraisers", async || {
            let page = world.client.get_plain(200, "/american-red-cross").await.text();
            page.contains(" run").then_some(page)
        })
        .await
    };
    let page = profile().await;
    assert!(page.contains("Spring run"), "{page}");
    // The server is not notified: only a page that reads the store would show it.
    world.execute("update fundraisers set title = 'Summer run'").await;
    assert_eq!(profile().await, page);

    donate(world, &first, "1", "ada", 12_345).await.unwrap();
    let page = profile().await;
    assert!(page.contains("Summer run") && page.contains("$123.45"), "{page}");
    fundraiser(&organizer, "Autumn run", json!({})).await;
    let page = profile().await;
    assert!(page.contains("Autumn run") && page.contains("$123.45"), "{page}");
    let path = format!("/v0.2/fundraiser/{}", first["id"].as_str().unwrap());
    organizer
        .write(
            200,
            &Method::PATCH,
            &path,
            json!({"title": "Winter run"}).to_string(),
            &[],
        )
        .await;
    let page = profile().await;
    assert!(
        page.contains("Winter run") && !page.contains("Summer run"),
        "{page}"
    );
}
