//! Every page that everybody may read, looked at by the reader.

use crate::reader::Reader;
use crate::site::{Keys, Site};
use axum::http::StatusCode;
use causeway::http::request_id::RequestId;
use causeway::web::error_page;
use directory::nonprofits::ein::Ein;
use serde_json::{Value, json};
use thirtyfour::Key;
use uuid::Uuid;

const PAGES: [(&str, &str); 18] = [
    ("home", "/"),
    ("results", "/search?q=children"),
    (
        "results-narrowed",
        "/search?q=university&cause=education&state=NY",
    ),
    ("results-meant", "/search?q=amercan+red+cros"),
    ("results-none", "/search?q=zzqqxxjj&state=WY"),
    ("results-empty", "/search"),
    ("causes", "/causes"),
    ("cause", "/causes/animals"),
    ("cause-beyond", "/causes/animals?page=999"),
    ("profile", "/american-red-cross"),
    ("profile-plain", "/aarp"),
    ("give-impossible", "/aarp/give"),
    ("developers", "/developers"),
    ("embed", "/developers/embed"),
    (
        "embed-button",
        "/developers/embed?nonprofit=american-red-cross&amounts=10,25,50",
    ),
    ("embed-several", "/developers/embed?nonprofit=red+cross"),
    ("embed-search", "/developers/embed?kind=search&key=cwpk_none"),
    ("not-found", "/no/such/page"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_public_page_is_open_to_everybody_on_a_phone_and_on_a_desk() {
    let (site, reader) = (Site::start().await, Reader::start().await);
    for (name, path) in PAGES {
        reader.browser.goto(&site, path).await;
        reader.look_at(name).await;
    }
    look_at_answers(&reader, &site).await;
    look_at_errors(&reader, &site).await;
    reader.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_step_of_giving_is_open_to_everybody_on_a_phone_and_on_a_desk() {
    let (site, reader) = (Site::start().await, Reader::start().await);
    let keys = site.make_keys().await;
    let run = make_fundraiser(&site, &keys, "A run along the river", json!({"goal": 500_000})).await;
    let page = format!("/american-red-cross/f/{run}");
    reader.browser.goto(&site, &page).await;
    reader.look_at("fundraiser-page-new").await;
    for (number, (name, message)) in [
        ("Ada Lovelace", "Run well!"),
        ("", ""),
        ("Grace", "For my grandmother, who ran here every spring."),
    ]
    .iter()
    .enumerate()
    {
        give(&site, &page, &format!("{}", 25 * (number + 1)), name, message).await;
    }
    reader.browser.goto(&site, &page).await;
    reader.look_at("fundraiser-page").await;
    reader.browser.goto(&site, "/american-red-cross").await;
    reader.look_at("profile-with-fundraisers").await;
    let over = json!({"startDate": "2020-01-01T00:00:00Z", "endDate": "2020-02-01T00:00:00Z", "raisedOffline": 90_000});
    let over = make_fundraiser(&site, &keys, "A concert that is over", over).await;
    reader
        .browser
        .goto(&site, &format!("/american-red-cross/f/{over}"))
        .await;
    reader.look_at("fundraiser-page-over").await;
    reader
        .browser
        .goto(&site, &format!("/american-red-cross/f/{over}/give"))
        .await;
    reader.look_at("give-over").await;
    let several = json!({
        "nonprofitId": "ddacc399-20c5-462e-80e1-97fa958071ea", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of("530196605"), id_of("135562308"), id_of("231352685")], "forNonprofitWeights": [2, 1, 1],
    });
    let several = make_fundraiser(&site, &keys, "Three good things at once", several).await;
    reader
        .browser
        .goto(&site, &format!("/special-fundraiser/f/{several}"))
        .await;
    reader.look_at("fundraiser-page-several").await;
    look_at_giving(&reader, &site).await;
    reader.stop().await;
}

async fn look_at_giving(reader: &Reader, site: &Site) {
    let browser = &reader.browser;
    browser.goto(site, "/american-red-cross/give").await;
    reader.look_at("give").await;
    browser.fill("#amount", "-5").await;
    browser.click("form.form button").await;
    reader.look_at("give-refused").await;
    let link = "amount=40&suggestedAmounts=20,40,80&frequency=monthly&first_name=Ada&last_name=Lovelace&email=ada%40example.org&description=A+new+roof&designation=roof";
    browser
        .goto(site, &format!("/american-red-cross/give?{link}"))
        .await;
    reader.look_at("give-link").await;
    browser.click("form.form button").await;
    reader.look_at("pay").await;
    for (card, name) in [
        ("4000000000000002", "pay-declined"),
        ("4000000000000119", "pay-down"),
        ("4242424242424242", "receipt"),
    ] {
        let field = browser.find("#card").await;
        field.clear().await.unwrap();
        field.send_keys(card).await.unwrap();
        browser.click("form.form button").await;
        reader.look_at(name).await;
    }
}

/// The list that opens while somebody types.
async fn look_at_answers(reader: &Reader, site: &Site) {
    let browser = &reader.browser;
    browser.goto(site, "/").await;
    browser.fill("#q", "univ").await;
    browser
        .wait_for("return document.querySelectorAll('[role=option]').length;", 8)
        .await;
    browser.key(Key::Down).await;
    reader.look_at("home-typing").await;
}

/// Pages of errors that only come when something breaks, drawn as the server draws them.
async fn look_at_errors(reader: &Reader, site: &Site) {
    let browser = &reader.browser;
    for status in [
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::TOO_MANY_REQUESTS,
    ] {
        let html = error_page::draw(status, "Something went wrong on our side.", &RequestId::next());
        browser.goto(site, "/").await;
        let frame = browser.emulate("Page.getFrameTree", json!({})).await;
        let frame = &frame["frameTree"]["frame"]["id"];
        let content = json!({"frameId": frame, "html": html});
        browser.emulate("Page.setDocumentContent", content).await;
        browser.wait_for("return document.styleSheets.length;", 1).await;
        reader.look_at(&format!("error-{}", status.as_u16())).await;
    }
}

fn id_of(ein: &str) -> String {
    Ein::parse(ein).unwrap().nonprofit_id().to_string()
}

async fn make_fundraiser(site: &Site, keys: &Keys, title: &str, fields: Value) -> String {
    let story = "Every spring the river rises, and every spring we run along it.\n\nThis year we run for those who had to leave their homes.";
    let mut body = json!({"nonprofitId": id_of("530196605"), "title": title, "description": story});
    let fields = fields.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(fields);
    let made = site.make_fundraiser(keys, &body).await;
    made["slug"].as_str().unwrap().to_owned()
}

async fn give(site: &Site, page: &str, amount: &str, name: &str, message: &str) {
    let once = Uuid::now_v7().to_string();
    let fields = [
        ("amount", amount),
        ("name", name),
        ("message", message),
        ("public", "yes"),
        ("once", &once),
    ];
    let gift = site.send_form(&format!("{page}/give"), &fields).await;
    site.send_form(&gift, &[("card", "4242424242424242")]).await;
}
