//! Fills every field that stores text with payloads.

use crate::site::Site;
use access::accounts::Username;
use access::accounts::store::{self as accounts, NewAccount};
use access::audit::Actor;
use access::keys::{KeyText, Kind, store};
use directory::nonprofits::ein::Ein;
use ingest::BMF_HEADER;
use ingest::Enrichment;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::ids::{AccountId, KeyId};
use serde_json::json;
use uuid::Uuid;

/// The columns of an EO BMF file that contain text.
const TEXT_COLUMNS: [&str; 5] = ["NAME", "ICO", "STREET", "CITY", "SORT_NAME"];
/// Values of other columns that make a nonprofit a charity.
const OTHER_COLUMNS: [(&str, &str); 5] = [
    ("STATE", "OR"),
    ("SUBSECTION", "03"),
    ("DEDUCTIBILITY", "1"),
    ("FOUNDATION", "15"),
    ("STATUS", "01"),
];

/// Imports a nonprofit for each text, from an IRS file and with a profile, and returns the EINs.
pub async fn import(site: &Site, texts: &[String]) -> Vec<String> {
    let (mut irs_rows, mut profiles, mut links) =
        (BMF_HEADER.join(",") + "\r\n", String::new(), String::new());
    let eins: Vec<String> = (0..texts.len())
        .map(|number| format!("{}", 100_000_001 + number))
        .collect();
    for (ein, text) in eins.iter().zip(texts) {
        let quoted = format!("\"{}\"", text.replace('"', "\"\""));
        let column = |name: &&str| match OTHER_COLUMNS.iter().find(|(other, _)| other == name) {
            Some((_, value)) => (*value).to_owned(),
            None if TEXT_COLUMNS.contains(name) => quoted.clone(),
            None if *name == "EIN" => ein.clone(),
            None => String::new(),
        };
        irs_rows += &(BMF_HEADER.iter().map(column).collect::<Vec<_>>().join(",") + "\r\n");
        // The place in a profile is only used if the nonprofit is not in an IRS file.
        for ein in [ein.clone(), ein.replacen('1', "2", 1)] {
            let line = json!({
                "ein": ein, "name": text, "legalName": text, "aliases": [text], "description": text, "city": text,
                "descriptionLong": format!("{text}\n\n{text}"), "country": text, "causes": ["autism"],
            });
            profiles.extend([line.to_string(), "\n".to_owned()]);
        }
        // A URL with unsafe characters is refused, so they are removed from the text.
        let safe: String = text.chars().filter(|c| !" <>\"'`\\".contains(*c)).collect();
        for url in [format!("https://example.org/?{safe}"), text.clone()] {
            let line = json!({"ein": ein, "websiteUrl": url, "logoUrl": url, "coverImageUrl": url});
            if Enrichment::parse(line.to_string().as_bytes()).is_ok() {
                links.extend([line.to_string(), "\n".to_owned()]);
            }
        }
    }
    let file = site.file("<img src=x onerror=xss()>.csv", &irs_rows);
    site.app.importer().import_irs(&[file], true).await.unwrap();
    for lines in [profiles, links] {
        let file = site.file("<svg onload=xss()>.jsonl", &lines);
        site.app.importer().import_nonprofits(&[file]).await.unwrap();
    }
    site.app.refresh_directory().await.unwrap();
    eins
}

/// Creates a fundraiser with a donation for each text, and returns the pages that show them.
pub async fn fundraisers(site: &Site, texts: Vec<String>) -> Vec<(String, Vec<String>)> {
    let keys = site.create_keys().await;
    let nonprofit = Ein::parse("530196605").unwrap().nonprofit_id().to_string();
    let mut created = Vec::new();
    for text in texts {
        let body =
            json!({"nonprofitId": nonprofit, "title": text, "description": text, "metadata": {"x": text}});
        let fundraiser = site.create_fundraiser(&keys, &body).await;
        let page = format!("/american-red-cross/f/{}", fundraiser["slug"].as_str().unwrap());
        let once = Uuid::now_v7().to_string();
        let fields = [
            ("amount", "5"),
            ("name", &text),
            ("public", "yes"),
            ("message", &text),
            ("once", once.as_str()),
        ];
        let give = format!("{page}/give?{}", partner_query(&text));
        let donation = site.send_form(&give, &fields).await;
        site.send_form(&donation, &[("card", "4242424242424242")]).await;
        created.push((text, vec![page, give, donation]));
    }
    created
}

/// The query of a partner link.
fn partner_query(text: &str) -> String {
    let names = [
        "first_name",
        "email",
        "designation",
        "description",
        "partner_donation_id",
        "partner_metadata",
        "success_url",
        "exit_url",
    ];
    let text = utf8_percent_encode(text, NON_ALPHANUMERIC);
    names.map(|name| format!("{name}={text}")).join("&")
}

/// Creates an account for each text, as if every text could be part of an email address, and returns the addresses.
pub async fn accounts(site: &Site, texts: &[String]) -> Vec<String> {
    let plain = texts
        .iter()
        .map(|text| text.replace(|c: char| c.is_whitespace() || "\"\\".contains(c), ""));
    let addresses: Vec<String> = plain.map(|text| format!("\"{text}\"@example.org")).collect();
    for (number, address) in addresses.iter().enumerate() {
        let account = NewAccount {
            username: &Username::parse(&format!("xss-{number}")).unwrap(),
            email: Some(address),
            operator: false,
            password: None,
            is_confirmed: true,
        };
        let created = accounts::insert(&site.app.db, &account, site.app.clock.millis()).await;
        assert!(created.unwrap().is_some());
    }
    assert!(addresses.iter().any(|address| address.contains('<')));
    addresses
}

/// Creates a key named after each text and blocks it with the text as the reason. Returns the ID of one of them.
pub async fn keys(site: &Site, account: AccountId, texts: &[String]) -> KeyId {
    let (db, now) = (&site.app.db, site.app.clock.millis());
    let mut last = None;
    for text in texts {
        let id = store::insert(db, account, text, &KeyText::generate(Kind::Public), now)
            .await
            .unwrap();
        assert!(
            store::block(db, id, text, Actor::Account(account), now)
                .await
                .unwrap()
        );
        last = Some(id);
    }
    last.unwrap()
}
