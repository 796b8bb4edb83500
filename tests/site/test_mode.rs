//! Test mode: test money shows only on a server in test mode, which says so next to every amount.

use super::feeds::create_fundraiser;
use crate::client::Client;
use crate::dashboard::visitor::{PASSWORD, Visitor, between, emails, hidden};
use crate::world::World;
use axum::http::Method;
use giving::donations::{Dispute, Label, NewDonation, RecipientName, Refund, Reversal, find_recipient};
use giving::ledger::entry::Mode;
use giving::providers::Provider;
use platform::money::Cents;

on_both_databases!(
    test_money_shows_only_in_test_mode,
    a_receipt_says_that_nothing_was_charged_whatever_the_provider_is_now,
    a_donation_keeps_the_mode_in_which_it_was_started,
    a_receipt_follows_refunds_and_disputes_and_their_reversals,
    the_dashboard_says_test_mode_next_to_its_amounts,
    without_a_provider_there_is_no_form_and_nothing_is_stored,
    without_a_provider_a_profile_links_to_the_website_of_the_nonprofit,
);

const PROFILE: &str = "/american-red-cross";
const VALID_CARD: &str = "4242 4242 4242 4242";
const FEEDS: [&str; 2] = ["/feeds/fundraisers.xml", "/american-red-cross/fundraisers.xml"];
/// How pages write ten billion dollars, with and without a live donation of $25.
const TEST_AMOUNTS: [&str; 2] = ["$10,000,000,000.00", "$10,000,000,025.00"];

fn link() -> Provider {
    Provider::Link("https://pay.example.org/".to_owned())
}

/// Starts a donation and returns the path of its payment page.
async fn start(visitor: &Visitor, page: &str, amount: &str) -> String {
    let form = visitor.get(200, &format!("{page}/give")).await.text();
    let fields = [
        ("amount", amount),
        ("name", "Tess Ter"),
        ("public", "yes"),
        ("email", "tess@example.org"),
        ("once", &hidden(&form, "once")),
    ];
    let started = visitor.post(303, &format!("{page}/give"), &fields).await;
    started.header("location").to_owned()
}

/// Records a live donation of $25.
async fn donate(world: &World, fundraiser: &str) {
    let (db, directory) = (&world.app.db, &world.app.directory);
    let to = RecipientName::parse("american-red-cross", Some(fundraiser)).unwrap();
    let to = find_recipient(db, directory, &to).await;
    let donation = NewDonation {
        source: "bank".parse().unwrap(),
        external_id: "p-1".parse().unwrap(),
        mode: Mode::Live,
        to: to.unwrap(),
        amount: Cents::new(2_500),
        donor: "lia".parse().unwrap(),
        name: Some("Lia Live".parse().unwrap()),
        is_public: true,
    };
    world.app.giving.recorder.record(donation).await.unwrap();
}

/// The path and the content of the share picture of a page.
async fn share_picture(client: &Client, page: &str) -> (String, Vec<u8>) {
    let html = client.get_plain(200, page).await.text();
    let path = between(&html, "og:image\" content=\"http://causeway.test", "\"").unwrap();
    let picture = client.get_plain(200, &path).await.body;
    (path, picture)
}

fn assert_contains(html: &str, texts: &[&str]) {
    for text in texts {
        assert!(html.contains(text), "{text}: {html}");
    }
}

async fn test_money_shows_only_in_test_mode(world: &World) {
    world.load_demo().await;
    let (slug, id) = create_fundraiser(world, "Spring run", "Why we run").await;
    let page = format!("{PROFILE}/f/{slug}");
    donate(world, &id).await;
    let (before, before_client) = world.with_provider(link()).await;
    let (path_before, picture_before) = share_picture(&before_client, &page).await;
    before.db.close().await;
    let visitor = Visitor::new(world);
    let donation = start(&visitor, &page, "10000000000").await;
    visitor.post(303, &donation, &[("card", VALID_CARD)]).await;

    let client = &world.client;
    let html = client.get_plain(200, &page).await.text();
    for expected in [
        TEST_AMOUNTS[1],
        "Test mode",
        "Tess Ter",
        "Lia Live",
        "2 supporters",
    ] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    let proof_path = format!("{page}/proof");
    let proof = client.get_plain(200, &proof_path).await.text();
    assert_contains(&proof, &[TEST_AMOUNTS[1], "Test mode", "<td>2</td>"]);
    let html = client.get_plain(200, PROFILE).await.text();
    assert!(
        html.contains("$10,000,000,025.00 raised") && html.contains("Test mode"),
        "{html}"
    );
    for feed in FEEDS {
        let feed = client.get_plain(200, feed).await.text();
        assert!(
            feed.contains("Test mode: $10,000,000,025.00 raised · 2 supporters"),
            "{feed}"
        );
    }
    let (path, picture) = share_picture(client, &page).await;
    let button = client.get_plain(200, "/embed/button.js").await;
    assert!(button.text().contains("Test mode"), "{}", button.text());

    for provider in [link(), Provider::Off] {
        let (app, client) = world.with_provider(provider).await;
        let html = client.get_plain(200, &page).await.text();
        assert_contains(&html, &["$25.00", "Lia Live", "1 supporter<"]);
        let profile = client.get_plain(200, PROFILE).await.text();
        assert!(profile.contains("$25.00 raised"), "{profile}");
        let proof = client.get_plain(200, &proof_path).await.text();
        assert!(
            proof.contains("<td>1</td>") && !proof.contains("<td>2</td>"),
            "{proof}"
        );
        let mut shown = vec![html, profile, proof];
        for feed in FEEDS {
            let feed = client.get_plain(200, feed).await.text();
            assert!(feed.contains("\n\n$25.00 raised · 1 supporter<"), "{feed}");
            shown.push(feed);
        }
        let script = client.get_plain(200, "/embed/button.js").await;
        assert_ne!(script.header("etag"), button.header("etag"));
        shown.push(script.text());
        for text in shown {
            for hidden in ["Test mode", "Tess Ter", TEST_AMOUNTS[0], TEST_AMOUNTS[1]] {
                assert!(!text.contains(hidden), "{hidden}: {text}");
            }
        }
        // The picture is the same as before the test donation.
        let live = share_picture(&client, &page).await;
        assert_eq!(live.0, path_before);
        assert!(live.1 == picture_before && live.1 != picture && live.0 != path);
        app.db.close().await;
    }

    let refund = Refund {
        source: "site".parse().unwrap(),
        external_id: world
            .texts("select external_id from ledger_entries where source = 'site'")
            .await[0]
            .parse()
            .unwrap(),
        amount: None,
        refund_id: None,
    };
    world.app.giving.recorder.refund(refund).await.unwrap();
    let modes = world
        .texts("select source || ' ' || kind || ' ' || mode from ledger_entries order by sequence")
        .await;
    assert_eq!(
        modes,
        ["bank donation live", "site donation test", "site refund test"]
    );
    let html = client.get_plain(200, &page).await.text();
    assert!(
        html.contains("<span id=\"raised-amount\">$25.00</span>"),
        "{html}"
    );
    assert_eq!(
        giving::check::check(&world.app.db).await.unwrap().errors,
        Vec::<String>::new()
    );
}

async fn a_receipt_says_that_nothing_was_charged_whatever_the_provider_is_now(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let donation = start(&visitor, PROFILE, "12").await;
    visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    let notice = "Test mode: no money was charged.";
    assert!(visitor.get(200, &donation).await.text().contains(notice));
    for provider in [link(), Provider::Off] {
        let (app, client) = world.with_provider(provider).await;
        let receipt = client.get_plain(200, &donation).await.text();
        assert!(
            receipt.contains(notice) && receipt.contains("Thank you"),
            "{receipt}"
        );
        app.db.close().await;
    }
    let emails = emails(world, 1).await;
    assert!(
        emails[0].contains("Subject: Test mode: Your donation of $12.00") && emails[0].contains(notice),
        "{}",
        emails[0]
    );
}

async fn a_donation_keeps_the_mode_in_which_it_was_started(world: &World) {
    world.load_demo().await;
    let (app, client) = world.with_provider(link()).await;
    let elsewhere = Visitor::with_client(&client);
    let visitor = Visitor::new(world);
    // Started to be paid on another site, so a test card pays nothing.
    let first = start(&elsewhere, PROFILE, "12").await;
    visitor.post(303, &first, &[("card", VALID_CARD)]).await;
    let page = visitor.get(200, &first).await.text();
    assert!(
        page.contains("no longer accepts payments") && !page.contains("name=\"card\""),
        "{page}"
    );
    // Paid with a test card, and recorded only after the provider was changed.
    let second = start(&visitor, PROFILE, "13").await;
    let page = elsewhere.get(200, &second).await.text();
    assert!(page.contains("no longer accepts payments"), "{page}");
    world
        .execute("update donations set state = 'pending' where amount = 1300")
        .await;
    let receipt = elsewhere.get(200, &second).await.text();
    assert!(receipt.contains("Test mode: no money was charged."), "{receipt}");
    // A server of the previous version stores no mode, and its provider tells.
    let third = start(&visitor, PROFILE, "14").await;
    world
        .execute("update donations set livemode = null where amount = 1400")
        .await;
    visitor.post(303, &third, &[("card", VALID_CARD)]).await;
    let modes = world
        .texts("select cast(amount as text) || ' ' || mode from ledger_entries order by sequence")
        .await;
    assert_eq!(modes, ["1300 test", "1400 test"]);
    let states = world
        .texts("select cast(amount as text) || ' ' || state from donations order by amount")
        .await;
    assert_eq!(states, ["1200 started", "1300 completed", "1400 completed"]);
    app.db.close().await;
}

async fn a_receipt_follows_refunds_and_disputes_and_their_reversals(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let donation = start(&visitor, PROFILE, "12").await;
    visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    let external_id = world.texts("select external_id from ledger_entries").await;
    let (source, external_id): (Label, Label) = ("site".parse().unwrap(), external_id[0].parse().unwrap());
    let recorder = &world.app.giving.recorder;
    let reverse = async |external_id: &str| {
        let reversal = Reversal {
            source: source.clone(),
            external_id: external_id.parse().unwrap(),
        };
        recorder.reverse(reversal).await
    };
    let refund = Refund {
        source: source.clone(),
        external_id: external_id.clone(),
        amount: None,
        refund_id: Some("re_1".parse().unwrap()),
    };
    let dispute = Dispute {
        source: source.clone(),
        external_id,
        amount: Cents::new(1_200),
        dispute_id: "dp_1".parse().unwrap(),
    };
    let title = async || {
        let html = visitor.get(200, &donation).await.text();
        between(&html, "<h1>", "</h1>").unwrap()
    };
    recorder.refund(refund).await.unwrap();
    assert_eq!(title().await, "Your donation was refunded");
    let error = recorder.dispute(dispute.clone()).await.unwrap_err();
    assert!(error.to_string().contains("only $0.00"), "{error}");
    reverse("re_1").await.unwrap();
    assert_eq!(title().await, "Thank you for your donation");
    recorder.dispute(dispute.clone()).await.unwrap();
    assert!(!recorder.dispute(dispute).await.unwrap().is_new);
    assert_eq!(title().await, "Your bank withdrew this donation");
    reverse("dp_1").await.unwrap();
    assert!(!reverse("dp_1").await.unwrap().is_new);
    assert_eq!(title().await, "Thank you for your donation");
    assert!(reverse("dp_2").await.is_err());
    let kinds = world
        .texts("select kind from ledger_entries order by sequence")
        .await;
    assert_eq!(
        kinds,
        ["donation", "refund", "refund_failed", "dispute", "dispute_won"]
    );
    let checked = giving::check::check(&world.app.db).await.unwrap();
    assert_eq!((checked.entries, checked.errors), (5, Vec::new()));
}

async fn the_dashboard_says_test_mode_next_to_its_amounts(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let form = visitor.get(200, "/dashboard/fundraisers/new").await.text();
    let fields = [
        ("nonprofit", "american-red-cross"),
        ("title", "Spring run"),
        ("once", &hidden(&form, "once")),
    ];
    let created = visitor.post(303, "/dashboard/fundraisers/new", &fields).await;
    let own = created.header("location").to_owned();
    let page = format!("{PROFILE}/f/spring-run");
    donate(world, "spring-run").await;
    let donation = start(&visitor, &page, "10000000000").await;
    visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
    for path in ["/dashboard/fundraisers", &own] {
        let html = visitor.get(200, path).await.text();
        assert!(
            html.contains(TEST_AMOUNTS[1]) && html.contains("Test mode"),
            "{path}: {html}"
        );
    }
    let (app, client) = world.with_provider(Provider::Off).await;
    let live = Visitor::with_client(&client);
    live.sign_in(303, "grace", PASSWORD).await;
    for path in ["/dashboard/fundraisers", &own] {
        let html = live.get(200, path).await.text();
        assert!(
            html.contains("$25.00") && !html.contains("Test mode") && !html.contains(TEST_AMOUNTS[1]),
            "{path}: {html}"
        );
    }
    app.db.close().await;
}

async fn without_a_provider_there_is_no_form_and_nothing_is_stored(world: &World) {
    world.load_demo().await;
    let (slug, _) = create_fundraiser(world, "Spring run", "").await;
    let page = format!("{PROFILE}/f/{slug}");
    let pending = start(&Visitor::new(world), &page, "12").await;
    let (app, client) = world.with_provider(Provider::Off).await;
    let visitor = Visitor::with_client(&client);
    let refusal = "Donations are not accepted on this site.";
    let fields = [("amount", "5"), ("once", "0190f5a0-0000-7000-8000-000000000003")];
    for recipient in [PROFILE, &page] {
        let path = format!("{recipient}/give");
        let shown = visitor.get(404, &path).await.text();
        let sent = visitor.post(404, &path, &fields).await.text();
        for html in [shown, sent] {
            assert!(
                html.contains(refusal) && html.contains(&format!("href=\"{recipient}\"")),
                "{html}"
            );
            assert!(!html.contains("<form class=\"form\""), "{html}");
        }
        let html = visitor.get(200, recipient).await.text();
        assert!(
            !html.contains("/give\"") && !html.contains("name=\"amount\""),
            "{html}"
        );
    }
    assert!(visitor.get(200, &page).await.text().contains(refusal));
    // A donation that was started before cannot be paid now.
    assert!(visitor.get(200, &pending).await.text().contains(refusal));
    visitor.post(303, &pending, &[("card", VALID_CARD)]).await;
    assert_eq!(
        world
            .texts("select cast(amount as text) || state from donations")
            .await,
        ["1200started"]
    );
    assert!(world.texts("select source from ledger_entries").await.is_empty());
    let embed = visitor.get(200, "/developers/embed").await.text();
    assert!(embed.contains("does not accept donations"), "{embed}");
    app.db.close().await;
}

async fn without_a_provider_a_profile_links_to_the_website_of_the_nonprofit(world: &World) {
    world.load_demo().await;
    let import = async |line: &str| {
        world.import_nonprofits(line).await.unwrap();
    };
    import(r#"{"ein":"530196605","websiteUrl":"https://www.redcross.example/"}"#).await;
    let (app, client) = world.with_provider(Provider::Off).await;
    let profile = async || {
        app.refresh_directory().await.unwrap();
        let html = client.send(200, &Method::GET, PROFILE, &[]).await.text();
        between(&html, "<section class=\"card give\"", "</section>").unwrap_or_else(|| panic!("{html}"))
    };
    let website = profile().await;
    for expected in [
        "on its own website",
        "href=\"https://www.redcross.example/\"",
        "Visit redcross.example",
    ] {
        assert!(website.contains(expected), "{expected}: {website}");
    }
    import(r#"{"ein":"530196605","donateUrl":"https://give.example.org/{ein}?amount={amount}"}"#).await;
    let donate_page = profile().await;
    for expected in [
        "href=\"https://give.example.org/530196605?amount=\"",
        "Give on give.example.org",
    ] {
        assert!(donate_page.contains(expected), "{expected}: {donate_page}");
    }
    // The second view comes from the cache.
    assert_eq!(profile().await, donate_page);
    import(r#"{"ein":"530196605","donateUrl":null,"websiteUrl":null}"#).await;
    let nothing = profile().await;
    assert!(
        nothing.contains("Donations are not accepted on this site.") && !nothing.contains("href"),
        "{nothing}"
    );
    app.db.close().await;
}
