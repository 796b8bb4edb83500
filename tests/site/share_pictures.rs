//! Share pictures of profiles and fundraisers.

use super::feeds::create_fundraiser;
use crate::dashboard::visitor::between;
use crate::world::World;
use axum::http::Method;

on_both_databases!(
    every_profile_has_an_immutable_share_picture,
    the_share_picture_of_a_fundraiser_changes_with_its_total,
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
