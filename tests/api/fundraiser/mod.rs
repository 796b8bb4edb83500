//! Fundraisers: made, read, changed, given to.

mod bad_bodies;
mod create;
mod details;
mod outbox;
mod own;
mod proof;
mod raised;
mod retries;

use crate::client::{Answer, Client};
use crate::world::World;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use causeway::audit::Actor;
use causeway::donations::{Gift, Label, Recorded, Refused, find_recipient, record};
use causeway::ids::NonprofitId;
use causeway::keys::{Class, Kind, store};
use causeway::money::Cents;
use causeway::nonprofits::ein::Ein;
use serde_json::{Value, json};

/// The fixed nonprofit of fundraisers for several.
pub const SPECIAL: &str = "ddacc399-20c5-462e-80e1-97fa958071ea";
/// Three bodies of the demo directory that gifts can be passed on to, and one that they cannot.
pub const RED_CROSS: &str = "530196605";
pub const NYU: &str = "135562308";
pub const PENN: &str = "231352685";
pub const AARP: &str = "951985500";

/// The id that a body with this EIN has everywhere.
pub fn id_of(ein: &str) -> String {
    NonprofitId::of_ein(Ein::parse(ein).unwrap()).to_string()
}

/// Somebody with the keys of the world's account.
pub struct Organiser {
    pub client: Client,
    pub basic: String,
}

impl Organiser {
    /// In a world with the demo directory; makes as many fundraisers as a test needs.
    pub async fn new(world: &World) -> Organiser {
        world.load_demo().await;
        let (id, private) = world.make_key(Kind::Private).await;
        store::set_limits(&world.app.db, id, &[(Class::Create, 100_000)], Actor::Command, 0)
            .await
            .unwrap();
        Organiser {
            client: world.client.clone(),
            basic: basic(&world.client.key, &private),
        }
    }

    /// The same keys at another server.
    pub fn at(&self, client: &Client) -> Organiser {
        Organiser {
            client: client.clone(),
            basic: self.basic.clone(),
        }
    }

    pub async fn create(&self, expected: u16, body: &Value) -> Answer {
        self.create_with(expected, body, &[]).await
    }

    pub async fn create_with(&self, expected: u16, body: &Value, headers: &[(&str, &str)]) -> Answer {
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
    ) -> Answer {
        let own = [
            ("authorization", self.basic.as_str()),
            ("content-type", "application/json"),
        ];
        self.client
            .send_body(expected, method, path, &[&own, headers].concat(), body)
            .await
    }

    /// Makes a fundraiser for the Red Cross with these fields beside the least ones.
    pub async fn make(&self, fields: Value) -> Value {
        let mut body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"});
        let fields = fields.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        let answer = self.create(200, &body).await;
        answer.json["data"]["fundraiser"].clone()
    }

    pub async fn read(&self, expected: u16, path: &str) -> Answer {
        self.client
            .get(expected, &format!("/v0.2/nonprofit/{path}"))
            .await
    }

    /// What a fundraiser of the Red Cross, or of several, has raised.
    pub async fn raised(&self, fundraiser: &Value) -> Value {
        let nonprofit = match fundraiser["nonprofitId"] == SPECIAL {
            true => "special-fundraiser",
            false => RED_CROSS,
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

/// The fields that a refused body names, in order.
pub fn fields(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.code(), "invalid_body", "{}", answer.text());
    let errors = answer.json["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|error| {
            assert!(error["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
            error["field"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// Gives to a fundraiser.
pub async fn give(
    world: &World,
    fundraiser: &Value,
    external_id: &str,
    donor: &str,
    cents: i64,
) -> Result<Recorded, Refused> {
    let to = find_recipient(
        &world.app,
        fundraiser["nonprofitId"].as_str().unwrap(),
        fundraiser["id"].as_str(),
    )
    .await?;
    let label = |text: &str| Label::parse(text).unwrap();
    let gift = Gift {
        source: label("test"),
        external_id: label(external_id),
        to,
        amount: Cents(cents),
        donor: label(donor),
        name: None,
        is_public: false,
    };
    record(&world.app, gift).await
}

/// The journal of the world is sound, and has this many entries.
pub async fn assert_sound(world: &World, entries: i64) {
    let proof = causeway::donations::journal::proof::prove(&world.app)
        .await
        .unwrap();
    assert_eq!((proof.entries, proof.faults), (entries, vec![]));
}
