//! `GET /media/{hosted id}`

use crate::api::fundraisers::Organizer;
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use access::accounts::store::profile;
use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use causeway::app::picture_sweep::SweptPictures;
use pictures::header::Header;
use platform::hosted::unused;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

on_both_databases!(
    an_imported_logo_is_hosted_and_linked,
    a_hosted_picture_has_fixed_widths_and_is_never_enlarged,
    identical_pictures_are_stored_once,
    an_invalid_picture_rejects_its_line_and_nothing_is_imported,
    leftovers_of_failed_uploads_are_removed_after_an_hour,
    pictures_that_nothing_uses_are_removed_after_a_day,
    an_unused_picture_stays_while_a_backup_copies_pictures,
    the_check_names_pictures_that_are_missing_or_changed,
    an_unwritable_folder_is_a_server_error,
    every_picture_url_in_a_details_response_loads,
    svg_markup_in_a_name_is_escaped,
    a_renamed_nonprofit_gets_a_new_monogram,
    an_unknown_picture_is_not_found,
);

fn path(url: &Value) -> &str {
    url.as_str()
        .unwrap()
        .strip_prefix("http://causeway.test")
        .unwrap()
}

/// Encodes RGB pixels as a PNG file.
fn encode_png(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A PNG file that depends only on the arguments.
pub fn picture_file(seed: u8, width: u32, height: u32) -> Vec<u8> {
    let pixel = |x: u32, y: u32| [(x % 256) as u8, (y % 256) as u8, seed];
    let rows = (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y)));
    encode_png(width, height, &rows.collect::<Vec<u8>>())
}

fn data_url(bytes: &[u8]) -> String {
    format!("data:image/png;base64,{}", BASE64_STANDARD.encode(bytes))
}

/// All files in the blob folder.
pub fn blobs(world: &World) -> Vec<PathBuf> {
    let mut folders = vec![world.data().join("blobs")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

async fn an_imported_logo_is_hosted_and_linked(world: &World) {
    world.load_demo().await;
    let logo = data_url(&picture_file(1, 300, 200));
    let line = format!(r#"{{"ein":"530196605","logo":"{logo}","cover":"https://example.org/c.jpg"}}"#);
    let summary = world.import_nonprofits(&line).await.unwrap();
    assert_eq!((summary.changed, summary.refused), (1, 0));
    let details = world.client.details(200, "530196605").await;
    let nonprofit = details.nonprofit();
    let id = nonprofit["logoHostedId"].as_str().unwrap();
    assert_eq!(nonprofit["logoUrl"], format!("http://causeway.test/media/{id}"));
    assert_eq!(nonprofit["coverImageUrl"], "https://example.org/c.jpg");

    let picture = world.client.get_plain(200, path(&nonprofit["logoUrl"])).await;
    assert_eq!(picture.header("content-type"), "image/jpeg");
    assert_eq!(picture.header("x-content-type-options"), "nosniff");
    assert_eq!(
        picture.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(
        picture.header("content-security-policy"),
        "default-src 'none'; sandbox"
    );
    assert_eq!(
        picture.header("content-disposition"),
        format!("inline; filename=\"{id}.jpg\"")
    );
    let header = Header::read(&picture.body).unwrap();
    assert_eq!((header.width, header.height), (300, 200));

    // Importing the same line again changes nothing, in the database and on disk.
    let before = (world.dump().await, blobs(world));
    let again = world.import_nonprofits(&line).await.unwrap();
    assert_eq!((again.unchanged, again.total_changes()), (1, 0));
    assert_eq!((world.dump().await, blobs(world)), before);
}

async fn a_hosted_picture_has_fixed_widths_and_is_never_enlarged(world: &World) {
    let hosted = world.app.pictures.add(picture_file(2, 300, 200)).await.unwrap();
    assert_eq!((hosted.width, hosted.height), (300, 200));
    let url = format!("/media/{}", hosted.id);
    for (width, shown) in [
        (64, (64, 42)),
        (256, (256, 170)),
        (512, (300, 200)),
        (2_048, (300, 200)),
    ] {
        let url = format!("{url}?w={width}");
        let picture = world.client.get_plain(200, &url).await;
        let header = Header::read(&picture.body).unwrap();
        assert_eq!((header.width, header.height), shown, "{width}");
        let again = world.client.get_plain(200, &url).await;
        assert_eq!(
            (again.header("etag"), &again.body),
            (picture.header("etag"), &picture.body)
        );
        let if_none_match = [("if-none-match", picture.header("etag"))];
        let unchanged = world.client.send(304, &Method::GET, &url, &if_none_match).await;
        assert!(unchanged.body.is_empty() && unchanged.headers.contains_key("cache-control"));
        let head = world.client.send(200, &Method::HEAD, &url, &[]).await;
        assert_eq!(head.header("content-length"), picture.body.len().to_string());
    }
    for bad in ["0", "65", "-64", "x", "", "99999999999999999999"] {
        let response = world.client.get_plain(400, &format!("{url}?w={bad}")).await;
        assert_eq!(response.code(), "invalid_parameter");
        assert!(
            response.text().contains("64, 128, 256, 512, 1024, 2048"),
            "{}",
            response.text()
        );
    }
    let unknown = format!("/media/picture-{}", "0".repeat(32));
    assert_eq!(world.client.get_plain(404, &unknown).await.code(), "not_found");
}

async fn identical_pictures_are_stored_once(world: &World) {
    let bytes = picture_file(3, 40, 30);
    let url = data_url(&bytes);
    let bare = BASE64_STANDARD.encode(&bytes);
    let pictures = &world.app.pictures;
    let (first, second, third) = tokio::join!(
        pictures.add(bytes.clone()),
        pictures.add_base64(None, &url),
        pictures.add_base64(None, &bare)
    );
    let first = first.unwrap();
    assert_eq!((&second.unwrap(), &third.unwrap()), (&first, &first));
    assert_eq!(blobs(world).len(), 1);
    assert_ne!(pictures.add(picture_file(4, 40, 30)).await.unwrap().id, first.id);
}

async fn an_invalid_picture_rejects_its_line_and_nothing_is_imported(world: &World) {
    world.load_demo().await;
    let before = world.dump().await;
    let good = data_url(&picture_file(5, 20, 20));
    for (bad, reason) in [
        (
            "data:image/png;base64,R0lGODlhAQABAAAAACw=",
            "cover: this is not a PNG, JPEG or WebP picture",
        ),
        (
            "data:image/png;base64,***",
            "cover: the picture is not valid base64",
        ),
        ("data:image/png,abc", "cover: the picture is not valid base64"),
        (
            "data:image/jpeg;base64,iVBORw0KGgo=",
            "cover: the picture is truncated or damaged",
        ),
    ] {
        let line = format!(r#"{{"ein":"530196605","logo":"{good}","cover":"{bad}"}}"#);
        let error = world.import_nonprofits(&line).await.unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains(reason), "{error}");
        assert_eq!(world.dump().await, before);
        world.app.clock.advance(Duration::from_secs(1));
    }
}

async fn leftovers_of_failed_uploads_are_removed_after_an_hour(world: &World) {
    let hosted = world.app.pictures.add(picture_file(6, 300, 300)).await.unwrap();
    let url = format!("/media/{}?w=128", hosted.id);
    world.client.get_plain(200, &url).await;
    let stored = blobs(world);
    assert_eq!(stored.len(), 2);
    let folder = stored[0].parent().unwrap();
    let orphan = "0".repeat(32);
    for orphan in [
        format!("{orphan}.jpg"),
        format!("{orphan}.jpg.w64"),
        format!("{orphan}.jpg#1"),
    ] {
        std::fs::write(folder.join(orphan), b"x").unwrap();
    }
    // Pictures of another database and files with other names must not be removed.
    let foreign = world
        .data()
        .join("blobs/pictures")
        .join("1".repeat(32))
        .join("00");
    std::fs::create_dir_all(&foreign).unwrap();
    let foreign = [
        foreign.join(format!("{orphan}.jpg")),
        foreign.join(format!("{orphan}.jpg#1")),
        folder.join("holiday.jpg"),
        folder.join("notes #1.txt"),
        world.data().join("blobs/budget.ods"),
        world.data().join("blobs/draft#2.txt"),
    ];
    for file in &foreign {
        std::fs::write(file, b"x").unwrap();
    }
    assert_eq!(world.app.pictures.sweep().await.unwrap(), 0);
    world.app.clock.advance(Duration::from_mins(61));
    assert_eq!(world.app.pictures.sweep().await.unwrap(), 3);
    assert!(foreign.iter().all(|file| file.exists()));
    assert_eq!(blobs(world).len(), 2 + foreign.len());
    world.client.get_plain(200, &url).await;
}

async fn pictures_that_nothing_uses_are_removed_after_a_day(world: &World) {
    let organizer = Organizer::new(world).await;
    let image = |seed| BASE64_STANDARD.encode(picture_file(seed, 300, 200));
    let fundraiser = organizer
        .create_fundraiser(json!({"imageBase64": image(1)}))
        .await;
    let cover = fundraiser["coverImageHostedId"].as_str().unwrap().to_owned();
    let logo = data_url(&picture_file(2, 300, 200));
    let line = format!(r#"{{"ein":"530196605","logo":"{logo}"}}"#);
    world.import_nonprofits(&line).await.unwrap();
    let pictures = &world.app.pictures;
    let own = pictures.add(picture_file(3, 300, 200)).await.unwrap().id;
    let profile = profile::update(&world.app.db, world.account, None, Some(&own));
    profile.await.unwrap();
    let unused = pictures.add(picture_file(4, 300, 200)).await.unwrap().id;
    let again = pictures.add(picture_file(5, 300, 200)).await.unwrap().id;
    let url = format!("/media/{unused}");
    world.client.get_plain(200, &format!("{url}?w=128")).await;
    let nothing = SweptPictures::default();
    let sweep = async || world.app.sweep_pictures().await.unwrap();
    assert_eq!((sweep().await, blobs(world).len()), (nothing, 6));

    world.app.clock.advance(Duration::from_hours(23));
    assert_eq!(sweep().await, nothing);
    // Uploaded once more: it gets another day.
    assert_eq!(pictures.add(picture_file(5, 300, 200)).await.unwrap().id, again);
    assert!(pictures.reuse(&again).await.unwrap());
    world.app.clock.advance(Duration::from_hours(1));
    world.client.get_plain(200, &url).await;
    let removed = SweptPictures {
        pictures: 1,
        blobs: 2,
    };
    assert_eq!((sweep().await, blobs(world).len()), (removed, 4));
    world.client.get_plain(404, &url).await;
    assert!(!pictures.reuse(&unused).await.unwrap());
    for used in [&cover, &own, &again] {
        world.client.get_plain(200, &format!("/media/{used}")).await;
    }

    // A cover that is replaced stays for a day, and one that is used again stays.
    let path = format!("/v0.2/fundraiser/{}", fundraiser["id"].as_str().unwrap());
    for seed in [6, 1] {
        let change = json!({"imageBase64": image(seed)}).to_string();
        organizer.write(200, &Method::PATCH, &path, change, &[]).await;
        assert_eq!(sweep().await, nothing);
    }
    world.app.clock.advance(Duration::from_hours(25));
    assert_eq!(sweep().await.pictures, 2, "picture 6, and the one without a user");
    world.client.get_plain(200, &format!("/media/{cover}")).await;
    let check = platform::hosted::check::check(pictures).await.unwrap();
    assert_eq!((check.pictures, check.differences.len()), (3, 0));
}

async fn an_unused_picture_stays_while_a_backup_copies_pictures(world: &World) {
    world.app.pictures.add(picture_file(1, 20, 20)).await.unwrap();
    world.app.sweep_pictures().await.unwrap();
    world.app.clock.advance(Duration::from_hours(25));
    let backup = unused::wait_for_lease(&world.app.db).await.unwrap().unwrap();
    let swept = backup.hold(world.app.sweep_pictures()).await.unwrap();
    assert_eq!(swept, SweptPictures::default());
    backup.release().await.unwrap();
    assert_eq!(world.app.sweep_pictures().await.unwrap().pictures, 1);
}

async fn the_check_names_pictures_that_are_missing_or_changed(world: &World) {
    let pictures = &world.app.pictures;
    let lost = pictures.add(picture_file(7, 20, 20)).await.unwrap();
    std::fs::remove_file(&blobs(world)[0]).unwrap();
    let changed = pictures.add(picture_file(8, 20, 20)).await.unwrap();
    std::fs::write(&blobs(world)[0], b"another").unwrap();
    let intact = pictures.add(picture_file(9, 20, 20)).await.unwrap();
    let check = platform::hosted::check::check(pictures).await.unwrap();
    assert_eq!(check.pictures, 3);
    let is_named = |id: &str| {
        check
            .differences
            .iter()
            .any(|difference| difference.starts_with(id))
    };
    assert!(
        is_named(&lost.id) && is_named(&changed.id) && !is_named(&intact.id),
        "{:?}",
        check.differences
    );
    world.client.get_plain(503, &format!("/media/{}", lost.id)).await;
}

async fn an_unwritable_folder_is_a_server_error(world: &World) {
    let folder = world.data().join("blobs");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, b"").unwrap();
    let error = world
        .app
        .pictures
        .add(picture_file(10, 20, 20))
        .await
        .unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    world.app.pictures.add(picture_file(10, 20, 20)).await.unwrap();
}

async fn every_picture_url_in_a_details_response_loads(world: &World) {
    world.load_demo().await;
    let details = world.client.details(200, "530196605").await;
    let tags = details.json["data"]["nonprofitTags"].as_array().unwrap();
    let urls = [
        &details.nonprofit()["logoUrl"],
        &details.nonprofit()["coverImageUrl"],
    ];
    for url in urls.into_iter().chain(tags.iter().map(|tag| &tag["tagImageUrl"])) {
        let picture = world.client.get_plain(200, path(url)).await;
        assert_eq!(picture.header("content-type"), "image/svg+xml");
        assert_eq!(picture.header("x-content-type-options"), "nosniff");
        assert!(picture.text().starts_with("<svg"), "{url}");
        let if_none_match = [("if-none-match", picture.header("etag"))];
        world.client.get_with(304, path(url), &if_none_match).await;
    }
}

async fn svg_markup_in_a_name_is_escaped(world: &World) {
    let line = r#"{"ein":"020240383","name":"\"><script>alert(1)</script>&amp;<!--"}"#;
    world.import_nonprofits(line).await.unwrap();
    let details = world.client.details(200, "020240383").await;
    for name in ["logoUrl", "coverImageUrl"] {
        let picture = world
            .client
            .get_plain(200, path(&details.nonprofit()[name]))
            .await
            .text();
        assert!(
            !picture.contains("<script") && !picture.contains("<!--"),
            "{picture}"
        );
    }
}

async fn a_renamed_nonprofit_gets_a_new_monogram(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let details = world.client.details(200, "020240383").await;
    let logo = path(&details.nonprofit()["logoUrl"]).to_owned();
    let before = world.client.get_plain(200, &logo).await;
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "PINE RIVER FRIENDS")]))
        .await
        .unwrap();
    let after = world.client.get_plain(200, &logo).await;
    assert_ne!(after.header("etag"), before.header("etag"));
    assert_ne!(after.body, before.body);
}

async fn an_unknown_picture_is_not_found(world: &World) {
    for path in [
        "/media/logo-00000000-0000-0000-0000-000000000000",
        "/media/cause-nothing",
        "/media/x",
        "/media/",
    ] {
        assert_eq!(
            world.client.get_plain(404, path).await.code(),
            "not_found",
            "{path}"
        );
    }
}
