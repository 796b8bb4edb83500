//! What uploaded pictures take: the format in which they are stored, and the quota of an account

use crate::api::fundraisers::{Organizer, RED_CROSS, fields, id_of};
use crate::dashboard::visitor::Visitor;
use crate::site::media::{blobs, picture_file};
use crate::world::World;
use access::accounts::store::profile;
use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use pictures::error::PictureError;
use pictures::header::{Format, Header};
use platform::ids::AccountId;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    the_pictures_of_an_account_have_a_quota,
    the_dashboard_shows_the_quota_and_refuses_what_is_over_it,
    an_account_pays_for_a_picture_that_another_one_has_too,
    pictures_with_the_same_pixels_share_a_blob,
    transparent_pictures_are_served_as_webp_and_old_ones_as_png,
);

const MIB: u64 = 1 << 20;

async fn the_pictures_of_an_account_have_a_quota(world: &World) {
    let organizer = Organizer::new(world).await;
    let (account, pictures) = (world.account, &world.app.pictures);
    pictures.upload(account, picture_file(1, 300, 200)).await.unwrap();
    let (size, quota) = pictures.usage(account).await.unwrap();
    assert_eq!((quota, size > 1_000), (200 * MIB, true));

    // Two pictures fit. Of several that are sent to two servers at the same time, one is stored.
    let (app, client) = world.with_picture_quota(size * 5 / 2).await;
    let (other, _) = world.with_picture_quota(size * 5 / 2).await;
    let upload = |app: &causeway::app::App, seed| {
        let pictures = app.pictures.clone();
        async move { pictures.upload(account, picture_file(seed, 300, 200)).await }
    };
    let results = tokio::join!(
        upload(&app, 2),
        upload(&other, 3),
        upload(&app, 4),
        upload(&other, 5)
    );
    let results = [results.0, results.1, results.2, results.3];
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let refused = results.into_iter().filter_map(Result::err);
    assert!(
        refused
            .into_iter()
            .all(|error| error == PictureError::OverQuota(0))
    );
    let (used, quota) = app.pictures.usage(account).await.unwrap();
    assert!(used > size && used <= quota, "{used} of {quota}");
    assert_eq!(blobs(world).len(), 2);

    // A picture that the account has is not refused, and the API names the field.
    upload(&app, 1).await.unwrap();
    let image = BASE64_STANDARD.encode(picture_file(6, 300, 200));
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Run", "imageBase64": image});
    let organizer = organizer.at(&client);
    let refused = organizer.create(400, &body).await;
    assert_eq!(fields(&refused), ["imageBase64"]);
    assert!(refused.text().contains("MiB in total"), "{}", refused.text());
    let dry_run = "/v0.2/fundraiser?dryRun=1";
    let refused = organizer
        .write(400, &Method::POST, dry_run, body.to_string(), &[])
        .await;
    assert_eq!(fields(&refused), ["imageBase64"]);

    // Nothing uses these pictures. After a day they are removed, and there is space for others.
    for hours in [0, 25] {
        world.app.clock.advance(Duration::from_hours(hours));
        world.app.sweep_pictures().await.unwrap();
    }
    assert_eq!(app.pictures.usage(account).await.unwrap().0, 0);
    organizer.create(200, &body).await;
    assert!(app.pictures.usage(account).await.unwrap().0 > 0);
}

async fn the_dashboard_shows_the_quota_and_refuses_what_is_over_it(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let settings = async || visitor.get(200, "/dashboard/settings").await.text();
    assert!(settings().await.contains("0.0 MiB of 200 MiB used"));
    let picture = picture_file(1, 300, 200);
    let profile = "/dashboard/settings/profile";
    visitor
        .upload(303, profile, &[("name", "")], Some(&picture))
        .await;
    assert!(settings().await.contains("0.1 MiB of 200 MiB used"));

    let (_, client) = world.with_picture_quota(1).await;
    let visitor = visitor.at(&client);
    let another = picture_file(2, 300, 200);
    let page = visitor
        .upload(422, profile, &[("name", "")], Some(&another))
        .await
        .text();
    assert!(page.contains("may take at most 0 MiB in total"), "{page}");
}

async fn an_account_pays_for_a_picture_that_another_one_has_too(world: &World) {
    let pictures = &world.app.pictures;
    let (first, second) = (world.account, AccountId::new());
    let usage = async |account| pictures.usage(account).await.unwrap().0;
    let id = pictures
        .upload(first, picture_file(1, 300, 200))
        .await
        .unwrap()
        .id;
    let again = pictures.upload(second, picture_file(1, 300, 200)).await.unwrap();
    assert_eq!((&again.id, blobs(world).len()), (&id, 1));
    assert_eq!(usage(first).await, usage(second).await);

    // Only the first account uses it.
    profile::update(&world.app.db, first, None, Some(&id))
        .await
        .unwrap();
    for hours in [0, 25] {
        world.app.clock.advance(Duration::from_hours(hours));
        world.app.sweep_pictures().await.unwrap();
    }
    assert!(usage(first).await > 0);
    assert_eq!(usage(second).await, 0);
    world.client.get_plain(200, &format!("/media/{id}")).await;
    // A picture that is removed counts no more.
    pictures.remove(&id).await.unwrap();
    assert_eq!(usage(first).await, 0);
}

async fn pictures_with_the_same_pixels_share_a_blob(world: &World) {
    let pictures = &world.app.pictures;
    let file = picture_file(1, 300, 200);
    let longer = [&file[..], b"anything"].concat();
    let (one, other) = tokio::join!(pictures.add(file), pictures.add(longer));
    let (one, other) = (one.unwrap().id, other.unwrap().id);
    assert_ne!(one, other);
    assert_eq!(blobs(world).len(), 1);
    pictures.remove(&one).await.unwrap();
    world.app.clock.advance(Duration::from_hours(2));
    assert_eq!(pictures.sweep().await.unwrap(), 0);
    world.client.get_plain(200, &format!("/media/{other}")).await;
    pictures.remove(&other).await.unwrap();
    assert_eq!(pictures.sweep().await.unwrap(), 1);
}

async fn transparent_pictures_are_served_as_webp_and_old_ones_as_png(world: &World) {
    let glass = glass_file();
    let id = world.app.pictures.add(glass.clone()).await.unwrap().id;
    let get = async |path: String| {
        let picture = world.client.get_plain(200, &path).await;
        let header = Header::read(&picture.body).unwrap();
        let length = picture.header("content-length");
        assert_eq!(length, picture.body.len().to_string());
        (
            picture.header("content-type").to_owned(),
            header.format,
            header.width,
        )
    };
    let webp = |width| ("image/webp".to_owned(), Format::WebP, width);
    assert_eq!(get(format!("/media/{id}")).await, webp(100));
    assert_eq!(get(format!("/media/{id}?w=64")).await, webp(64));

    // As an earlier version stored it, and without the scaled one.
    for blob in blobs(world) {
        if blob.extension().is_some_and(|extension| extension == "webp") {
            std::fs::write(blob, &glass).unwrap();
        } else {
            std::fs::remove_file(blob).unwrap();
        }
    }
    world
        .execute("update pictures set kind = 'png', size = null")
        .await;
    let png = |width| ("image/png".to_owned(), Format::Png, width);
    assert_eq!(get(format!("/media/{id}")).await, png(100));
    assert_eq!(get(format!("/media/{id}?w=64")).await, png(64));
    world.app.sweep_pictures().await.unwrap();
    let sizes = world.texts("select cast(size as text) from pictures").await;
    assert_eq!(sizes, [glass.len().to_string()]);
}

/// A PNG file whose pixels are half transparent.
fn glass_file() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 100, 100);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header().unwrap();
    writer
        .write_image_data(&[10, 20, 30, 128].repeat(100 * 100))
        .unwrap();
    writer.finish().unwrap();
    bytes
}
