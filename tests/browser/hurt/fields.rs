//! Every field that stores text, filled with payloads.

use crate::site::Site;
use access::accounts::store::{self as accounts, NewAccount};
use access::accounts::{Username, is_email};
use access::audit::Actor;
use access::keys::{KeyText, Kind, store};
use directory::import::bmf::HEADER;
use directory::import::enrichment::Enrichment;
use directory::nonprofits::ein::Ein;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::ids::{AccountId, KeyId};
use serde_json::json;
use uuid::Uuid;

/// The columns of an EO BMF file that hold text, and what the others of a charity hold.
const TEXTS: [&str; 5] = ["NAME", "ICO", "STREET", "CITY", "SORT_NAME"];
const OTHERS: [(&str, &str); 5] = [
    ("STATE", "OR"),
    ("SUBSECTION", "03"),
    ("DEDUCTIBILITY", "1"),
    ("FOUNDATION", "15"),
    ("STATUS", "01"),
];

/// A nonprofit for each text, as the IRS and as people tell of it; their EINs.
pub async fn import(site: &Site, texts: &[String]) -> Vec<String> {
    let (mut filed, mut told, mut linked) = (HEADER.join(",") + "\r\n", String::new(), String::new());
    let eins: Vec<String> = (0..texts.len())
        .map(|number| format!("{}", 100_000_001 + number))
        .collect();
    for (ein, text) in eins.iter().zip(texts) {
        let quoted = format!("\"{}\"", text.replace('"', "\"\""));
        let column = |name: &&str| match OTHERS.iter().find(|(other, _)| other == name) {
            Some((_, value)) => (*value).to_owned(),
            None if TEXTS.contains(name) => quoted.clone(),
            None if *name == "EIN" => ein.clone(),
            None => String::new(),
        };
        filed += &(HEADER.iter().map(column).collect::<Vec<_>>().join(",") + "\r\n");
        // Of a body that the IRS does not name, the place is told as well.
        for ein in [ein.clone(), ein.replacen('1', "2", 1)] {
            let line = json!({
                "ein": ein, "name": text, "legalName": text, "aliases": [text], "description": text, "city": text,
                "descriptionLong": format!("{text}\n\n{text}"), "country": text, "causes": ["autism"],
            });
            told.extend([line.to_string(), "\n".to_owned()]);
        }
        // An address that could break out is refused with its line; what is left of a text fits into one.
        let safe: String = text.chars().filter(|c| !" <>\"'`\\".contains(*c)).collect();
        for address in [format!("https://example.org/?{safe}"), text.clone()] {
            let line =
                json!({"ein": ein, "websiteUrl": address, "logoUrl": address, "coverImageUrl": address});
            if Enrichment::parse(line.to_string().as_bytes()).is_ok() {
                linked.extend([line.to_string(), "\n".to_owned()]);
            }
        }
    }
    let filed = site.file("<img src=x onerror=hurt()>.csv", &filed);
    site.app.importer().import_irs(&[filed], true).await.unwrap();
    for lines in [told, linked] {
        let file = site.file("<svg onload=hurt()>.jsonl", &lines);
        site.app.importer().import_nonprofits(&[file]).await.unwrap();
    }
    site.app.refresh_directory().await.unwrap();
    eins
}

/// A fundraiser and a gift to it for each text; the pages that show them.
pub async fn fundraisers(site: &Site, texts: Vec<String>) -> Vec<(String, Vec<String>)> {
    let keys = site.make_keys().await;
    let nonprofit = Ein::parse("530196605").unwrap().nonprofit_id().to_string();
    let mut made = Vec::new();
    for text in texts {
        let body =
            json!({"nonprofitId": nonprofit, "title": text, "description": text, "metadata": {"x": text}});
        let fundraiser = site.make_fundraiser(&keys, &body).await;
        let page = format!("/american-red-cross/f/{}", fundraiser["slug"].as_str().unwrap());
        let once = Uuid::now_v7().to_string();
        let fields = [
            ("amount", "5"),
            ("name", &text),
            ("public", "yes"),
            ("message", &text),
            ("once", once.as_str()),
        ];
        let give = format!("{page}/give?{}", told_by_a_partner(&text));
        let gift = site.send_form(&give, &fields).await;
        site.send_form(&gift, &[("card", "4242424242424242")]).await;
        made.push((text, vec![page, give, gift]));
    }
    made
}

/// What the link of a partner may say, as a query.
fn told_by_a_partner(text: &str) -> String {
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

/// An account for each text that may stand in an address of mail; these addresses.
pub async fn accounts(site: &Site, texts: &[String]) -> Vec<String> {
    let plain = texts
        .iter()
        .map(|text| text.replace(|c: char| c.is_whitespace() || "\"\\".contains(c), ""));
    let addresses = plain.map(|text| format!("\"{text}\"@example.org"));
    let addresses: Vec<String> = addresses.filter(|address| is_email(address)).collect();
    for (number, address) in addresses.iter().enumerate() {
        let account = NewAccount {
            username: &Username::parse(&format!("hurt-{number}")).unwrap(),
            email: Some(address),
            operator: false,
            password: None,
            is_confirmed: true,
        };
        let made = accounts::insert(&site.app.db, &account, site.app.clock.millis()).await;
        assert!(made.unwrap().is_some());
    }
    assert!(addresses.iter().any(|address| address.contains('<')));
    addresses
}

/// A key for each text, blocked with it as the reason; one of them.
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
