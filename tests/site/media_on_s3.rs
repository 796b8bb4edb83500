//! Pictures on an S3-compatible server, and on one that is away.

use super::media::picture_file;
use crate::api::fundraisers::{Organizer, RED_CROSS, id_of};
use crate::s3::empty_store;
use crate::world::World;
use access::accounts::store::profile;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use causeway::app::picture_sweep::SweptPictures;
use futures_util::TryStreamExt;
use platform::blobs::Blob;
use serde_json::json;
use std::net::TcpListener;
use std::time::Duration;

on_both_databases!(
    pictures_on_s3_are_stored_served_checked_and_swept,
    an_unreachable_blob_store_is_503_and_leaves_no_row,
    a_blob_store_that_does_not_respond_is_503,
);

const ROWS: &str = "select id from pictures";

async fn pictures_on_s3_are_stored_served_checked_and_swept(world: &World) {
    let Some(url) = empty_store() else {
        return;
    };
    let (app, client) = world.with_blobs(&url).await;
    let blobs = app.pictures.blobs();
    blobs.probe().await.unwrap();
    let list = async || -> Vec<Blob> { blobs.list("").try_collect().await.unwrap() };
    let hosted = app.pictures.add(picture_file(1, 300, 200)).await.unwrap();
    let media = format!("/media/{}", hosted.id);
    let picture = client.get_plain(200, &media).await;
    assert_eq!(picture.header("content-type"), "image/jpeg");
    let narrow = client.get_plain(200, &format!("{media}?w=128")).await;
    assert!(narrow.body.len() < picture.body.len());
    let again = client.get_plain(200, &format!("{media}?w=128")).await;
    assert_eq!(again.body, narrow.body, "from the blob store this time");
    let stored = list().await;
    assert_eq!(stored.len(), 2, "the probe left nothing behind: {stored:?}");

    let (folder, _) = stored[0].name.rsplit_once('/').unwrap();
    let orphan = format!("{folder}/{}.jpg", "0".repeat(32));
    for name in [orphan.as_str(), "budget.ods"] {
        blobs.put(name, b"x".to_vec()).await.unwrap();
    }
    assert_eq!(app.pictures.sweep().await.unwrap(), 0);
    app.clock.advance(Duration::from_mins(61));
    assert_eq!(app.pictures.sweep().await.unwrap(), 1);
    assert_eq!(blobs.find(&orphan).await.unwrap(), None);
    assert_eq!(list().await.len(), 3);
    client.get_plain(200, &media).await;

    // Nothing uses the picture, so it is removed after a day, with its scaled copies.
    let other = app.pictures.add(picture_file(6, 300, 200)).await.unwrap();
    let profile = profile::update(&app.db, world.account, None, Some(&hosted.id));
    profile.await.unwrap();
    client.get_plain(200, &format!("/media/{}?w=64", other.id)).await;
    assert_eq!(app.sweep_pictures().await.unwrap(), SweptPictures::default());
    app.clock.advance(Duration::from_hours(24));
    let removed = SweptPictures {
        pictures: 1,
        blobs: 2,
    };
    assert_eq!(app.sweep_pictures().await.unwrap(), removed);
    client.get_plain(404, &format!("/media/{}", other.id)).await;
    assert_eq!(list().await.len(), 3);

    let check = platform::hosted::check::check(&app.pictures).await.unwrap();
    assert_eq!((check.pictures, check.differences.len()), (1, 0));
    let original = stored.iter().find(|blob| !blob.name.contains(".w"));
    blobs
        .put(&original.unwrap().name, b"another".to_vec())
        .await
        .unwrap();
    let check = platform::hosted::check::check(&app.pictures).await.unwrap();
    assert_eq!(check.differences.len(), 1);
}

async fn an_unreachable_blob_store_is_503_and_leaves_no_row(world: &World) {
    let organizer = Organizer::new(world).await;
    let hosted = world.app.pictures.add(picture_file(2, 300, 200)).await.unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (app, client) = world
        .with_blobs(&format!("s3://pictures?endpoint=http://{address}"))
        .await;
    let response = client.get_plain(503, &format!("/media/{}", hosted.id)).await;
    assert_eq!(response.code(), "unavailable");
    assert!(!response.header("retry-after").is_empty());
    let error = app.pictures.add(picture_file(3, 300, 200)).await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");

    let image = BASE64_STANDARD.encode(picture_file(5, 20, 20));
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Run", "imageBase64": image});
    let response = organizer.at(&client).create(503, &body).await;
    assert!(!response.header("retry-after").is_empty());
    assert_eq!(world.texts(ROWS).await, [hosted.id]);
}

async fn a_blob_store_that_does_not_respond_is_503(world: &World) {
    let hosted = world.app.pictures.add(picture_file(4, 300, 200)).await.unwrap();
    // The system accepts connections, and nobody responds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("s3://pictures?endpoint=http://{}", silent.local_addr().unwrap());
    let (_, client) = world.with_blobs(&url).await;
    let response = client.get_plain(503, &format!("/media/{}", hosted.id)).await;
    assert_eq!(response.code(), "unavailable");
}
