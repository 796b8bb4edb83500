//! Every page of the dashboard, checked by the inspector.

use crate::browser::Browser;
use crate::inspector::Inspector;
use crate::site::{PASSWORD, Site};
use directory::nonprofits::ein::Ein;
use platform::db::Db;
use serde_json::json;
use uuid::Uuid;

/// Pages before sign-in.
const PUBLIC: [(&str, &str); 7] = [
    ("sign-in", "/dashboard/sign-in"),
    ("sign-up", "/dashboard/sign-up"),
    ("sign-out", "/dashboard/sign-out"),
    ("reset", "/dashboard/reset"),
    ("stale-link", "/dashboard/reset/set?token=x"),
    ("stale-stop-link", "/dashboard/emails/stop?token=x"),
    ("not-found-in-dashboard", "/dashboard/keys/x"),
];
/// Pages after sign-in.
const SIGNED_IN: [(&str, &str); 35] = [
    ("welcome", "/dashboard/welcome"),
    ("keys", "/dashboard"),
    ("key-new", "/dashboard/keys/new"),
    ("fundraisers", "/dashboard/fundraisers"),
    ("fundraiser-new", "/dashboard/fundraisers/new"),
    ("nonprofits", "/dashboard/nonprofits"),
    ("webhook-new", "/dashboard/webhooks/new"),
    ("usage", "/dashboard/usage"),
    ("usage-month", "/dashboard/usage?span=30d"),
    ("usage-year", "/dashboard/usage?span=12mo"),
    ("first-steps", "/dashboard/first-steps"),
    ("settings", "/dashboard/settings"),
    ("public-profile", "/dashboard/settings/profile"),
    ("delete", "/dashboard/settings/delete"),
    ("two-factor-off", "/dashboard/settings/two-factor"),
    ("operator-home", "/dashboard/operator"),
    ("operator-search", "/dashboard/operator/search?q=red%20cross"),
    ("operator-search-none", "/dashboard/operator/search?q=zzzzzz"),
    ("operator-nonprofit", "/dashboard/operator/nonprofits/530196605"),
    ("operator-accounts", "/dashboard/operator/accounts"),
    ("operator-keys", "/dashboard/operator/keys"),
    ("operator-account", "/dashboard/operator/accounts/organizer"),
    ("operator-review", "/dashboard/operator/fundraisers"),
    ("operator-fundraisers", "/dashboard/operator/fundraisers?show=all"),
    ("operator-eligibility", "/dashboard/operator/eligibility"),
    ("operator-reports", "/dashboard/operator/reports"),
    ("operator-claims", "/dashboard/operator/claims"),
    ("operator-donations", "/dashboard/operator/donations"),
    ("operator-webhooks", "/dashboard/operator/webhooks"),
    ("operator-monthly", "/dashboard/operator/monthly"),
    ("operator-origins", "/dashboard/operator/origins"),
    ("operator-imports", "/dashboard/operator/imports"),
    ("operator-design", "/dashboard/operator/design"),
    ("operator-errors", "/dashboard/operator/errors"),
    ("operator-audit", "/dashboard/operator/audit"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_dashboard_page_is_accessible_on_phone_and_desktop() {
    let (site, inspector) = (Site::start().await, Inspector::start().await);
    let browser = &inspector.browser;
    site.create_operator("operator").await;
    for (name, path) in PUBLIC {
        browser.goto(&site, path).await;
        inspector.inspect(name).await;
    }
    browser.goto(&site, "/dashboard/sign-up").await;
    browser.fill("#username", "Ada <b>").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("sign-up-refused").await;

    browser.goto(&site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("keys-none").await;
    browser.goto(&site, "/dashboard/usage").await;
    inspector.inspect("usage-none").await;
    browser.goto(&site, "/dashboard/first-steps").await;
    inspector.inspect("first-steps-none").await;

    inspect_fundraisers(&inspector, &site).await;
    let public = create_key(browser, &site, "Website of the river friends", "public").await;
    let private = create_key(browser, &site, "خادم الليل", "private").await;
    inspector.inspect("key-created").await;
    for count in 0..40 {
        let path = if count % 8 == 0 {
            "/v0.2/nonprofit/nobody-at-all"
        } else {
            "/v0.2/search/river"
        };
        browser.call(&format!("{path}?apiKey={public}")).await;
    }
    browser
        .call(&format!("/v0.2/search/river?apiKey={private}"))
        .await;
    site.app.save_counts().await.unwrap();

    let key = public_key_id(browser, &site).await;
    for path in ["", "/rotate", "/revoke"] {
        browser.goto(&site, &format!("/dashboard/keys/{key}{path}")).await;
        inspector.inspect(&format!("key{}", path.replace('/', "-"))).await;
    }
    let operator_page = format!("/dashboard/operator/keys/{key}");
    browser.goto(&site, &operator_page).await;
    inspector.inspect("operator-key").await;
    browser
        .wait_for_page(browser.click("form[action$='/block'] button"))
        .await;
    inspector.inspect("operator-key-refused").await;
    browser
        .fill("#reason", "Too many calls from one page; write to us.")
        .await;
    browser
        .wait_for_page(browser.click("form[action$='/block'] button"))
        .await;
    inspector.inspect("operator-key-blocked").await;
    browser.goto(&site, "/dashboard").await;
    inspector.inspect("keys-blocked").await;
    browser.goto(&site, &operator_page).await;
    browser.click("form[action$='/unblock'] button").await;
    inspect_moderation(&inspector, &site).await;
    for (name, path) in SIGNED_IN {
        browser.goto(&site, path).await;
        inspector.inspect(name).await;
    }
    inspector.stop().await;
}

/// A donation that was paid with Stripe, with everything that can be known about it.
const PAID: [&str; 4] = [
    "insert into donations (id, receipt_id, state, provider, livemode, nonprofit_id, amount, is_public, session, charge, \
     paid_at, started_at, changed_at) values (x'0190a0000000700080000000000000a1', x'0190a0000000700080000000000000a2', \
     'pending', 'stripe', false, x'NONPROFIT', 2500, false, 'cs_test_a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6', \
     'ch_3PqRstUvWxYz', 1790000000000, 1790000000000, 1780000000000)",
    "insert into provider_events (provider, id, kind, object, donation_id, livemode, created_at, received_at, handled_at) \
     select 'stripe', 'evt_1', 'checkout.session.completed', session, id, false, paid_at, paid_at, paid_at from donations",
    "insert into provider_events (provider, id, kind, object, donation_id, livemode, created_at, received_at, retry_at, error) \
     select 'stripe', 'evt_2', 'charge.updated', charge, id, false, paid_at, paid_at, 9990000000000, \
     'Stripe cannot be reached: no connection' from donations",
    "insert into refund_requests (id, donation_id, amount, asked_at, answered_at, error) \
     select receipt_id, id, 500, paid_at, paid_at, 'Stripe refused the call with status 400' from donations",
];
/// What waits for an operator.
const WAITING: [&str; 5] = [
    "insert into payment_differences (kind, object, livemode, donation_id, amount, detail, found_at) select 'other entry', \
     'txn_3PqRstUvWxYz0123456789abc', false, id, 2396, 'the books have $23.97 for ch_3PqRstUvWxYz', paid_at from donations",
    "insert into payment_differences (kind, object, livemode, amount, detail, found_at) values ('balance', 'balance', false, \
     -1, 'Stripe has $23.96, the books have $23.97', 1790000000000)",
    "insert into disputes (id, donation_id, amount, reason, status, due_by, opened_at, changed_at) select 'dp_1AbCdEfGh', id, \
     2500, 'product_not_received', 'needs_response', 1800000000, paid_at, paid_at from donations",
    "insert into reconciliations (livemode, since, until, transactions, entered, differences, balance, ledger_balance, \
     finished_at) values (false, 1789000000, 1790000000, 12345, 1, 2, 2396, 2397, 9990000000000)",
    "insert into donations (id, receipt_id, state, provider, livemode, nonprofit_id, amount, is_public, started_at, changed_at) \
     select x'0190a0000000700080000000000000a3', x'0190a0000000700080000000000000a4', 'processing', provider, livemode, \
     nonprofit_id, 123456, false, 1780000000000, 1780000000000 from donations",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_money_of_an_operator_is_accessible_on_phone_and_desktop() {
    let site = Site::start_with_unreachable_stripe().await;
    let inspector = Inspector::start().await;
    let browser = &inspector.browser;
    site.create_operator("operator").await;
    browser.goto(&site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.wait_for_page(browser.click("form.form button")).await;
    let money = "/dashboard/operator/money";
    browser.goto(&site, money).await;
    inspector.inspect("operator-money-none").await;

    let nonprofit = Ein::parse("530196605").unwrap().nonprofit_id();
    execute(&site, &PAID, &nonprofit.0.simple().to_string()).await;
    site.app.settlement().settle_pending().await.unwrap();
    let donation = "/dashboard/operator/donations/0190a000-0000-7000-8000-0000000000a1";
    browser.goto(&site, donation).await;
    inspector.inspect("operator-donation-paid").await;
    browser.fill("#amount", "a lot").await;
    browser.wait_for_page(browser.click("#refund button")).await;
    inspector.inspect("operator-donation-refund-refused").await;

    execute(&site, &WAITING, "").await;
    browser.goto(&site, "/dashboard/operator").await;
    inspector.inspect("operator-home-money").await;
    browser.click(&format!("#attention-list a[href='{money}']")).await;
    browser.goto(&site, money).await;
    inspector.inspect("operator-money").await;
    browser
        .wait_for_page(browser.click("form[action$='/explain'] button"))
        .await;
    inspector.inspect("operator-money-refused").await;
    browser.goto(&site, donation).await;
    inspector.inspect("operator-donation-disputed").await;
    inspector.stop().await;
}

/// Executes statements for SQLite, in which `NONPROFIT` is replaced by an ID.
async fn execute(site: &Site, statements: &[&str], nonprofit: &str) {
    let Db::Sqlite { writer, .. } = &site.app.db else {
        panic!("browser tests use SQLite");
    };
    for statement in statements {
        let sql = statement.replace("NONPROFIT", nonprofit);
        sqlx::query(sqlx::AssertSqlSafe(sql))
            .execute(writer)
            .await
            .unwrap();
    }
}

/// Inspects the empty list, the refused form, and every page of a fundraiser.
async fn inspect_fundraisers(inspector: &Inspector, site: &Site) {
    let browser = &inspector.browser;
    browser.goto(site, "/dashboard/fundraisers").await;
    inspector.inspect("fundraisers-none").await;
    browser.goto(site, "/dashboard/fundraisers/new").await;
    browser
        .fill("#title", "A spring run along the river, for everybody who cares")
        .await;
    browser.fill("#description", "Come and run.").await;
    browser.fill("#goal", "5,000").await;
    browser.fill("#raisedOffline", "$1,234.50").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("fundraiser-new-refused").await;
    browser.fill("#nonprofit", "zoo").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("fundraiser-new-matches").await;
    browser.find("#nonprofit").await.clear().await.unwrap();
    browser.fill("#nonprofit", "53-0196605").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("fundraiser-preview").await;
    browser
        .wait_for_page(browser.click("button[value=publish]"))
        .await;
    inspector.inspect("fundraiser").await;
    let path = browser
        .run("return location.pathname;")
        .await
        .as_str()
        .unwrap()
        .to_owned();
    for part in ["edit", "close", "reopen"] {
        browser.goto(site, &format!("{path}/{part}")).await;
        inspector.inspect(&format!("fundraiser-{part}")).await;
    }
}

/// Fills the pages of moderation, and inspects those of one fundraiser.
async fn inspect_moderation(inspector: &Inspector, site: &Site) {
    let (browser, keys) = (&inspector.browser, site.create_keys().await);
    let nonprofit = Ein::parse("530196605").unwrap().nonprofit_id();
    let body = json!({
        "nonprofitId": nonprofit.0, "title": "A concert in the park, with three bands and a very long title",
        "description": "Three bands.\n\nOne evening.", "raisedOffline": 12_300,
    });
    let fundraiser = site.create_fundraiser(&keys, &body).await;
    let page = fundraiser["url"].as_str().unwrap().replace(&site.url, "");
    let once = Uuid::now_v7().to_string();
    let fields = [
        ("amount", "25"),
        ("name", "Ada Lovelace"),
        ("message", "For my grandmother, who sang here every spring."),
        ("public", "yes"),
        ("email", "ada@example.org"),
        ("once", &once),
    ];
    let donation = site.send_form(&format!("{page}/give"), &fields).await;
    site.send_form(&donation, &[("card", "4242424242424242")]).await;
    let id = donation.rsplit('/').next().unwrap();
    browser
        .goto(site, &format!("/dashboard/operator/donations/{id}"))
        .await;
    inspector.inspect("operator-donation").await;
    browser.goto(site, &format!("{page}/report")).await;
    inspector.inspect("report").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("report-refused").await;
    browser.click("input[value='fraud']").await;
    browser
        .fill("#details", "The bands know nothing of it: https://example.org/a-very-long-path-without-any-spaces-in-it-at-all")
        .await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("report-sent").await;
    browser.goto(site, "/dashboard/settings").await;
    browser
        .fill("#origin", "https://shop.river-friends.example.org")
        .await;
    browser
        .wait_for_page(browser.click("form[action$='/origins'] button"))
        .await;
    inspector.inspect("settings-origin").await;

    let path = format!(
        "/dashboard/operator/fundraisers/{}",
        fundraiser["id"].as_str().unwrap()
    );
    browser.goto(site, &path).await;
    inspector.inspect("operator-fundraiser").await;
    browser
        .wait_for_page(browser.click("form[action$='/hide'] button"))
        .await;
    inspector.inspect("operator-fundraiser-hidden").await;
    browser.goto(site, &page).await;
    inspector.inspect("fundraiser-page-hidden").await;
    let review = "update fundraisers set in_review_since = created_at, hidden_at = null, hidden_reason = null where hidden_at is not null";
    match &site.app.db {
        Db::Sqlite { writer, .. } => _ = sqlx::query(review).execute(writer).await.unwrap(),
        Db::Postgres(postgres) => _ = sqlx::query(review).execute(&postgres.pool()).await.unwrap(),
    }
}

async fn create_key(browser: &Browser, site: &Site, name: &str, kind: &str) -> String {
    browser.goto(site, "/dashboard/keys/new").await;
    browser.fill("#name", name).await;
    browser.click(&format!("input[value='{kind}']")).await;
    browser.click("form.form button").await;
    browser.text("#key").await
}

/// The ID of the public key.
async fn public_key_id(browser: &Browser, site: &Site) -> String {
    browser.goto(site, "/dashboard").await;
    let id = browser.find("code[id^='key-']").await.attr("id").await.unwrap();
    id.unwrap().trim_start_matches("key-").to_owned()
}
