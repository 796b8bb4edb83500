//! Fundraisers: created, read, updated and donated to.

mod check;
pub mod create;
mod details;
mod idempotency;
mod invalid_bodies;
mod manage;
mod moderation;
mod modes;
mod outbox;
mod raised;

use crate::client::{Client, Response};
use crate::world::World;
use access::audit::Actor;
use access::keys::{Class, Kind, store};
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use directory::nonprofits::ein::Ein;
use giving::donations::{DonationError, Label, NewDonation, RecipientName, RecordedEntry, find_recipient};
use giving::ledger::entry::Mode;
use platform::money::Cents;
use serde_json::{Value, json};

/// The nonprofit ID of fundraisers for several nonprofits.
pub const SPECIAL: &str = "ddacc399-20c5-462e-80e1-97fa958071ea";
/// Three nonprofits of the demo directory that can receive donations, and one that cannot.
pub const RED_CROSS: &str = "530196605";
pub const NYU: &str = "135562308";
pub const PENN: &str = "231352685";
pub const AARP: &str = "951985500";

/// The ID of the nonprofit with this EIN.
pub fn id_of(ein: &str) -> String {
    Ein::parse(ein).unwrap().nonprofit_id().to_string()
}

/// An API user with a public and a private key.
pub struct Organizer {
    pub client: Client,
    pub basic: String,
}

impl Organizer {
    /// Loads the demo directory and creates a private key with a high create limit.
    pub async fn new(world: &World) -> Organizer {
        world.load_demo().await;
        let (id, private) = world.create_key(Kind::Private).await;
        store::set_limits(&world.app.db, id, &[(Class::Create, 100_000)], Actor::Command, 0)
            .await
            .unwrap();
        Organizer {
            client: world.client.clone(),
            basic: basic(&world.client.key, &private),
        }
    }

    /// The same keys used with another server.
    pub fn at(&self, client: &Client) -> Organizer {
        Organizer {
            client: client.clone(),
            basic: self.basic.clone(),
        }
    }

    pub async fn create(&self, expected: u16, body: &Value) -> Response {
        self.create_with(expected, body, &[]).await
    }

    pub async fn create_with(&self, expected: u16, body: &Value, headers: &[(&str, &str)]) -> Response {
        self.write(
            expected,
            &Method::POST,
            "/v0.2/fundraiser",
            body.to_string(),
            headers,
        )
        .await
    }

    pub async fn write(
        &self,
        expected: u16,
        method: &Method,
        path: &str,
        body: impl Into<axum::body::Body>,
        headers: &[(&str, &str)],
    ) -> Response {
        let own = [
            ("authorization", self.basic.as_str()),
            ("content-type", "application/json"),
        ];
        self.client
            .send_body(expected, method, path, &[&own, headers].concat(), body)
            .await
    }

    /// Creates a fundraiser for the Red Cross with these fields in addition to the required ones.
    pub async fn create_fundraiser(&self, fields: Value) -> Value {
        let mut body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"});
        let fields = fields.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        let response = self.create(200, &body).await;
        response.json["data"]["fundraiser"].clone()
    }

    pub async fn read(&self, expected: u16, path: &str) -> Response {
        self.client
            .get(expected, &format!("/v0.2/nonprofit/{path}"))
            .await
    }

    /// The total of a fundraiser for the Red Cross or for several nonprofits.
    pub async fn raised(&self, fundraiser: &Value) -> Value {
        let nonprofit = if fundraiser["nonprofitId"] == SPECIAL {
            "special-fundraiser"
        } else {
            RED_CROSS
        };
        let path = format!(
            "{nonprofit}/fundraiser/{}/raised",
            fundraiser["slug"].as_str().unwrap()
        );
        self.read(200, &path).await.json
    }
}

pub fn basic(public: &str, private: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{public}:{private}")))
}

/// The fields named by an `invalid_body` error, in order.
pub fn fields(response: &Response) -> Vec<String> {
    assert_eq!(response.code(), "invalid_body", "{}", response.text());
    let errors = response.json["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|error| {
            assert!(error["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
            error["field"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// Records a live donation to a fundraiser.
pub async fn donate(
    world: &World,
    fundraiser: &Value,
    external_id: &str,
    donor: &str,
    cents: i64,
) -> Result<RecordedEntry, DonationError> {
    donate_in(Mode::Live, world, fundraiser, external_id, donor, cents).await
}

/// Records a donation to a fundraiser in a mode.
pub async fn donate_in(
    mode: Mode,
    world: &World,
    fundraiser: &Value,
    external_id: &str,
    donor: &str,
    cents: i64,
) -> Result<RecordedEntry, DonationError> {
    let nonprofit = fundraiser["nonprofitId"].as_str().unwrap();
    let to = RecipientName::parse(nonprofit, fundraiser["id"].as_str())?;
    let to = find_recipient(&world.app.db, &world.app.directory, &to).await?;
    let label = |text: &str| Label::parse(text).unwrap();
    let donation = NewDonation {
        source: label("test"),
        external_id: label(external_id),
        mode,
        to,
        amount: Cents::new(cents),
        donor: label(donor),
        name: None,
        is_public: false,
    };
    world.app.giving.recorder.record(donation).await
}

/// Asserts that the ledger passes its check and has this many entries.
pub async fn assert_ledger(world: &World, entries: i64) {
    let check = giving::check::check(&world.app.db).await.unwrap();
    assert_eq!((check.entries, check.errors), (entries, vec![]));
}
