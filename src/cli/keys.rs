//! `causeway key`

use super::output::{Output, time};
use crate::app::App;
use access::accounts::{self, Username};
use access::audit::Actor;
use access::keys::store::{self, RotateOutcome, StoredKey};
use access::keys::{KeyText, Kind, Overlap};
use anyhow::{Context, bail};
use clap::Subcommand;
use platform::ids::KeyId;
use serde_json::json;
use std::fmt::Write;
use uuid::Uuid;

#[derive(Subcommand)]
pub enum Key {
    /// Make a key; a private one is shown here and never again
    #[command(after_help = "Example:\n  causeway key create --account ada --kind public --name website")]
    Create {
        /// The account that owns it
        #[arg(long)]
        account: String,
        /// public or private
        #[arg(long)]
        kind: Kind,
        /// What its owner calls it
        #[arg(long, default_value = "")]
        name: String,
    },
    /// List keys, of all accounts or of one
    #[command(after_help = "Example:\n  causeway key list --account ada")]
    List {
        /// The account that owns them
        #[arg(long)]
        account: Option<String>,
    },
    /// End a key for ever, within a second on every running server
    #[command(after_help = "Example:\n  causeway key revoke 019a8f00-0000-7000-8000-000000000000")]
    Revoke {
        /// The id of the key, as `causeway key list` shows it
        id: Uuid,
    },
    /// Make a new key in the place of one that ends after an overlap; it keeps name and limits
    #[command(
        after_help = "Example:\n  causeway key roll 019a8f00-0000-7000-8000-000000000000 --overlap 24h"
    )]
    Roll {
        /// The id of the key
        id: Uuid,
        /// How long the old key goes on working: 0, 1h, 24h or 7d
        #[arg(long, default_value = "24h")]
        overlap: Overlap,
    },
    /// Stop a key until it is unblocked
    #[command(
        after_help = "Example:\n  causeway key block 019a8f00-0000-7000-8000-000000000000 --reason \"copied the whole directory\""
    )]
    Block {
        /// The id of the key
        id: Uuid,
        /// Why; its owner sees it
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Let a blocked key work again
    #[command(after_help = "Example:\n  causeway key unblock 019a8f00-0000-7000-8000-000000000000")]
    Unblock {
        /// The id of the key
        id: Uuid,
    },
}

impl Key {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let now = app.clock.millis();
        match self {
            Key::Create { account, kind, name } => create(app, output, &account, kind, &name).await,
            Key::List { account } => list(app, output, account.as_deref()).await,
            Key::Revoke { id } => {
                let known = store::revoke_for(&app.db, KeyId(id), Actor::Command, now).await?;
                done(known, id, "revoked", output)
            }
            Key::Roll { id, overlap } => roll(app, output, KeyId(id), overlap).await,
            Key::Block { id, reason } => {
                let reason = line("the reason", &reason, 500)?;
                let known = store::block(&app.db, KeyId(id), reason, Actor::Command, now).await?;
                done(known, id, "blocked", output)
            }
            Key::Unblock { id } => {
                let known = store::unblock(&app.db, KeyId(id), Actor::Command, now).await?;
                done(known, id, "unblocked", output)
            }
        }
    }
}

/// One line of text that people are shown.
fn line<'a>(what: &str, text: &'a str, longest: usize) -> anyhow::Result<&'a str> {
    if text.chars().count() > longest || text.chars().any(char::is_control) {
        bail!("{what} has at most {longest} characters, and none of them control characters; shorten it");
    }
    Ok(text.trim())
}

/// Says that it was done, or that there is no such key.
pub fn done(known: bool, id: Uuid, what: &str, output: Output) -> anyhow::Result<()> {
    if !known {
        bail!("there is no key {id}; causeway key list shows them");
    }
    output.say(&json!({"id": id, "done": what}), || format!("key {id} {what}"))
}

async fn create(app: &App, output: Output, account: &str, kind: Kind, name: &str) -> anyhow::Result<()> {
    let name = line("the name of a key", name, 100)?;
    let username = Username::parse(account)?;
    let owner = accounts::store::find_id(&app.db, &username).await?;
    let owner = owner.with_context(|| {
        format!(
            "there is no account {name}; make it with causeway account create {name}",
            name = username.as_str()
        )
    })?;
    let text = KeyText::generate(kind);
    let id = store::insert_for(&app.db, owner, name, &text, Actor::Command, app.clock.millis()).await?;
    tell_new(output, id, &text, username.as_str())
}

/// Shows a new key; a private one never again.
fn tell_new(output: Output, id: KeyId, text: &KeyText, owner: &str) -> anyhow::Result<()> {
    let kind = text.kind();
    let value = json!({"id": id.to_string(), "kind": kind.as_str(), "key": text.expose()});
    output.say(&value, || {
        let once = match kind {
            Kind::Public => "",
            Kind::Private => "\n  This is the only time it is shown: keep it where nobody else can read it.",
        };
        format!("{}\n  {kind} key {id} of {owner}{once}", text.expose())
    })
}

async fn roll(app: &App, output: Output, id: KeyId, overlap: Overlap) -> anyhow::Result<()> {
    let Some(old) = store::find(&app.db, id).await? else {
        bail!("there is no key {id}; causeway key list shows them");
    };
    let text = KeyText::generate(old.kind.parse().map_err(anyhow::Error::msg)?);
    let now = app.clock.millis();
    match store::rotate(&app.db, id, &text, overlap, Some(Actor::Command), now).await? {
        RotateOutcome::Rotated(new) => tell_new(output, new, &text, &old.username),
        RotateOutcome::NoSuchKey | RotateOutcome::TooMany => {
            bail!("there is no key {id}; causeway key list shows them")
        }
        RotateOutcome::NotActive(state) => bail!(
            "key {id} is {}; make a new one with causeway key create",
            state.as_str()
        ),
    }
}

async fn list(app: &App, output: Output, account: Option<&str>) -> anyhow::Result<()> {
    let username = account.map(Username::parse).transpose()?;
    let keys = store::list(&app.db, username.as_ref().map(Username::as_str)).await?;
    let now = app.clock.millis();
    let shown: Vec<_> = keys.iter().map(|key| shown(key, now)).collect();
    output.say(&json!({"keys": shown}), || match keys.is_empty() {
        true => "no keys yet; make one with causeway key create".to_owned(),
        false => table(&keys, now),
    })
}

fn shown(key: &StoredKey, now: i64) -> serde_json::Value {
    json!({
        "id": key.id,
        "account": key.username,
        "kind": key.kind,
        "name": key.name,
        "state": key.state_at(now).as_str(),
        "blockReason": key.block_reason,
        "endsAt": key.ends_at.map(time),
        "exposed": key.exposed_at.is_some(),
        "createdAt": time(key.created_at),
        "key": key.public_key,
    })
}

fn table(keys: &[StoredKey], now: i64) -> String {
    let mut text = String::new();
    for key in keys {
        let shown = key.public_key.as_deref().unwrap_or("(not kept)");
        let exposed = if key.exposed_at.is_some() { ", exposed" } else { "" };
        let _ = writeln!(
            text,
            "{}  {:7}  {}{exposed}  {}  {}  {:?}  {shown}",
            key.id,
            key.kind,
            key.state_at(now).as_str(),
            time(key.created_at),
            key.username,
            key.name,
        );
    }
    text.truncate(text.trim_end().len());
    text
}
