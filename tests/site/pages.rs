//! What all pages share: error pages and assets.

use crate::world::World;
use axum::http::Method;
use causeway::web::assets;

on_both_databases!(
    an_unknown_page_is_a_404_with_links,
    an_asset_is_immutable_under_the_url_that_contains_its_hash,
    an_oversized_body_is_refused_with_an_error_page,
);

async fn an_unknown_page_is_a_404_with_links(world: &World) {
    for url in ["/no/such/page", "/assets/none-00000000.css"] {
        let page = world.client.get_plain(404, url).await;
        assert!(page.text().contains("href=\"/dashboard\""), "{url}");
        assert_eq!(page.header("cache-control"), "no-store");
    }
}

async fn an_asset_is_immutable_under_the_url_that_contains_its_hash(world: &World) {
    for (name, media_type) in [
        ("causeway.css", "text/css"),
        ("causeway.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let asset = world.client.get_plain(200, assets::url(name)).await;
        assert!(asset.header("content-type").starts_with(media_type));
        assert!(asset.header("cache-control").contains("immutable"));
    }
    let older = world.client.get_plain(200, "/assets/causeway-00000000.css").await;
    assert_eq!(older.header("cache-control"), "no-cache");
}

async fn an_oversized_body_is_refused_with_an_error_page(world: &World) {
    let length = (16 * 1024 * 1024 + 1).to_string();
    world
        .client
        .send(
            413,
            &Method::POST,
            "/dashboard",
            &[("content-length", length.as_str())],
        )
        .await;
}
