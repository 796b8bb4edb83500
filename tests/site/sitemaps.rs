//! Sitemaps are written once per snapshot and served as files.

use crate::client::Response;
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use axum::http::Method;
use causeway::app::App;
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

on_both_databases!(
    a_sitemap_is_sent_as_it_is_stored_or_decompressed,
    a_client_that_has_the_sitemap_gets_304,
    sitemaps_are_written_once_per_snapshot,
    sitemaps_follow_the_public_url,
    damaged_sitemaps_are_written_again,
    nonprofits_that_left_the_irs_files_are_not_listed,
    without_a_snapshot_there_are_no_sitemaps,
);

const FIRST: &str = "/sitemaps/0.xml";
const GZIP: [(&str, &str); 1] = [("accept-encoding", "br, gzip;q=0.5")];

async fn get_compressed(world: &World) -> Response {
    world.client.send(200, &Method::GET, FIRST, &GZIP).await
}

/// The files with sitemaps.
fn files(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.data().join("directory")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_str().unwrap().contains("sitemaps"));
    files
}

async fn a_sitemap_is_sent_as_it_is_stored_or_decompressed(world: &World) {
    world.load_demo().await;
    let plain = world.client.get_plain(200, FIRST).await;
    let compressed = get_compressed(world).await;
    let mut xml = String::new();
    GzDecoder::new(compressed.body.as_slice())
        .read_to_string(&mut xml)
        .unwrap();
    assert_eq!(xml, plain.text());
    assert!(xml.starts_with("<?xml ") && xml.ends_with("</urlset>\n"));
    assert!(xml.contains("<loc>http://causeway.test/american-red-cross</loc>"));
    assert!(compressed.body.len() < plain.body.len());
    assert_eq!(compressed.header("content-encoding"), "gzip");
    assert!(!plain.headers.contains_key("content-encoding"));
    assert_ne!(plain.header("etag"), compressed.header("etag"));
    for response in [&plain, &compressed] {
        assert_eq!(response.header("content-type"), "application/xml; charset=utf-8");
        assert_eq!(response.header("vary"), "accept-encoding");
        assert!(response.header("etag").starts_with('"'), "the tag is strong");
        assert!(response.header("last-modified").ends_with(" GMT"));
    }
    for (headers, get) in [(&[][..], &plain), (&GZIP[..], &compressed)] {
        let head = world.client.send(200, &Method::HEAD, FIRST, headers).await;
        assert!(head.body.is_empty());
        assert_eq!(head.header("content-length"), get.body.len().to_string());
        assert_eq!(head.header("etag"), get.header("etag"));
    }
}

async fn a_client_that_has_the_sitemap_gets_304(world: &World) {
    world.load_demo().await;
    let known = get_compressed(world).await;
    let (tag, date) = (known.header("etag"), known.header("last-modified"));
    for condition in [("if-none-match", tag), ("if-modified-since", date)] {
        let headers = [GZIP[0], condition];
        let unchanged = world.client.send(304, &Method::GET, FIRST, &headers).await;
        assert!(unchanged.body.is_empty());
        assert_eq!(unchanged.header("etag"), tag);
    }
    for condition in [
        ("if-none-match", "\"other\""),
        ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ] {
        let headers = [GZIP[0], condition];
        world.client.send(200, &Method::GET, FIRST, &headers).await;
    }
}

async fn sitemaps_are_written_once_per_snapshot(world: &World) {
    world.load_demo().await;
    let before = get_compressed(world).await;
    let [file] = &files(world)[..] else {
        panic!("{:?}", files(world));
    };
    let written = fs::metadata(file).unwrap().ino();
    let (app, client) = world.restart().await;
    app.refresh_directory().await.unwrap();
    let after_restart = client.send(200, &Method::GET, FIRST, &GZIP).await;
    assert_eq!(after_restart.header("etag"), before.header("etag"));
    assert_eq!(
        fs::metadata(file).unwrap().ino(),
        written,
        "the file was written again"
    );

    // A change in the overlay waits for the next snapshot, and the former URL redirects meanwhile.
    world
        .import_nonprofits("{\"ein\":\"530196605\",\"name\":\"Scarlet Lantern\"}\n")
        .await
        .unwrap();
    world.app.refresh_sitemaps().await.unwrap();
    let unchanged = world.client.get_plain(200, FIRST).await.text();
    assert!(unchanged.contains("/american-red-cross</loc>"));
    let moved = world.client.get_plain(301, "/american-red-cross").await;
    assert_eq!(moved.header("location"), "/scarlet-lantern");
    world.app.directory.rebuild().await.unwrap();
    let served = world.client.get_plain(200, FIRST).await.text();
    assert_eq!(served, unchanged, "requests do not wait for new sitemaps");
    world.app.refresh_sitemaps().await.unwrap();
    let changed = world.client.get_plain(200, FIRST).await.text();
    assert!(changed.contains("/scarlet-lantern</loc>") && !changed.contains("/american-red-cross</loc>"));
    let files = files(world);
    assert!(files.len() == 1 && files[0] != *file, "{files:?}");
}

async fn sitemaps_follow_the_public_url(world: &World) {
    world.load_demo().await;
    get_compressed(world).await;
    let mut config = world.app.config.clone();
    "https://giving.example.org".clone_into(&mut config.public_url);
    let moved = App::build(config).await.unwrap();
    moved.refresh_directory().await.unwrap();
    let client = crate::client::Client::new(&moved, &world.client.key);
    let xml = client.get_plain(200, FIRST).await.text();
    assert!(xml.contains("<loc>https://giving.example.org/american-red-cross</loc>"));
    assert!(!xml.contains("causeway.test"));
}

async fn damaged_sitemaps_are_written_again(world: &World) {
    world.load_demo().await;
    let before = get_compressed(world).await;
    let file = files(world).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    // The server has the file mapped, so it is replaced and not changed.
    fs::remove_file(&file).unwrap();
    fs::write(&file, bytes).unwrap();
    let (app, client) = world.restart().await;
    app.refresh_directory().await.unwrap();
    let after = client.send(200, &Method::GET, FIRST, &GZIP).await;
    assert_eq!(after.body, before.body);
}

async fn nonprofits_that_left_the_irs_files_are_not_listed(world: &World) {
    let rows = [
        nonprofit_row("930000001", "RIVER SHELTER"),
        nonprofit_row("930000002", "HARBOR KITCHEN"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let xml = world.client.get_plain(200, FIRST).await.text();
    assert_eq!(xml.matches("<url>").count(), 2, "{xml}");
    let rest = world.file("rest.csv", bmf(&rows[..1]));
    world.import_irs_files(&[rest], true).await.unwrap();
    world.app.directory.rebuild().await.unwrap();
    world.app.refresh_sitemaps().await.unwrap();
    let xml = world.client.get_plain(200, FIRST).await.text();
    assert_eq!(xml.matches("<url>").count(), 1, "{xml}");
    assert!(xml.contains("/river-shelter</loc>"), "{xml}");
}

async fn without_a_snapshot_there_are_no_sitemaps(world: &World) {
    let index = world.client.get_plain(200, "/sitemap.xml").await.text();
    assert!(
        index.contains("/sitemaps/pages.xml") && !index.contains("/sitemaps/0.xml"),
        "{index}"
    );
    let missing = world.client.get_plain(503, FIRST).await;
    assert!(missing.headers.contains_key("retry-after"));
}
