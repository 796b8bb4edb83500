//! Starting a fundraiser: nonprofits are found by name while a person types, and a picture is uploaded at once.

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use thirtyfour::Key;

const NEW: &str = "/dashboard/fundraisers/new";
const EXPANDED: &str = "return document.querySelector('#nonprofit').ariaExpanded;";
const CHOSEN: &str = "return document.querySelector('[name=id_0]').value;";
const STATUS: &str = "return document.querySelector('.picture-field [role=status]').textContent;";
const COVER: &str = "return new URL(document.querySelector('.cover').src).pathname.split('-')[0];";

async fn sign_in(browser: &Browser, site: &Site) {
    site.create_operator("operator").await;
    browser.goto(site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
}

/// Writes a picture of 800 × 200 pixels, and returns its path.
fn picture(folder: &std::path::Path) -> String {
    let path = folder.join("river.png");
    let file = std::fs::File::create(&path).unwrap();
    let mut encoder = png::Encoder::new(file, 800, 200);
    encoder.set_color(png::ColorType::Rgb);
    let pixel = |index: usize| [(index % 800 / 4) as u8, 90, (index / 800) as u8];
    let pixels: Vec<u8> = (0..800 * 200).flat_map(pixel).collect();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fundraiser_is_started_by_name_with_a_picture() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let folder = tempfile::tempdir().unwrap();
    sign_in(&browser, &site).await;
    browser.resize(375).await;
    browser.goto(&site, NEW).await;
    browser.click("#nonprofit").await;
    browser.press("american red cro").await;
    browser.wait_for(EXPANDED, "true").await;
    browser
        .wait_for(
            "return document.querySelector('#pick-0-0 strong')?.textContent ?? '';",
            "American Red Cross",
        )
        .await;
    browser.key(Key::Down).await;
    browser.key(Key::Enter).await;
    browser.wait_for(CHOSEN, "american-red-cross").await;
    assert_eq!(browser.run(EXPANDED).await, "false");
    assert!(
        browser
            .text("#nonprofit-details")
            .await
            .contains("EIN 53-0196605"),
        "the choice is described"
    );
    // Another text is another choice.
    browser.press("x").await;
    assert_eq!(browser.run(CHOSEN).await, "");
    browser.key(Key::Backspace).await;
    browser.wait_for(EXPANDED, "true").await;
    browser.click("#pick-0-0").await;
    browser.wait_for(CHOSEN, "american-red-cross").await;

    browser.fill("#title", "A run along the river").await;
    browser
        .fill("#description", "Every spring we **run**.\n\nCome along!")
        .await;
    let wrong = folder.path().join("text.png");
    std::fs::write(&wrong, "not a picture").unwrap();
    browser.fill("#image", wrong.to_str().unwrap()).await;
    let refused = "This is not a PNG, JPEG or WebP picture; send one of these formats.";
    browser.wait_for(STATUS, refused).await;
    browser.fill("#image", &picture(folder.path())).await;
    browser.wait_for(STATUS, "Picture uploaded.").await;
    let shown = "const image = document.querySelector('.picture-preview');
        return image.complete && image.naturalWidth;";
    browser.wait_for(shown, 800).await;

    browser.click("button[value=preview]").await;
    assert_eq!(browser.text("h1").await, "A run along the river");
    assert_eq!(browser.text(".prose strong").await, "run");
    assert_eq!(browser.run(COVER).await, "/media/picture");
    browser.click("button[value=edit]").await;
    let title = "return document.querySelector('#title').value;";
    assert_eq!(browser.run(title).await, "A run along the river");
    assert_eq!(browser.run(CHOSEN).await, "american-red-cross");
    browser.click("button[value=publish]").await;
    assert!(browser.text(".alert-good").await.contains("Fundraiser created"));

    browser
        .goto(&site, "/american-red-cross/f/a-run-along-the-river")
        .await;
    assert_eq!(browser.run(COVER).await, "/media/picture");
    assert_eq!(browser.text("#benefiting + ul h3").await, "American Red Cross");
    browser.click(".qr summary").await;
    let code = "const code = document.querySelector('.qr img');
        return code.complete && code.naturalWidth > 0;";
    browser.wait_for(code, true).await;
    assert_eq!(browser.console().await, Vec::<String>::new());
    browser.stop().await;
}
