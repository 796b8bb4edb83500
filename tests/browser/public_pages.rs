//! Every public page, checked by the inspector.

use crate::combobox::{focus_search, type_and_wait};
use crate::inspector::Inspector;
use crate::site::{Keys, Site};
use axum::http::StatusCode;
use causeway::http::error::Error;
use causeway::http::request_id::RequestId;
use causeway::web::error_page;
use directory::nonprofits::ein::Ein;
use giving::providers::Provider;
use serde_json::{Value, json};
use thirtyfour::Key;
use uuid::Uuid;

const PAGES: [(&str, &str); 34] = [
    ("home", "/"),
    ("about", "/about"),
    ("contact", "/contact"),
    ("privacy", "/privacy"),
    ("terms", "/terms"),
    ("accessibility", "/accessibility"),
    ("results", "/search?q=children"),
    (
        "results-narrowed",
        "/search?q=university&cause=education&state=NY",
    ),
    ("results-meant", "/search?q=amercan+red+cros"),
    ("results-none", "/search?q=zzqqxxjj&state=WY"),
    ("results-empty", "/search"),
    ("results-near", "/search?q=university&near=10001&radius=50"),
    (
        "results-near-few",
        "/search?q=amercan+university&near=97201&radius=250",
    ),
    (
        "results-filtered",
        "/search?q=university&state=NY&size=over-100m&deductible=1&near=10001&radius=50&sort=nearest",
    ),
    ("results-near-unknown", "/search?q=university&near=00000"),
    ("causes", "/causes"),
    ("cause", "/causes/animals"),
    ("cause-beyond", "/causes/animals?page=999"),
    ("profile", "/american-red-cross"),
    ("profile-plain", "/aarp"),
    ("give-impossible", "/aarp/give"),
    ("eligibility", "/american-red-cross/eligibility"),
    ("correct", "/american-red-cross/correct"),
    ("receipts", "/donations/receipts"),
    ("monthly-link", "/donations/monthly"),
    ("fundraisers-empty", "/fundraisers"),
    ("developers", "/developers"),
    ("embed", "/developers/embed"),
    (
        "embed-button",
        "/developers/embed?nonprofit=american-red-cross&amounts=10,25,50",
    ),
    (
        "embed-dialog",
        "/developers/embed?nonprofit=american-red-cross&dialog=1&scheme=dark",
    ),
    (
        "embed-thermometer",
        "/developers/embed?kind=thermometer&fundraiser=x",
    ),
    ("embed-several", "/developers/embed?nonprofit=red+cross"),
    ("embed-search", "/developers/embed?kind=search&key=cwpk_none"),
    ("not-found", "/no/such/page"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_public_page_is_accessible_on_phone_and_desktop() {
    let (site, inspector) = (Site::start().await, Inspector::start().await);
    for (name, path) in PAGES {
        inspector.browser.goto(&site, path).await;
        inspector.inspect(name).await;
    }
    inspect_live_results(&inspector, &site).await;
    inspect_errors(&inspector, &site).await;
    inspector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_checkout_page_is_accessible_on_phone_and_desktop() {
    let (site, inspector) = (Site::start().await, Inspector::start().await);
    let keys = site.create_keys().await;
    let run = create_fundraiser(&site, &keys, "A run along the river", json!({"goal": 500_000})).await;
    let page = format!("/american-red-cross/f/{run}");
    inspector.browser.goto(&site, &page).await;
    inspector.inspect("fundraiser-page-new").await;
    for (number, (name, message)) in [
        ("Ada Lovelace", "Run well!"),
        ("", ""),
        ("Grace", "For my grandmother, who ran here every spring."),
    ]
    .iter()
    .enumerate()
    {
        donate(&site, &page, &format!("{}", 25 * (number + 1)), name, message).await;
    }
    inspector.browser.goto(&site, &page).await;
    inspector.inspect("fundraiser-page").await;
    inspector.browser.goto(&site, &format!("{page}/proof")).await;
    inspector.inspect("fundraiser-proof").await;
    inspector.browser.goto(&site, "/american-red-cross").await;
    inspector.inspect("profile-with-fundraisers").await;
    let over = json!({"startDate": "2020-01-01T00:00:00Z", "endDate": "2020-02-01T00:00:00Z", "raisedOffline": 90_000});
    let over = create_fundraiser(&site, &keys, "A concert that is over", over).await;
    inspector
        .browser
        .goto(&site, &format!("/american-red-cross/f/{over}"))
        .await;
    inspector.inspect("fundraiser-page-over").await;
    inspector
        .browser
        .goto(&site, &format!("/american-red-cross/f/{over}/give"))
        .await;
    inspector.inspect("give-over").await;
    let several = json!({
        "nonprofitId": "ddacc399-20c5-462e-80e1-97fa958071ea", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of("530196605"), id_of("135562308"), id_of("231352685")], "forNonprofitWeights": [2, 1, 1],
    });
    let several = create_fundraiser(&site, &keys, "Three good things at once", several).await;
    inspector
        .browser
        .goto(&site, &format!("/special-fundraiser/f/{several}"))
        .await;
    inspector.inspect("fundraiser-page-several").await;
    inspector.browser.goto(&site, "/fundraisers").await;
    inspector.inspect("fundraisers-public").await;
    inspect_checkout(&inspector, &site).await;
    inspector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_a_site_that_accepts_no_donations_is_accessible() {
    let (site, inspector) = (Site::start_with(Provider::Off).await, Inspector::start().await);
    let keys = site.create_keys().await;
    let run = create_fundraiser(
        &site,
        &keys,
        "A run along the river",
        json!({"raisedOffline": 90_000}),
    )
    .await;
    for (name, path) in [
        ("off-profile", "/american-red-cross"),
        ("off-fundraiser", &format!("/american-red-cross/f/{run}")),
        ("off-give", "/american-red-cross/give"),
        ("off-embed", "/developers/embed"),
    ] {
        inspector.browser.goto(&site, path).await;
        inspector.inspect(name).await;
    }
    inspector.stop().await;
}

async fn inspect_checkout(inspector: &Inspector, site: &Site) {
    let browser = &inspector.browser;
    // A script that axe runs on a page that is about to be replaced never returns.
    let send_form = async || browser.wait_for_page(browser.click("form.form button")).await;
    browser.goto(site, "/american-red-cross/give").await;
    inspector.inspect("give").await;
    browser.enter_amount("form.form", "-5").await;
    send_form().await;
    inspector.inspect("give-refused").await;
    let link = "amount=40&suggestedAmounts=20,40,80&frequency=monthly&first_name=Ada&last_name=Lovelace&email=ada%40example.org&description=A+new+roof&designation=roof";
    browser
        .goto(site, &format!("/american-red-cross/give?{link}"))
        .await;
    inspector.inspect("give-link").await;
    send_form().await;
    inspector.inspect("pay").await;
    for (card, name) in [
        ("4000000000000002", "pay-declined"),
        ("4000000000000119", "pay-down"),
        ("4242424242424242", "receipt"),
    ] {
        let field = browser.find("#card").await;
        field.clear().await.unwrap();
        field.send_keys(card).await.unwrap();
        send_form().await;
        inspector.inspect(name).await;
    }
}

/// Inspects the list that opens while a visitor types.
async fn inspect_live_results(inspector: &Inspector, site: &Site) {
    let browser = &inspector.browser;
    focus_search(browser, site).await;
    type_and_wait(browser, "univ").await;
    let count = "return document.querySelectorAll('[role=option]').length;";
    assert_eq!(browser.run(count).await, 8);
    browser.key(Key::Down).await;
    inspector.inspect("home-typing").await;
}

/// Inspects error pages of failures, rendered like the server renders them.
async fn inspect_errors(inspector: &Inspector, site: &Site) {
    let browser = &inspector.browser;
    let too_many = Error::TooManyDonations {
        per_minute: 10,
        retry_after: 30,
    };
    for (status, error) in [
        (StatusCode::INTERNAL_SERVER_ERROR, Error::Internal),
        (StatusCode::SERVICE_UNAVAILABLE, Error::Unavailable),
        (StatusCode::TOO_MANY_REQUESTS, too_many),
    ] {
        let html = error_page::render(status, &error.to_string(), &RequestId::next());
        browser.goto(site, "/").await;
        let frame = browser.emulate("Page.getFrameTree", json!({})).await;
        let frame = &frame["frameTree"]["frame"]["id"];
        let content = json!({"frameId": frame, "html": html});
        browser.emulate("Page.setDocumentContent", content).await;
        browser.wait_for("return document.styleSheets.length;", 1).await;
        inspector.inspect(&format!("error-{}", status.as_u16())).await;
    }
}

fn id_of(ein: &str) -> String {
    Ein::parse(ein).unwrap().nonprofit_id().to_string()
}

async fn create_fundraiser(site: &Site, keys: &Keys, title: &str, fields: Value) -> String {
    let story = "Every spring the river rises, and every spring we run along it.\n\nThis year we run for those who had to leave their homes.";
    let mut body = json!({"nonprofitId": id_of("530196605"), "title": title, "description": story});
    let fields = fields.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(fields);
    let created = site.create_fundraiser(keys, &body).await;
    created["slug"].as_str().unwrap().to_owned()
}

async fn donate(site: &Site, page: &str, amount: &str, name: &str, message: &str) {
    let once = Uuid::now_v7().to_string();
    let fields = [
        ("amount", amount),
        ("name", name),
        ("message", message),
        ("public", "yes"),
        ("once", &once),
    ];
    let donation = site.send_form(&format!("{page}/give"), &fields).await;
    site.send_form(&donation, &[("card", "4242424242424242")]).await;
}
