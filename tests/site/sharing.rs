//! The pictures of shared pages.

use super::feeds::make;
use crate::dashboard::visitor::between;
use crate::world::World;
use axum::http::Method;

on_both_databases!(
    every_profile_has_a_picture_that_is_kept_for_ever,
    the_picture_of_a_fundraiser_changes_with_what_it_stands_at,
);

/// The path of the picture that a page names.
async fn picture(world: &World, page: &str) -> String {
    let page = world.client.get_plain(200, page).await.text();
    for told in [
        "og:image:width\" content=\"1200\"",
        "og:image:height\" content=\"630\"",
        "og:image:alt",
        "summary_large_image",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    between(&page, "og:image\" content=\"http://causeway.test", "\"").unwrap()
}

async fn every_profile_has_a_picture_that_is_kept_for_ever(world: &World) {
    world.load_demo().await;
    let address = picture(world, "/american-red-cross").await;
    let answer = world.client.get_plain(200, &address).await;
    assert_eq!(answer.header("content-type"), "image/png");
    assert_eq!(
        answer.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let drawn = image::load_from_memory(&answer.body).unwrap();
    assert_eq!((drawn.width(), drawn.height()), (1_200, 630));
    let known = [("if-none-match", answer.header("etag"))];
    assert!(
        world
            .client
            .send(304, &Method::GET, &address, &known)
            .await
            .body
            .is_empty()
    );
    let plain = world.client.get_plain(200, "/share/american-red-cross.png").await;
    assert_eq!(plain.header("cache-control"), "public, max-age=3600");
    assert_eq!(plain.body, answer.body);
    for none in [
        "/share/american-red-cross",
        "/share/no-such-body.png",
        "/share/american-red-cross/f/nothing.png",
    ] {
        world.client.get_plain(404, none).await;
    }
}

async fn the_picture_of_a_fundraiser_changes_with_what_it_stands_at(world: &World) {
    world.load_demo().await;
    let (slug, id) = make(world, "Spring run 東京", "").await;
    let page = format!("/american-red-cross/f/{slug}");
    let before = picture(world, &page).await;
    assert!(before.starts_with(&format!("/share{page}.png?v=")), "{before}");
    let empty = world.client.get_plain(200, &before).await;
    let gift = causeway::donations::Gift {
        source: "test".parse().unwrap(),
        external_id: "1".parse().unwrap(),
        to: causeway::donations::find_recipient(&world.app, "american-red-cross", Some(&id))
            .await
            .unwrap(),
        amount: causeway::money::Cents(5_000),
        donor: "d".parse().unwrap(),
        name: None,
        is_public: false,
    };
    causeway::donations::record(&world.app, gift).await.unwrap();
    let after = picture(world, &page).await;
    assert_ne!(before, after);
    assert_ne!(world.client.get_plain(200, &after).await.body, empty.body);
}
