//! The form of a fundraiser: nonprofits by name, a picture, and the preview.

use super::visitor::{PASSWORD, Visitor, between, hidden};
use crate::api::fundraisers::create::PIXEL;
use crate::api::fundraisers::{NYU, RED_CROSS, SPECIAL, id_of};
use crate::world::World;
use axum::http::Method;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

on_both_databases!(
    a_nonprofit_is_chosen_by_name_without_scripts,
    a_link_chooses_the_nonprofit_and_survives_signing_in,
    several_nonprofits_share_the_donations,
    a_preview_publishes_nothing_and_loses_nothing,
    a_picture_is_replaced_and_removed,
    the_part_of_the_cover_that_stays_visible_is_chosen,
    an_unusable_picture_is_refused_with_the_reason,
    a_picture_of_another_account_cannot_be_used,
);

const NEW: &str = "/dashboard/fundraisers/new";
const UPLOAD: &str = "/dashboard/pictures";

async fn grace(world: &World) -> Visitor {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor
}

async fn new_id(visitor: &Visitor) -> String {
    hidden(&visitor.get(200, NEW).await.text(), "once")
}

async fn read(world: &World, nonprofit: &str, slug: &str) -> Value {
    let path = format!("/v0.2/nonprofit/{nonprofit}/fundraiser/{slug}");
    world.client.get(200, &path).await.json["data"]["fundraiser"].clone()
}

fn pixel() -> Vec<u8> {
    BASE64_STANDARD.decode(PIXEL).unwrap()
}

/// All hidden fields of a page, as a browser sends them again.
fn hidden_fields(page: &str) -> Vec<(String, String)> {
    let inputs = page.split("<input type=\"hidden\" name=\"").skip(1);
    inputs
        .filter_map(|input| {
            let (name, rest) = input.split_once("\" value=\"")?;
            let (value, _) = rest.split_once('"')?;
            Some((name.to_owned(), unescape(value)))
        })
        .collect()
}

fn unescape(text: &str) -> String {
    text.replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#39;", "'")
        .replace("&#34;", "\"")
        .replace("&#38;", "&")
}

fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    let pairs = fields.iter();
    pairs
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

async fn a_nonprofit_is_chosen_by_name_without_scripts(world: &World) {
    let visitor = grace(world).await;
    let once = new_id(&visitor).await;
    let typed = [
        ("nonprofit", "American Red Cross"),
        ("title", "Run & walk"),
        ("once", once.as_str()),
    ];
    let page = visitor.post(422, NEW, &typed).await.text();
    for shown in [
        "Which one do you mean?",
        "Choose the nonprofit that you mean.",
        "type=\"radio\" name=\"id_0\" value=\"american-red-cross\"",
        "EIN 53-0196605",
        "value=\"Run &#38; walk\"",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(world.texts("select title from fundraisers").await.is_empty());
    // A choice that was made for another text does not count.
    let chosen = |text| {
        [
            ("nonprofit", text),
            ("for_0", "American Red Cross"),
            ("id_0", "american-red-cross"),
            ("title", "Run & walk"),
            ("once", once.as_str()),
        ]
    };
    visitor.post(422, NEW, &chosen("university")).await;
    visitor.post(303, NEW, &chosen("American Red Cross")).await;
    let created = read(world, "american-red-cross", "run-and-walk").await;
    assert_eq!(created["nonprofitId"], id_of(RED_CROSS));
}

async fn a_link_chooses_the_nonprofit_and_survives_signing_in(world: &World) {
    grace(world).await;
    let link = format!("{NEW}?nonprofit=american-red-cross");
    let visitor = Visitor::new(world);
    let response = visitor.get(303, &link).await;
    let sign_in = response.header("location").to_owned();
    let next = hidden(&visitor.get(200, &sign_in).await.text(), "next");
    assert_eq!(next, link);
    let fields = [("username", "grace"), ("password", PASSWORD), ("next", &next)];
    let response = visitor.post(303, "/dashboard/sign-in", &fields).await;
    assert_eq!(response.header("location"), link);
    let page = visitor.get(200, &link).await.text();
    assert!(page.contains("value=\"American Red Cross\""), "{page}");
    assert_eq!(hidden(&page, "id_0"), "american-red-cross");
    assert_eq!(hidden(&page, "for_0"), "American Red Cross");
    // An unknown one is ignored.
    visitor.get(200, &format!("{NEW}?nonprofit=nobody")).await;

    // It survives creating an account, with mistakes on the way, and signing in by email.
    let newcomer = Visitor::new(world);
    let page = newcomer.get(200, &sign_in).await.text();
    let sign_up = between(&page, "href=\"/dashboard/sign-up", "\"").unwrap();
    let sign_up = format!("/dashboard/sign-up{sign_up}");
    let next = hidden(&newcomer.get(200, &sign_up).await.text(), "next");
    let mut fields = [
        ("username", "lise"),
        ("email", "lise"),
        ("password", PASSWORD),
        ("next", &next),
    ];
    let page = newcomer.post(422, "/dashboard/sign-up", &fields).await.text();
    assert_eq!(hidden(&page, "next"), link);
    fields[1].1 = "lise@example.org";
    let response = newcomer.post(303, "/dashboard/sign-up", &fields).await;
    assert_eq!(response.header("location"), link);
    let fields = [
        ("username", "Lise@Example.org"),
        ("password", PASSWORD),
        ("next", &next),
    ];
    let response = Visitor::new(world).post(303, "/dashboard/sign-in", &fields).await;
    assert_eq!(response.header("location"), link);
}

async fn several_nonprofits_share_the_donations(world: &World) {
    let visitor = grace(world).await;
    let once = new_id(&visitor).await;
    let fields = |share, second| {
        [
            ("nonprofit", RED_CROSS),
            ("share", "3"),
            ("nonprofit", second),
            ("share", share),
            ("nonprofit", ""),
            ("title", "Two at once"),
            ("once", once.as_str()),
        ]
    };
    for (share, second, expected) in [
        ("0", NYU, "Enter a number greater than 0"),
        ("x", NYU, "Enter a number greater than 0"),
        ("inf", NYU, "Enter a number greater than 0"),
        ("1", RED_CROSS, "You have already chosen this nonprofit"),
        ("1", "zzqqxxjj", "We could not find this nonprofit"),
    ] {
        let page = visitor.post(422, NEW, &fields(share, second)).await.text();
        assert!(page.contains(expected), "{share} {second}: {page}");
        assert!(page.contains("<details class=\"more-nonprofits\" open"), "{page}");
    }
    visitor.post(303, NEW, &fields("1", NYU)).await;
    let created = read(world, "special-fundraiser", "two-at-once").await;
    assert_eq!(created["nonprofitId"], SPECIAL);
    assert_eq!(created["forNonprofits"], json!([id_of(RED_CROSS), id_of(NYU)]));
    let weights = created["forNonprofitWeights"].as_array().unwrap();
    let weights: Vec<_> = weights.iter().filter_map(Value::as_f64).collect();
    assert_eq!(weights, [3.0, 1.0]);
}

async fn a_preview_publishes_nothing_and_loses_nothing(world: &World) {
    let visitor = grace(world).await;
    let once = new_id(&visitor).await;
    let fields = [
        ("nonprofit", RED_CROSS),
        ("title", "Ada's <Spring> run"),
        (
            "description",
            "We **run**.\r\n\r\n[Map](https://example.org/?a=1&b=2) <b>x</b>",
        ),
        ("endDate", "2199-06-30"),
        ("goal", "5000"),
        ("once", once.as_str()),
        ("action", "preview"),
    ];
    let preview = visitor.upload(200, NEW, &fields, Some(&pixel())).await.text();
    for shown in [
        "Nobody else can see it yet",
        "<h1><bdi>Ada&#39;s &#60;Spring&#62; run</bdi></h1>",
        "<strong>run</strong>",
        "href=\"https://example.org/?a=1&amp;b=2\"",
        "of $5,000.00",
        "American Red Cross",
        "src=\"/media/picture-",
    ] {
        assert!(preview.contains(shown), "{shown}: {preview}");
    }
    assert!(!preview.contains("<b>"), "{preview}");
    assert!(world.texts("select title from fundraisers").await.is_empty());
    let sent = hidden_fields(&preview);
    let with_action = |action| [borrowed(&sent).as_slice(), &[("action", action)]].concat();
    let form = visitor.post(200, NEW, &with_action("edit")).await.text();
    for kept in [
        "value=\"American Red Cross\"",
        "value=\"Ada&#39;s &#60;Spring&#62; run\"",
        "We **run**.",
        "[Map](https://example.org/?a=1&#38;b=2) &#60;b&#62;x&#60;/b&#62;</textarea>",
        "value=\"2199-06-30\"",
        "value=\"5000\"",
        "src=\"/media/picture-",
        &format!("value=\"{once}\""),
    ] {
        assert!(form.contains(kept), "{kept}: {form}");
    }
    assert_eq!(hidden(&form, "picture"), hidden(&preview, "picture"));
    assert!(world.texts("select title from fundraisers").await.is_empty());
    let created = visitor.post(303, NEW, &with_action("publish")).await;
    assert_eq!(
        created.header("location"),
        format!("/dashboard/fundraisers/{once}")
    );
    let created = read(world, "american-red-cross", "adas-spring-run").await;
    let cover = created["coverImageHostedId"].as_str().unwrap();
    assert!(cover.starts_with("picture-"), "{created}");
    world.client.get_plain(200, &format!("/media/{cover}")).await;
    // The API returns the text as it was written.
    assert_eq!(
        created["description"],
        "We **run**.\n\n[Map](https://example.org/?a=1&b=2) <b>x</b>"
    );
    // Without a picture, the preview draws the cover.
    let once = new_id(&visitor).await;
    let fields = [
        ("nonprofit", RED_CROSS),
        ("title", "Run"),
        ("once", &once),
        ("action", "preview"),
    ];
    let preview = visitor.upload(200, NEW, &fields, None).await.text();
    assert!(preview.contains("src=\"data:image/svg+xml;base64,"), "{preview}");
}

async fn a_picture_is_replaced_and_removed(world: &World) {
    let visitor = grace(world).await;
    let once = new_id(&visitor).await;
    let fields = [
        ("nonprofit", RED_CROSS),
        ("title", "Run"),
        ("once", once.as_str()),
    ];
    visitor.post(303, NEW, &fields).await;
    let edit = format!("/dashboard/fundraisers/{once}/edit");
    let cover = async || {
        let found = read(world, "american-red-cross", "run").await;
        found["coverImageHostedId"].as_str().unwrap().to_owned()
    };
    let drawn = cover().await;
    assert!(drawn.starts_with("fundraiser-"));
    let preview = visitor
        .upload(
            200,
            &edit,
            &[("title", "Walk"), ("action", "preview")],
            Some(&pixel()),
        )
        .await
        .text();
    assert!(
        preview.contains("Your changes are not saved yet") && preview.contains("Walk"),
        "{preview}"
    );
    assert_eq!(cover().await, drawn);
    let sent = hidden_fields(&preview);
    let publish = [borrowed(&sent).as_slice(), &[("action", "publish")]].concat();
    visitor.post(303, &edit, &publish).await;
    assert!(cover().await.starts_with("picture-"));
    let form = visitor.get(200, &edit).await.text();
    assert!(form.contains("src=\"/media/picture-") && form.contains("Remove the picture"));
    // A form without a picture keeps it.
    visitor.upload(303, &edit, &[("title", "Walk on")], None).await;
    assert!(cover().await.starts_with("picture-"));
    visitor
        .upload(
            303,
            &edit,
            &[("title", "Walk on"), ("remove_picture", "yes")],
            None,
        )
        .await;
    assert_eq!(cover().await, drawn);
}

async fn the_part_of_the_cover_that_stays_visible_is_chosen(world: &World) {
    let visitor = grace(world).await;
    let once = new_id(&visitor).await;
    let fields = [
        ("nonprofit", RED_CROSS),
        ("title", "Run"),
        ("once", once.as_str()),
        ("focusX", "25"),
        ("focusY", "0"),
        ("action", "preview"),
    ];
    let preview = visitor.upload(200, NEW, &fields, Some(&pixel())).await.text();
    let cover = "class=\"cover focus-x-25 focus-y-0\"";
    for shown in [
        cover,
        "Shared links",
        "No donations yet.",
        "People will give with this form.",
    ] {
        assert!(preview.contains(shown), "{shown}: {preview}");
    }
    let sent = hidden_fields(&preview);
    let publish = [borrowed(&sent).as_slice(), &[("action", "publish")]].concat();
    visitor.post(303, NEW, &publish).await;
    let page = "/american-red-cross/f/run";
    assert!(visitor.get(200, page).await.text().contains(cover));
    let edit = format!("/dashboard/fundraisers/{once}/edit");
    let form = visitor.get(200, &edit).await.text();
    assert!(
        form.contains("<option value=\"25\" selected>Left of the center</option>"),
        "{form}"
    );
    assert!(form.contains("picture-preview focus-x-25 focus-y-0"), "{form}");
    // A form of an older page says nothing about it, and nonsense is ignored.
    for other in [&[("title", "Walk")][..], &[("focusX", "33"), ("focusY", "x")]] {
        visitor.post(303, &edit, other).await;
        assert!(visitor.get(200, page).await.text().contains(cover));
    }
    let change = "select change from fundraiser_history where change like '%coverFocus%'";
    assert!(world.texts(change).await.is_empty());
    visitor
        .post(303, &edit, &[("focusX", "50"), ("focusY", "50")])
        .await;
    let shown = visitor.get(200, page).await.text();
    assert!(shown.contains("focus-x-50 focus-y-50"), "{shown}");
    assert_eq!(world.texts(change).await.len(), 1);
    for listing in ["/", "/fundraisers", "/american-red-cross"] {
        let shown = visitor.get(200, listing).await.text();
        assert!(shown.contains("focus-x-50 focus-y-50"), "{listing}: {shown}");
    }
}

async fn an_unusable_picture_is_refused_with_the_reason(world: &World) {
    let visitor = grace(world).await;
    let once = new_id(&visitor).await;
    let fields = [
        ("nonprofit", RED_CROSS),
        ("title", "Run"),
        ("once", once.as_str()),
    ];
    let large = vec![0; (10 << 20) + 1];
    let headers = [("sec-fetch-site", "same-origin"), ("content-type", "image/png")];
    for (file, expected) in [
        (&large[..], "he picture is larger than 10 MiB"),
        (b"GIF89a", "his is not a PNG, JPEG or WebP picture"),
        (b"", "he picture is empty"),
        (&pixel()[..40], "he picture is truncated or damaged"),
    ] {
        let page = visitor.upload(422, NEW, &fields, Some(file)).await.text();
        assert!(page.contains(expected), "{expected}: {page}");
        assert!(
            page.contains("href=\"#image\"") && page.contains("value=\"Run\""),
            "{page}"
        );
        let answer = visitor
            .send(200, &Method::POST, UPLOAD, &headers, file.to_vec())
            .await;
        let error = answer.json["error"].as_str().unwrap();
        assert!(error.contains(expected), "{error}");
    }
    let largest = vec![0; 17 << 20];
    let page = visitor.upload(413, NEW, &fields, Some(&largest)).await.text();
    assert!(page.contains("The picture is larger than 10 MiB"), "{page}");
    // Nobody else can upload.
    let stranger = Visitor::new(world);
    stranger.send(303, &Method::POST, UPLOAD, &headers, pixel()).await;
    let cross_site = [("sec-fetch-site", "cross-site"), ("content-type", "image/png")];
    visitor
        .send(403, &Method::POST, UPLOAD, &cross_site, pixel())
        .await;
    assert!(world.texts("select id from pictures").await.is_empty());
    assert!(world.texts("select title from fundraisers").await.is_empty());
}

async fn a_picture_of_another_account_cannot_be_used(world: &World) {
    let visitor = grace(world).await;
    let headers = [("sec-fetch-site", "same-origin"), ("content-type", "image/png")];
    let uploaded = visitor.send(200, &Method::POST, UPLOAD, &headers, pixel()).await;
    let token = uploaded.json["token"].as_str().unwrap().to_owned();
    let url = uploaded.json["url"].as_str().unwrap();
    visitor.get(200, url).await;
    let eve = Visitor::new(world);
    eve.sign_up("eve").await;
    let once = new_id(&eve).await;
    let (id, _) = token.split_once('.').unwrap();
    let forged = format!("{id}.{}", "0".repeat(32));
    for token in [token.as_str(), &forged, id, "x"] {
        let fields = [
            ("nonprofit", RED_CROSS),
            ("title", "Run"),
            ("picture", token),
            ("once", once.as_str()),
        ];
        let page = eve.post(422, NEW, &fields).await.text();
        assert!(page.contains("Choose the picture again"), "{page}");
    }
    assert_eq!(between(url, "/media/", "?").unwrap(), id);
}
