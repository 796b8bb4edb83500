//! Feeds of fundraisers.

use crate::world::World;
use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::json;

on_both_databases!(
    feeds_tell_the_newest_fundraisers_first_and_only_what_may_stand_in_xml,
    a_feed_that_is_known_is_not_sent_again,
    pages_name_their_feeds,
);

const ALL: &str = "/feeds/fundraisers.xml";
const OF_ONE: &str = "/american-red-cross/fundraisers.xml";

/// Makes a fundraiser for the Red Cross; its slug.
pub async fn make(world: &World, title: &str, description: &str) -> (String, String) {
    let nonprofit = world.client.details(200, "american-red-cross").await;
    let (_, private) = world.make_key(causeway::keys::Kind::Private).await;
    world.app.keys.refresh().await.unwrap();
    let basic = format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{private}", world.client.key))
    );
    let headers = [
        ("authorization", basic.as_str()),
        ("content-type", "application/json"),
    ];
    let body = json!({ "nonprofitId": nonprofit.nonprofit()["id"], "title": title, "description": description, "goal": 10_000 });
    let made = world
        .client
        .send_body(200, &Method::POST, "/v0.2/fundraiser", &headers, body.to_string())
        .await;
    let fundraiser = &made.json["data"]["fundraiser"];
    let text = |name: &str| fundraiser[name].as_str().unwrap().to_owned();
    (text("slug"), text("id"))
}

async fn feeds_tell_the_newest_fundraisers_first_and_only_what_may_stand_in_xml(world: &World) {
    world.load_demo().await;
    let empty = world.client.get_plain(200, ALL).await;
    assert_eq!(
        empty.header("content-type"),
        "application/atom+xml; charset=utf-8"
    );
    assert!(!empty.text().contains("<entry>"));
    let (first, _) = make(world, "Spring <run> & \"walk\"", "Why ]]> we <b>run</b>").await;
    let (second, id) = make(world, "Autumn run", "").await;
    for address in [ALL, OF_ONE] {
        let feed = world.client.get_plain(200, address).await.text();
        assert!(
            feed.contains("<title>Spring &lt;run&gt; &amp; &quot;walk&quot;</title>"),
            "{feed}"
        );
        assert!(
            feed.contains("Why ]]&gt; we &lt;b&gt;run&lt;/b&gt;") && !feed.contains("<b>"),
            "{feed}"
        );
        assert!(feed.contains(&format!("<id>urn:uuid:{id}</id>")), "{feed}");
        let place = |slug: &str| {
            feed.find(&format!("http://causeway.test/american-red-cross/f/{slug}\""))
                .unwrap()
        };
        assert!(place(&second) < place(&first), "{feed}");
    }
    world
        .execute("update fundraisers set closed_at = 1 where slug = 'autumn-run'")
        .await;
    assert!(
        !world
            .client
            .get_plain(200, ALL)
            .await
            .text()
            .contains("autumn-run")
    );
    assert!(
        !world
            .client
            .get_plain(200, "/aarp/fundraisers.xml")
            .await
            .text()
            .contains("<entry>")
    );
}

async fn a_feed_that_is_known_is_not_sent_again(world: &World) {
    world.load_demo().await;
    make(world, "Spring run", "").await;
    for address in [ALL, OF_ONE] {
        let tag = world
            .client
            .get_plain(200, address)
            .await
            .header("etag")
            .to_owned();
        let known = [("if-none-match", tag.as_str())];
        assert!(
            world
                .client
                .send(304, &Method::GET, address, &known)
                .await
                .body
                .is_empty()
        );
    }
    let tag = world.client.get_plain(200, ALL).await.header("etag").to_owned();
    make(world, "Another run", "").await;
    world
        .client
        .send(200, &Method::GET, ALL, &[("if-none-match", tag.as_str())])
        .await;
}

async fn pages_name_their_feeds(world: &World) {
    world.load_demo().await;
    assert!(
        !world
            .client
            .get_plain(200, "/american-red-cross")
            .await
            .text()
            .contains("atom+xml")
    );
    let (slug, _) = make(world, "Spring run", "").await;
    for (page, feed) in [
        ("/", ALL),
        ("/american-red-cross", OF_ONE),
        (&*format!("/american-red-cross/f/{slug}"), OF_ONE),
    ] {
        let page = world.client.get_plain(200, page).await.text();
        assert!(
            page.contains(&format!(
                "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"{feed}\""
            )),
            "{page}"
        );
    }
    let moved = world.client.get_plain(301, "/530196605/fundraisers.xml").await;
    assert_eq!(moved.header("location"), OF_ONE);
    world.client.get_plain(404, "/no-such-body/fundraisers.xml").await;
}
