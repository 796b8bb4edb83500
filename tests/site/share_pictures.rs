//! Share pictures of profiles and fundraisers.

use super::feeds::create_fundraiser;
use crate::api::fundraisers::{NYU, Organizer, RED_CROSS, SPECIAL, id_of};
use crate::dashboard::visitor::between;
use crate::world::World;
use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::json;
use std::collections::BTreeMap;

on_both_databases!(
    every_profile_has_an_immutable_share_picture,
    the_share_picture_of_a_fundraiser_changes_with_its_total,
    messengers_read_a_short_title_a_plain_description_and_a_small_picture,
    a_fundraiser_for_several_nonprofits_is_shared_by_its_name,
);

/// The path of a page's share picture.
async fn picture(world: &World, page: &str) -> String {
    let page = world.client.get_plain(200, page).await.text();
    for expected in [
        "og:image:width\" content=\"1200\"",
        "og:image:height\" content=\"630\"",
        "og:image:alt",
        "summary_large_image",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    between(&page, "og:image\" content=\"http://causeway.test", "\"").unwrap()
}

async fn every_profile_has_an_immutable_share_picture(world: &World) {
    world.load_demo().await;
    let url = picture(world, "/american-red-cross").await;
    let response = world.client.get_plain(200, &url).await;
    assert_eq!(response.header("content-type"), "image/png");
    assert_eq!(
        response.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let header = pictures::header::Header::read(&response.body).unwrap();
    assert_eq!((header.width, header.height), (1_200, 630));
    let if_none_match = [("if-none-match", response.header("etag"))];
    assert!(
        world
            .client
            .send(304, &Method::GET, &url, &if_none_match)
            .await
            .body
            .is_empty()
    );
    let plain = world.client.get_plain(200, "/share/american-red-cross.png").await;
    assert_eq!(plain.header("cache-control"), "public, max-age=3600");
    assert_eq!(plain.body, response.body);
    for none in [
        "/share/american-red-cross",
        "/share/no-such-nonprofit.png",
        "/share/american-red-cross/f/nothing.png",
    ] {
        world.client.get_plain(404, none).await;
    }
}

async fn the_share_picture_of_a_fundraiser_changes_with_its_total(world: &World) {
    world.load_demo().await;
    let (slug, id) = create_fundraiser(world, "Spring run 東京", "").await;
    let page = format!("/american-red-cross/f/{slug}");
    let before = picture(world, &page).await;
    assert!(before.starts_with(&format!("/share{page}.png?v=")), "{before}");
    let empty = world.client.get_plain(200, &before).await;
    let donation = giving::donations::NewDonation {
        source: "test".parse().unwrap(),
        external_id: "1".parse().unwrap(),
        mode: giving::ledger::entry::Mode::Live,
        to: giving::donations::find_recipient(
            &world.app.db,
            &world.app.directory,
            &giving::donations::RecipientName::parse("american-red-cross", Some(&id)).unwrap(),
        )
        .await
        .unwrap(),
        amount: platform::money::Cents::new(5_000),
        donor: "d".parse().unwrap(),
        name: None,
        is_public: false,
    };
    world.app.giving.recorder.record(donation).await.unwrap();
    let after = picture(world, &page).await;
    assert_ne!(before, after);
    assert_ne!(world.client.get_plain(200, &after).await.body, empty.body);
}

/// The tags of a page as messengers read them: from the beginning of the page, with the first of each name.
async fn read_tags(world: &World, url: &str) -> BTreeMap<String, String> {
    let headers = [("user-agent", "WhatsApp/2.23.20.0"), ("range", "bytes=0-65535")];
    let page = world.client.send(200, &Method::GET, url, &headers).await.text();
    let head = page.split_once("</head>").unwrap().0;
    assert!(head.len() < 32_000, "messengers read only the beginning");
    let mut tags = BTreeMap::new();
    for tag in head.split("<meta ").skip(1) {
        let tag = tag.split_once('>').unwrap().0;
        let name = between(tag, "property=\"", "\"").or_else(|| between(tag, "name=\"", "\""));
        if let (Some(name), Some(content)) = (name, between(tag, "content=\"", "\"")) {
            let content = content
                .replace("&#34;", "\"")
                .replace("&#39;", "'")
                .replace("&#60;", "<")
                .replace("&#62;", ">")
                .replace("&#38;", "&");
            tags.entry(name).or_insert(content);
        }
    }
    tags
}

/// Reads the tags of a page and its picture, and checks what messengers ask of them.
async fn check_tags(world: &World, url: &str) -> BTreeMap<String, String> {
    let tags = read_tags(world, url).await;
    let text = |name: &str| {
        tags.get(name)
            .unwrap_or_else(|| panic!("no {name} on {url}"))
            .clone()
    };
    for (name, max) in [("og:title", 70), ("og:description", 155), ("description", 155)] {
        let value = text(name);
        assert!((1..=max).contains(&value.chars().count()), "{name}: {value}");
        assert!(
            !value.contains(['\n', '*', '#']) && !value.contains("]("),
            "{name}: {value}"
        );
    }
    assert_eq!(text("twitter:card"), "summary_large_image");
    let picture = text("og:image");
    let path = picture.strip_prefix("http://causeway.test").unwrap();
    let response = world.client.get_plain(200, path).await;
    assert_eq!(response.header("content-type"), text("og:image:type"));
    // WhatsApp shows no picture above 300 kB.
    assert!(response.body.len() < 300_000, "{}", response.body.len());
    let header = pictures::header::Header::read(&response.body).unwrap();
    let size = (header.width.to_string(), header.height.to_string());
    assert_eq!(size, (text("og:image:width"), text("og:image:height")));
    tags
}

async fn messengers_read_a_short_title_a_plain_description_and_a_small_picture(world: &World) {
    let organizer = Organizer::new(world).await;
    let story = format!(
        "# Why\n\nWe **run** for [all](https://example.org) & \"more\".\n\n{}",
        "Every mile counts. ".repeat(30)
    );
    let title = "Every dollar we raise this spring goes to people who lost their homes in the floods";
    let noise: Vec<u8> = (0..1_600 * 900 * 3_u32)
        .map(|index| (index.wrapping_mul(2_654_435_761) >> 27) as u8 + (index / 20_000) as u8)
        .collect();
    let fields = json!({"title": title, "description": story, "imageBase64": STANDARD.encode(png(1_600, 900, &noise))});
    let run = organizer.create_fundraiser(fields).await;
    let page = format!("/american-red-cross/f/{}", run["slug"].as_str().unwrap());
    let tags = check_tags(world, &page).await;
    assert!(tags["og:title"].ends_with('…') && title.starts_with(tags["og:title"].trim_end_matches('…')));
    assert!(
        tags["og:description"].starts_with("Why We run for all & \"more\". Every mile counts."),
        "{tags:?}"
    );
    assert_eq!(tags["og:image:type"], "image/jpeg");
    let plain = organizer.create_fundraiser(json!({})).await;
    let page = format!("/american-red-cross/f/{}", plain["slug"].as_str().unwrap());
    let tags = check_tags(world, &page).await;
    assert_eq!(
        (&*tags["og:title"], &*tags["og:image:type"]),
        ("Spring run", "image/png")
    );
    let tags = check_tags(world, "/american-red-cross").await;
    assert_eq!(tags["og:title"], "American Red Cross");
    // The file that was shared before there was a cover still shows the fundraiser.
    let file = format!(
        "/share/american-red-cross/f/{}.png",
        run["slug"].as_str().unwrap()
    );
    let response = world.client.get_plain(200, &file).await;
    assert_eq!(response.header("content-type"), "image/jpeg");
}

/// A picture of red, green and blue bytes.
fn png(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    bytes
}

async fn a_fundraiser_for_several_nonprofits_is_shared_by_its_name(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": SPECIAL, "title": "Two at once", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of(RED_CROSS), id_of(NYU)]});
    let created = organizer.create(200, &body).await;
    let tags = check_tags(world, "/f/two-at-once").await;
    assert_eq!(tags["og:url"], "http://causeway.test/f/two-at-once");
    let page = world.client.get_plain(200, "/f/two-at-once").await.text();
    assert!(
        page.contains("<code id=\"share-url\">http://causeway.test/f/two-at-once</code>"),
        "{page}"
    );
    // Links that were shared before lead there, and so does the URL that the API returns.
    let former = created.json["data"]["fundraiser"]["url"].as_str().unwrap();
    let former = former.strip_prefix("http://causeway.test").unwrap();
    assert_eq!(former, "/special-fundraiser/f/two-at-once");
    let id = created.json["data"]["fundraiser"]["id"].as_str().unwrap();
    for (url, expected) in [
        (format!("{former}?amount=5"), "/f/two-at-once?amount=5"),
        (format!("/f/{id}"), "/f/two-at-once"),
        ("/f/Two-At-Once".to_owned(), "/f/two-at-once"),
    ] {
        let response = world.client.get_plain(301, &url).await;
        assert_eq!(response.header("location"), expected);
    }
    for path in ["/give", "/proof", "/report"] {
        world
            .client
            .get_plain(200, &format!("/f/two-at-once{path}"))
            .await;
        world.client.get_plain(404, &format!("/f/nothing{path}")).await;
    }
    let code = world.client.get_plain(200, "/share/f/two-at-once.svg").await;
    assert_eq!(code.header("content-type"), "image/svg+xml");
    let feed = world.client.get_plain(200, "/feeds/fundraisers.xml").await.text();
    assert!(feed.contains("http://causeway.test/f/two-at-once"), "{feed}");
    // An embed understands the new URL too.
    let snippet =
        "/developers/embed?kind=thermometer&fundraiser=http%3A%2F%2Fcauseway.test%2Ff%2Ftwo-at-once";
    let embed = world.client.get_plain(200, snippet).await.text();
    assert!(embed.contains("Two at once"), "{embed}");
}
