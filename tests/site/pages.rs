//! Pages as all of them are: errors with a way on, assets that may be kept for ever.

use crate::world::World;
use axum::http::Method;
use causeway::web::assets;

on_both_databases!(
    an_address_that_is_no_page_is_told_with_a_way_on,
    an_asset_is_kept_for_ever_under_the_address_that_names_its_content,
    a_body_that_is_too_large_for_a_page_is_refused_with_a_page,
);

async fn an_address_that_is_no_page_is_told_with_a_way_on(world: &World) {
    for address in [
        "/no/such/page",
        "/v0.1/nonprofit/530196605",
        "/assets/none-00000000.css",
    ] {
        let page = world.client.get_plain(404, address).await;
        assert!(page.text().contains("href=\"/dashboard\""), "{address}");
        assert_eq!(page.header("cache-control"), "no-store");
    }
}

async fn an_asset_is_kept_for_ever_under_the_address_that_names_its_content(world: &World) {
    for (name, media_type) in [
        ("causeway.css", "text/css"),
        ("causeway.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let asset = world.client.get_plain(200, assets::address(name)).await;
        assert!(asset.header("content-type").starts_with(media_type));
        assert!(asset.header("cache-control").contains("immutable"));
    }
    let older = world.client.get_plain(200, "/assets/causeway-00000000.css").await;
    assert_eq!(older.header("cache-control"), "no-cache");
}

async fn a_body_that_is_too_large_for_a_page_is_refused_with_a_page(world: &World) {
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
