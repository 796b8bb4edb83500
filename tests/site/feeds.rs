//! Atom feeds of fundraisers.

use crate::world::World;
use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::json;

on_both_databases!(
    feeds_list_the_newest_fundraisers_first_as_escaped_xml,
    an_unchanged_feed_gets_304,
    pages_link_to_their_feeds,
);

const ALL_FUNDRAISERS: &str = "/feeds/fundraisers.xml";
const RED_CROSS_FUNDRAISERS: &str = "/american-red-cross/fundraisers.xml";

/// Creates a fundraiser for the Red Cross and returns its slug and ID.
pub async fn create_fundraiser(world: &World, title: &str, description: &str) -> (String, String) {
    let nonprofit = world.client.details(200, "american-red-cross").await;
    let (_, private) = world.create_key(access::keys::Kind::Private).await;
    world.app.access.keys.refresh().await.unwrap();
    let basic = format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{private}", world.client.key))
    );
    let headers = [
        ("authorization", basic.as_str()),
        ("content-type", "application/json"),
    ];
    let body = json!({ "nonprofitId": nonprofit.nonprofit()["id"], "title": title, "description": description, "goal": 10_000 });
    let created = world
        .client
        .send_body(200, &Method::POST, "/v0.2/fundraiser", &headers, body.to_string())
        .await;
    let fundraiser = &created.json["data"]["fundraiser"];
    let text = |name: &str| fundraiser[name].as_str().unwrap().to_owned();
    (text("slug"), text("id"))
}

async fn feeds_list_the_newest_fundraisers_first_as_escaped_xml(world: &World) {
    world.load_demo().await;
    let empty = world.client.get_plain(200, ALL_FUNDRAISERS).await;
    assert_eq!(
        empty.header("content-type"),
        "application/atom+xml; charset=utf-8"
    );
    assert!(!empty.text().contains("<entry>"));
    let (first, _) = create_fundraiser(world, "Spring <run> & \"walk\"", "Why ]]> we <b>run</b>").await;
    let (second, id) = create_fundraiser(world, "Autumn run", "").await;
    for url in [ALL_FUNDRAISERS, RED_CROSS_FUNDRAISERS] {
        let feed = world.client.get_plain(200, url).await.text();
        assert!(
            feed.contains("<title>Spring &lt;run&gt; &amp; &quot;walk&quot;</title>"),
            "{feed}"
        );
        assert!(
            feed.contains("Why ]]&gt; we &lt;b&gt;run&lt;/b&gt;") && !feed.contains("<b>"),
            "{feed}"
        );
        assert!(feed.contains(&format!("<id>urn:uuid:{id}</id>")), "{feed}");
        let position = |slug: &str| {
            feed.find(&format!("http://causeway.test/american-red-cross/f/{slug}\""))
                .unwrap()
        };
        assert!(position(&second) < position(&first), "{feed}");
    }
    world
        .execute("update fundraisers set closed_at = 1 where slug = 'autumn-run'")
        .await;
    assert!(
        !world
            .client
            .get_plain(200, ALL_FUNDRAISERS)
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

async fn an_unchanged_feed_gets_304(world: &World) {
    world.load_demo().await;
    create_fundraiser(world, "Spring run", "").await;
    for url in [ALL_FUNDRAISERS, RED_CROSS_FUNDRAISERS] {
        let tag = world.client.get_plain(200, url).await.header("etag").to_owned();
        let if_none_match = [("if-none-match", tag.as_str())];
        assert!(
            world
                .client
                .send(304, &Method::GET, url, &if_none_match)
                .await
                .body
                .is_empty()
        );
    }
    let tag = world
        .client
        .get_plain(200, ALL_FUNDRAISERS)
        .await
        .header("etag")
        .to_owned();
    create_fundraiser(world, "Another run", "").await;
    world
        .client
        .send(
            200,
            &Method::GET,
            ALL_FUNDRAISERS,
            &[("if-none-match", tag.as_str())],
        )
        .await;
}

async fn pages_link_to_their_feeds(world: &World) {
    world.load_demo().await;
    assert!(
        !world
            .client
            .get_plain(200, "/american-red-cross")
            .await
            .text()
            .contains("atom+xml")
    );
    let (slug, _) = create_fundraiser(world, "Spring run", "").await;
    for (page, feed) in [
        ("/", ALL_FUNDRAISERS),
        ("/american-red-cross", RED_CROSS_FUNDRAISERS),
        (&*format!("/american-red-cross/f/{slug}"), RED_CROSS_FUNDRAISERS),
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
    assert_eq!(moved.header("location"), RED_CROSS_FUNDRAISERS);
    world
        .client
        .get_plain(404, "/no-such-nonprofit/fundraisers.xml")
        .await;
}
