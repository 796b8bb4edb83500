//! `causeway donor`: what is stored about a donor can be listed and erased.

use super::Cli;
use super::secrets::database_content;
use super::server::run;
use crate::client::Client;
use crate::dashboard::visitor::{Visitor, emails, hidden};
use crate::world::World;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use causeway::app::App;
use giving::checkout::donor_id;
use platform::email_address::EmailAddress;
use platform::mail::Delivery;
use platform::text::hex;
use serde_json::json;
use sha2::{Digest, Sha256};

on_both_databases!(
    a_donor_is_exported_and_forgotten_and_the_ledger_stays_valid,
    a_receipt_is_queued_with_its_donation_and_forgotten_with_its_donor,
    a_donor_with_a_pending_donation_is_recorded_before_being_forgotten,
    the_donor_id_in_the_ledger_cannot_be_found_with_a_list_of_email_addresses,
);

const PROFILE: &str = "/american-red-cross";
const VALID_CARD: &str = "4242424242424242";

/// What is personal about the donor of [`donate`].
const PERSONAL: [&str; 8] = [
    "Ada Lovelace",
    "ada@example.org",
    "Run well, dear friends!",
    "customer-of-the-shop",
    "returning-visitor",
    "in-memory-of-byron",
    "member-1815",
    "I am her daughter",
];

/// Creates a fundraiser and returns its path.
async fn create_fundraiser(world: &World) -> String {
    let details = world.client.details(200, "american-red-cross").await;
    let (_, private) = world.create_key(access::keys::Kind::Private).await;
    world.app.access.keys.refresh().await.unwrap();
    let basic = BASE64_STANDARD.encode(format!("{}:{private}", world.client.key));
    let headers = [
        ("authorization", format!("Basic {basic}")),
        ("content-type", "application/json".to_owned()),
    ];
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let body = json!({"nonprofitId": details.nonprofit()["id"], "title": "Spring run"});
    let post = axum::http::Method::POST;
    let created = world
        .client
        .send_body(200, &post, "/v0.2/fundraiser", &headers, body.to_string())
        .await;
    let slug = created.json["data"]["fundraiser"]["slug"]
        .as_str()
        .unwrap()
        .to_owned();
    format!("{PROFILE}/f/{slug}")
}

/// Starts a donation and returns the path of its payment page.
async fn start(visitor: &Visitor, page: &str, name: &str, email: &str) -> String {
    let url = format!(
        "{page}/give?partner_metadata=customer-of-the-shop&designation=in-memory-of-byron&partner_donation_id=member-1815\
         &exit_url=https%3A%2F%2Fshop.example.org%2Freturning-visitor"
    );
    let form = visitor.get(200, &url).await.text();
    let fields = [
        ("amount", "20"),
        ("name", name),
        ("public", "yes"),
        ("email", email),
        ("message", "Run well, dear friends!"),
        ("once", &hidden(&form, "once")),
    ];
    let response = visitor.post(303, &url, &fields).await;
    response.header("location").to_owned()
}

async fn donate(visitor: &Visitor, page: &str, name: &str, email: &str) -> String {
    let payment = start(visitor, page, name, email).await;
    visitor.post(303, &payment, &[("card", VALID_CARD)]).await;
    payment
}

async fn report(visitor: &Visitor, email: &str) {
    let form = format!("{PROFILE}/report");
    let once = hidden(&visitor.get(200, &form).await.text(), "once");
    let fields = [
        ("reason", "misleading"),
        ("details", "Wrong logo. I am her daughter."),
        ("email", email),
        ("once", &once),
    ];
    visitor.post(200, &form, &fields).await;
}

async fn check(world: &World) {
    let checked = giving::check::check(&world.app.db).await.unwrap();
    assert!(checked.errors.is_empty(), "{:?}", checked.errors);
}

async fn a_donor_is_exported_and_forgotten_and_the_ledger_stays_valid(world: &World) {
    world.load_demo().await;
    let page = create_fundraiser(world).await;
    let visitor = Visitor::new(world);
    let receipt = donate(&visitor, &page, "Ada Lovelace", "Ada@example.org").await;
    donate(&visitor, PROFILE, "Ada Lovelace", "ada@Example.org").await;
    let unpaid = start(&visitor, &page, "Ada Lovelace", "ada@example.org").await;
    donate(&visitor, &page, "Grace Hopper", "grace@example.org").await;
    emails(world, 3).await;
    report(&visitor, "Ada@example.org").await;
    let (other_app, other_server) = world.restart().await;
    let other_server = Visitor::with_client(&other_server);
    for visitor in [&visitor, &other_server] {
        let shown = visitor.get(200, &page).await.text();
        assert!(
            shown.contains("Ada Lovelace") && shown.contains("Run well, dear friends!"),
            "{shown}"
        );
    }

    let exported = run(world, &["donor", "export", "ADA@example.org"]);
    let donations = exported["donations"].as_array().unwrap();
    assert_eq!(donations.len(), 3, "{exported}");
    for donation in donations {
        assert_eq!(donation["name"], "Ada Lovelace");
        assert_eq!(donation["message"], "Run well, dear friends!");
        assert_eq!(donation["partnerMetadata"], "customer-of-the-shop");
        assert_eq!(donation["designation"], "in-memory-of-byron");
        assert_eq!(donation["partnerDonationId"], "member-1815");
        assert_eq!(donation["amount"], 2_000);
    }
    assert!(
        donations[0]["receiptUrl"].as_str().unwrap().ends_with(&receipt),
        "{exported}"
    );
    assert_eq!(exported["names"].as_array().unwrap().len(), 2, "{exported}");
    assert_eq!(exported["emails"].as_array().unwrap().len(), 2, "{exported}");
    assert_eq!(
        exported["reports"][0]["details"], "Wrong logo. I am her daughter.",
        "{exported}"
    );
    assert!(!exported.to_string().contains("grace"), "{exported}");

    let totals = "select coalesce(cast(raised as text) || ' ' || cast(supporters as text), '') from ledger_entries order by sequence";
    let totals_before = world.texts(totals).await;
    let forgotten = run(world, &["donor", "forget", "ada@example.org"]);
    assert_eq!(
        forgotten,
        json!({"donations": 3, "names": 2, "reports": 1, "emails": 2})
    );
    assert_eq!(world.texts(totals).await, totals_before);
    check(world).await;
    for visitor in [&visitor, &other_server] {
        let shown = visitor.get(200, &page).await.text();
        assert!(
            !shown.contains("Ada Lovelace") && shown.contains("Grace Hopper"),
            "{shown}"
        );
        assert!(
            shown.contains("$40.00") && shown.contains("2 supporters"),
            "{shown}"
        );
        let shown = visitor.get(200, &receipt).await.text();
        assert!(shown.contains("$20.00"), "{shown}");
        assert!(
            !PERSONAL.iter().any(|personal| shown.contains(personal)),
            "{shown}"
        );
        visitor.get(404, &unpaid).await;
    }
    let others = world
        .texts("select name from donations where name is not null")
        .await;
    assert_eq!(others, ["Grace Hopper"]);
    assert_eq!(emails(world, 1).await.len(), 1);
    let audit =
        "select act || ' ' || subject || ' ' || detail from audit where act like 'donor %' order by id";
    assert_eq!(
        world.texts(audit).await,
        ["donor export donor 3 donations", "donor forget donor 3 donations"]
    );

    let again = run(world, &["donor", "forget", "ada@example.org"]);
    assert_eq!(
        again,
        json!({"donations": 0, "names": 0, "reports": 0, "emails": 0})
    );
    let exported = run(world, &["donor", "export", "ada@example.org"]);
    assert_eq!(exported["donations"], json!([]));
    // The metadata and URLs of the other donor are the same as those of this one.
    world
        .execute("update donations set message = null, designation = null, partner_id = null, partner_metadata = null, exit_url = null")
        .await;
    world.app.db.truncate_log().await.unwrap();
    // Reading the file ends the locks of this process on it, so no command can run afterwards.
    let content = database_content(world).await;
    for personal in PERSONAL {
        let found = memchr::memmem::find(&content.to_ascii_lowercase(), personal.to_lowercase().as_bytes());
        assert!(found.is_none(), "{personal}");
    }
    // A new donation of the same person is one of the same supporter.
    donate(&visitor, &page, "", "ada@example.org").await;
    assert!(visitor.get(200, &page).await.text().contains("2 supporters"));
    check(world).await;
    other_app.db.close().await;
}

async fn a_receipt_is_queued_with_its_donation_and_forgotten_with_its_donor(world: &World) {
    world.load_demo().await;
    let mut config = world.app.config.clone();
    // Nothing listens on this port.
    config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:1".into());
    let app = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    donate(&visitor, PROFILE, "Ada Lovelace", "Ada@example.org").await;
    // The receipt is in the database as soon as the donation is.
    let receipts = "select recipient || ' ' || subject from mail_queue order by queued_at";
    assert_eq!(
        world.texts(receipts).await,
        ["Ada@example.org Test mode: Your donation of $20.00"]
    );
    donate(&visitor, PROFILE, "Grace Hopper", "grace@example.org").await;
    app.mail.finish().await;
    let exported = run(world, &["donor", "export", "ada@example.org"]);
    let queued = exported["queuedEmails"].as_array().unwrap();
    assert_eq!(queued.len(), 1, "{exported}");
    assert!(
        queued[0]["text"].as_str().unwrap().contains("/donations/"),
        "{exported}"
    );
    assert_eq!(exported["emails"], json!([]));
    let forgotten = run(world, &["donor", "forget", "ada@example.org"]);
    assert_eq!(forgotten["emails"], 1);
    assert_eq!(
        world.texts("select recipient from mail_queue").await,
        ["grace@example.org"]
    );
    app.db.close().await;
}

async fn a_donor_with_a_pending_donation_is_recorded_before_being_forgotten(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    start(&visitor, PROFILE, "Ada Lovelace", "ada@example.org").await;
    world.execute("update donations set state = 'pending'").await;
    let forgotten = run(world, &["donor", "forget", "ada@example.org"]);
    assert_eq!(
        (&forgotten["donations"], &forgotten["names"]),
        (&json!(1), &json!(1))
    );
    let ada = EmailAddress::parse("ada@example.org").unwrap();
    assert_eq!(
        world.texts("select donor from ledger_entries").await,
        [donor_id::of_email(&world.app.secret, &ada)]
    );
    assert_eq!(world.texts("select state from donations").await, ["completed"]);
    assert!(world.texts("select name from donor_names").await.is_empty());
    check(world).await;
}

async fn the_donor_id_in_the_ledger_cannot_be_found_with_a_list_of_email_addresses(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    donate(&visitor, PROFILE, "", "Ada@Example.org").await;
    donate(&visitor, PROFILE, "", "ada@example.org").await;
    donate(&visitor, PROFILE, "", "").await;
    let donors = world
        .texts("select donor from ledger_entries order by sequence")
        .await;
    assert_eq!(donors[0], donors[1]);
    assert_ne!(donors[0], donors[2]);
    let digest = hex(&Sha256::digest(b"ada@example.org"));
    assert!(!donors[0].contains(&digest[..16]), "{donors:?}");
    // With another secret, the same person has another ID.
    let folder = tempfile::tempdir().unwrap();
    let other = App::build(causeway::config::Config::for_tests(folder.path()))
        .await
        .unwrap();
    let ada = EmailAddress::parse("ada@example.org").unwrap();
    assert_eq!(donor_id::of_email(&world.app.secret, &ada), donors[0]);
    assert_ne!(donor_id::of_email(&other.secret, &ada), donors[0]);
    other.db.close().await;
}

#[test]
fn an_invalid_email_address_of_a_donor_is_refused() {
    let cli = Cli::new();
    for command in ["export", "forget"] {
        let error = cli.fail(&["donor", command, "ada"]);
        assert!(error.contains("not an email address"), "{error}");
        cli.run(2, &["donor", command]);
    }
    let nothing = cli.run(0, &["donor", "forget", "ada@example.org"]).stdout;
    assert_eq!(nothing, "nothing is stored about ada@example.org\n");
    let text = cli.run(0, &["donor", "export", "ada@example.org"]).stdout;
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["donations"], json!([]));
}
