//! The name, logo, accent color and operator that the settings give the site.

use crate::client::Client;
use crate::world::World;
use causeway::app::App;
use causeway::config::{AccentColor, Config, SiteSettings};
use causeway::web::assets;
use std::path::PathBuf;

on_both_databases!(
    every_page_shows_the_identity_of_its_operator,
    a_logo_that_is_not_a_picture_is_refused_at_the_start,
);

async fn client_of(world: &World, site: SiteSettings) -> Client {
    let config = Config {
        site,
        ..world.app.config.clone()
    };
    let app = App::build(config).await.unwrap();
    Client::new(&app, &world.client.key)
}

/// A PNG of 400 by 100 pixels.
fn logo(world: &World) -> PathBuf {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 400, 100);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0x80; 4 * 400 * 100]).unwrap();
    writer.finish().unwrap();
    world.file("logo.png", bytes)
}

async fn every_page_shows_the_identity_of_its_operator(world: &World) {
    let client = client_of(
        world,
        SiteSettings {
            name: "Giving Tree".to_owned(),
            logo: Some(logo(world)),
            accent_color: Some(AccentColor::parse("#7a1fa2").unwrap()),
            operator: "Tree Fund <Inc>".to_owned(),
            ..SiteSettings::default()
        },
    )
    .await;
    let mut stylesheets = Vec::new();
    for (status, url) in [
        (200, "/"),
        (200, "/causes"),
        (200, "/dashboard/sign-in"),
        (404, "/no/such/page"),
    ] {
        let page = client.get_plain(status, url).await.text();
        assert!(page.contains("Giving Tree"), "{url}");
        assert!(!page.contains("Causeway"), "{url}");
        assert!(page.contains("Run by Tree Fund &#60;Inc&#62;."), "{url}");
        assert!(page.contains("alt=\"Giving Tree\""), "{url}");
        let (_, rest) = page.split_once("rel=\"stylesheet\" href=\"").unwrap();
        stylesheets.push(rest.split('"').next().unwrap().to_owned());
        let (_, rest) = page.split_once("<img src=\"/assets/logo-").unwrap();
        let logo = format!("/assets/logo-{}", rest.split('"').next().unwrap());
        let logo = client.get_plain(200, &logo).await;
        assert_eq!(logo.header("content-type"), "image/webp");
        assert!(logo.header("cache-control").contains("immutable"));
    }
    stylesheets.dedup();
    let [stylesheet] = stylesheets.as_slice() else {
        panic!("{stylesheets:?}")
    };
    assert_ne!(stylesheet, assets::url("causeway.css"));
    let css = client.get_plain(200, stylesheet).await;
    assert!(css.header("cache-control").contains("immutable"));
    assert!(css.text().contains("--accent: #7a1fa2;"));
    // The other server in this process has its own identity.
    let page = world.client.get_plain(200, "/").await.text();
    assert!(page.contains("Causeway") && !page.contains("Giving Tree"));
    assert!(page.contains(assets::url("causeway.css")));
}

async fn a_logo_that_is_not_a_picture_is_refused_at_the_start(world: &World) {
    let config = Config {
        site: SiteSettings {
            logo: Some(world.file("logo.svg", "<svg/>")),
            ..SiteSettings::default()
        },
        ..world.app.config.clone()
    };
    let error = App::build(config).await.unwrap_err().to_string();
    assert!(error.contains("site.logo") && error.contains("PNG"), "{error}");
}
