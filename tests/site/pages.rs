//! What all pages share: error pages and assets.

use crate::world::World;
use axum::http::Method;
use causeway::web::assets;

on_both_databases!(
    an_unknown_page_is_a_404_with_links,
    an_asset_is_immutable_under_the_url_that_contains_its_hash,
    an_oversized_body_is_refused_with_an_error_page,
    every_page_preloads_the_fonts_that_its_stylesheet_uses,
);

async fn an_unknown_page_is_a_404_with_links(world: &World) {
    for url in ["/no/such/page", "/assets/none-00000000.css"] {
        let page = world.client.get_plain(404, url).await;
        for way_on in [
            "href=\"/\"",
            "href=\"/causes\"",
            "href=\"/dashboard\"",
            "action=\"/search\"",
        ] {
            assert!(page.text().contains(way_on), "{url}: {way_on}");
        }
        assert_eq!(page.header("cache-control"), "no-store");
    }
}

async fn an_asset_is_immutable_under_the_url_that_contains_its_hash(world: &World) {
    for (name, media_type) in [
        ("causeway.css", "text/css"),
        ("causeway.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
        ("figtree.woff2", "font/woff2"),
        ("fraunces.woff2", "font/woff2"),
    ] {
        let asset = world.client.get_plain(200, assets::url(name)).await;
        assert!(asset.header("content-type").starts_with(media_type));
        assert!(asset.header("cache-control").contains("immutable"));
    }
    let older = world.client.get_plain(200, "/assets/causeway-00000000.css").await;
    assert_eq!(older.header("cache-control"), "no-cache");
}

async fn every_page_preloads_the_fonts_that_its_stylesheet_uses(world: &World) {
    let css = world
        .client
        .get_plain(200, assets::url("causeway.css"))
        .await
        .text();
    for url in ["/", "/causes", "/no/such/page", "/dashboard/sign-in"] {
        let status = if url == "/no/such/page" { 404 } else { 200 };
        let page = world.client.get_plain(status, url).await;
        assert!(page.header("content-security-policy").contains("font-src 'self'"));
        for font in assets::FONTS {
            let font = assets::url(font);
            let preload = format!("<link rel=\"preload\" href=\"{font}\" as=\"font\"");
            assert!(page.text().contains(&preload), "{url}: {preload}");
            assert!(css.contains(font), "{font}");
        }
    }
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
