//! `causeway key`

use super::accounts::parse_username;
use super::line::parse_line;
use super::output::Output;
use crate::app::App;
use access::accounts::{self, Username};
use access::audit::Actor;
use access::keys::store::{self, RotateOutcome, StoredKey};
use access::keys::{KeyText, Kind, Overlap};
use anyhow::{Context, bail};
use clap::Subcommand;
use platform::clock::rfc3339;
use platform::ids::KeyId;
use serde_json::json;
use std::fmt::Write;
use uuid::Uuid;

#[derive(Subcommand)]
pub(super) enum Key {
    /// Create a key; a private key is shown only once
    #[command(after_help = "Example:\n  causeway key create --account ada --kind public --name website")]
    Create {
        /// The account that owns it
        #[arg(long)]
        account: String,
        /// public or private
        #[arg(long)]
        kind: Kind,
        /// A name for the key
        #[arg(long, default_value = "")]
        name: String,
        /// Take over a public key that clients already use, such as pk_live_…, instead of generating one
        #[arg(long, value_name = "KEY")]
        value: Option<String>,
    },
    /// List the keys of all accounts or of one
    #[command(after_help = "Example:\n  causeway key list --account ada")]
    List {
        /// The account that owns them
        #[arg(long)]
        account: Option<String>,
    },
    /// Revoke a key permanently, within a second on every running server
    #[command(after_help = "Example:\n  causeway key revoke 019a8f00-0000-7000-8000-000000000000")]
    Revoke {
        /// The ID of the key, as shown by `causeway key list`
        id: Uuid,
    },
    /// Create a replacement for a key, with its name and limits; the old key expires after an overlap
    #[command(
        visible_alias = "roll",
        after_help = "Example:\n  causeway key rotate 019a8f00-0000-7000-8000-000000000000 --overlap 24h"
    )]
    Rotate {
        /// The ID of the key
        id: Uuid,
        /// How long the old key continues to work: 0, 1h, 24h or 7d
        #[arg(long, default_value = "24h")]
        overlap: Overlap,
    },
    /// Block a key until it is unblocked
    #[command(
        after_help = "Example:\n  causeway key block 019a8f00-0000-7000-8000-000000000000 --reason \"copied the whole directory\""
    )]
    Block {
        /// The ID of the key
        id: Uuid,
        /// The reason, which its owner sees
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Unblock a key
    #[command(after_help = "Example:\n  causeway key unblock 019a8f00-0000-7000-8000-000000000000")]
    Unblock {
        /// The ID of the key
        id: Uuid,
    },
}

impl Key {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let now = app.clock.millis();
        match self {
            Key::Create {
                account,
                kind,
                name,
                value,
            } => create(app, output, &account, kind, &name, value.as_deref()).await,
            Key::List { account } => list(app, output, account.as_deref()).await,
            Key::Revoke { id } => {
                let is_found = store::revoke_for(&app.db, KeyId(id), Actor::Command, now).await?;
                print_change(is_found, id, "revoked", output)
            }
            Key::Rotate { id, overlap } => rotate(app, output, KeyId(id), overlap).await,
            Key::Block { id, reason } => {
                let reason = parse_line("the reason", &reason, 500)?;
                let is_found = store::block(&app.db, KeyId(id), reason, Actor::Command, now).await?;
                print_change(is_found, id, "blocked", output)
            }
            Key::Unblock { id } => {
                let is_found = store::unblock(&app.db, KeyId(id), Actor::Command, now).await?;
                print_change(is_found, id, "unblocked", output)
            }
        }
    }
}

/// Prints the change to a key, or fails if there is no such key.
pub(super) fn print_change(is_found: bool, id: Uuid, what: &str, output: Output) -> anyhow::Result<()> {
    if !is_found {
        bail!("there is no key {id}; run causeway key list to see all keys");
    }
    output.print(&json!({"id": id, "done": what}), || format!("key {id} {what}"))
}

async fn create(
    app: &App,
    output: Output,
    account: &str,
    kind: Kind,
    name: &str,
    value: Option<&str>,
) -> anyhow::Result<()> {
    let name = parse_line("the name", name, 100)?;
    let username = parse_username(account)?;
    let owner = accounts::store::find_id(&app.db, &username).await?;
    let owner = owner.with_context(|| {
        format!(
            "there is no account {name}; create it with causeway account create {name}",
            name = username.as_str()
        )
    })?;
    let text = match value {
        Some(value) => taken_over(kind, value)?,
        None => KeyText::generate(kind),
    };
    let inserted = store::insert_for(&app.db, owner, name, &text, Actor::Command, app.clock.millis()).await;
    match inserted {
        Ok(id) => print_key(output, id, &text, username.as_str()),
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            bail!(
                "the key {} exists already; run causeway key list to see all keys",
                text.expose()
            )
        }
        Err(error) => Err(error.into()),
    }
}

/// Parses a public key that another service issued.
fn taken_over(kind: Kind, value: &str) -> anyhow::Result<KeyText> {
    if kind == Kind::Private {
        bail!("only a public key can be taken over; create a new private key without --value");
    }
    let text = KeyText::parse(value).filter(|text| text.kind() == Kind::Public);
    text.context(
        "--value is not a public key; it begins with pk_, has 12 to 128 characters, and consists of letters, digits, - and _",
    )
}

/// Prints a new key.
fn print_key(output: Output, id: KeyId, text: &KeyText, owner: &str) -> anyhow::Result<()> {
    let kind = text.kind();
    let value = json!({"id": id.to_string(), "kind": kind.as_str(), "key": text.expose()});
    output.print(&value, || {
        let once = match kind {
            Kind::Public => "",
            Kind::Private => "\n  This key is shown only once. Store it where no one else can read it.",
        };
        format!("{}\n  {kind} key {id} of {owner}{once}", text.expose())
    })
}

async fn rotate(app: &App, output: Output, id: KeyId, overlap: Overlap) -> anyhow::Result<()> {
    let Some(old) = store::find(&app.db, id).await? else {
        bail!("there is no key {id}; run causeway key list to see all keys");
    };
    let text = KeyText::generate(old.kind.parse().map_err(anyhow::Error::msg)?);
    let now = app.clock.millis();
    match store::rotate(&app.db, id, &text, overlap, Some(Actor::Command), now).await? {
        RotateOutcome::Rotated(new) => print_key(output, new, &text, &old.username),
        RotateOutcome::NoSuchKey | RotateOutcome::TooMany => {
            bail!("there is no key {id}; run causeway key list to see all keys")
        }
        RotateOutcome::NotActive(state) => bail!(
            "key {id} is {}; create a new one with causeway key create",
            state.as_str()
        ),
    }
}

async fn list(app: &App, output: Output, account: Option<&str>) -> anyhow::Result<()> {
    let username = account.map(parse_username).transpose()?;
    let keys = store::list(&app.db, username.as_ref().map(Username::as_str)).await?;
    let now = app.clock.millis();
    let json: Vec<_> = keys.iter().map(|key| to_json(key, now)).collect();
    output.print(&json!({"keys": json}), || {
        if keys.is_empty() {
            "no keys yet; create one with causeway key create".to_owned()
        } else {
            to_table(&keys, now)
        }
    })
}

fn to_json(key: &StoredKey, now: i64) -> serde_json::Value {
    json!({
        "id": key.id,
        "account": key.username,
        "kind": key.kind,
        "name": key.name,
        "state": key.state_at(now).as_str(),
        "blockReason": key.block_reason,
        "endsAt": key.ends_at.map(rfc3339),
        "exposed": key.exposed_at.is_some(),
        "createdAt": rfc3339(key.created_at),
        "key": key.public_key,
        "lastFour": key.last_four,
    })
}

fn to_table(keys: &[StoredKey], now: i64) -> String {
    let mut table = String::new();
    for key in keys {
        let text = match (&key.public_key, &key.last_four) {
            (Some(text), _) => text.clone(),
            (None, Some(last_four)) => format!("cwsk_…{last_four}"),
            (None, None) => "(not stored)".to_owned(),
        };
        let exposed = if key.exposed_at.is_some() { ", exposed" } else { "" };
        let _ = writeln!(
            table,
            "{}  {:7}  {}{exposed}  {}  {}  {:?}  {text}",
            key.id,
            key.kind,
            key.state_at(now).as_str(),
            rfc3339(key.created_at),
            key.username,
            key.name,
        );
    }
    table.truncate(table.trim_end().len());
    table
}
