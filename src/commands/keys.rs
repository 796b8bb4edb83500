//! `causeway key` and `causeway limit`

use super::Output;
use anyhow::{Context, bail};
use causeway::accounts::{self, Username};
use causeway::app::App;
use causeway::ids::KeyId;
use causeway::keys::store::{self, StoredKey};
use causeway::keys::{Class, KeyText, Kind, State};
use clap::Subcommand;
use jiff::Timestamp;
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
    /// Stop a key until it is unblocked
    #[command(after_help = "Example:\n  causeway key block 019a8f00-0000-7000-8000-000000000000")]
    Block {
        /// The id of the key
        id: Uuid,
    },
    /// Let a blocked key work again
    #[command(after_help = "Example:\n  causeway key unblock 019a8f00-0000-7000-8000-000000000000")]
    Unblock {
        /// The id of the key
        id: Uuid,
    },
}

#[derive(Subcommand)]
pub enum Limit {
    /// Set calls a minute for one key
    #[command(
        after_help = "Example:\n  causeway limit set 019a8f00-0000-7000-8000-000000000000 search=5000 details=1000"
    )]
    Set {
        /// The id of the key
        id: Uuid,
        /// Class and calls a minute: details=, search=, browse=, causes=, fundraisers=, create=
        #[arg(required = true, value_name = "CLASS=N", value_parser = limit)]
        limits: Vec<(Class, u32)>,
    },
}

fn limit(text: &str) -> Result<(Class, u32), String> {
    let (class, number) = text.split_once('=').ok_or("write it as in search=5000")?;
    let names = Class::ALL.map(Class::name).join(", ");
    let class = Class::find(class).ok_or_else(|| format!("the classes are {names}"))?;
    let number = number
        .parse()
        .map_err(|_| "the number of calls is a whole number".to_owned())?;
    Ok((class, number))
}

impl Key {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let now = app.clock.millis();
        match self {
            Key::Create { account, kind, name } => create(app, output, &account, kind, &name).await,
            Key::List { account } => list(app, output, account.as_deref()).await,
            Key::Revoke { id } => done(
                store::revoke(&app.db, KeyId(id), now).await?,
                id,
                "revoked",
                output,
            ),
            Key::Block { id } => done(
                store::block(&app.db, KeyId(id), now).await?,
                id,
                "blocked",
                output,
            ),
            Key::Unblock { id } => done(store::unblock(&app.db, KeyId(id)).await?, id, "unblocked", output),
        }
    }
}

impl Limit {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let Limit::Set { id, limits } = self;
        done(
            store::set_limits(&app.db, KeyId(id), &limits).await?,
            id,
            "given its limits",
            output,
        )
    }
}

fn done(known: bool, id: Uuid, what: &str, output: Output) -> anyhow::Result<()> {
    if !known {
        bail!("there is no key {id}; causeway key list shows them");
    }
    output.say(&json!({"id": id, "done": what}), || format!("key {id} {what}"))
}

async fn create(app: &App, output: Output, account: &str, kind: Kind, name: &str) -> anyhow::Result<()> {
    if name.chars().count() > 100 || name.chars().any(char::is_control) {
        bail!(
            "the name of a key has at most 100 characters, and none of them control characters; shorten it"
        );
    }
    let username = Username::parse(account)?;
    let owner = accounts::store::find(&app.db, &username).await?;
    let owner = owner.with_context(|| {
        format!(
            "there is no account {name}; make it with causeway account create {name}",
            name = username.as_str()
        )
    })?;
    let text = KeyText::generate(kind);
    let id = store::insert(&app.db, owner, name, &text, app.clock.millis()).await?;
    let value = json!({"id": id.to_string(), "kind": kind.as_str(), "key": text.expose()});
    output.say(&value, || {
        let once = match kind {
            Kind::Public => "",
            Kind::Private => "\n  This is the only time it is shown: keep it where nobody else can read it.",
        };
        format!(
            "{}\n  {kind} key {id} of {}{once}",
            text.expose(),
            username.as_str()
        )
    })
}

async fn list(app: &App, output: Output, account: Option<&str>) -> anyhow::Result<()> {
    let username = account.map(Username::parse).transpose()?;
    let keys = store::list(&app.db, username.as_ref().map(Username::as_str)).await?;
    let shown: Vec<_> = keys.iter().map(shown).collect();
    output.say(&json!({"keys": shown}), || match keys.is_empty() {
        true => "no keys yet; make one with causeway key create".to_owned(),
        false => table(&keys),
    })
}

fn shown(key: &StoredKey) -> serde_json::Value {
    json!({
        "id": key.id,
        "account": key.username,
        "kind": key.kind,
        "name": key.name,
        "state": state(key),
        "exposed": key.exposed_at.is_some(),
        "createdAt": time(key.created_at),
        "key": key.public_key,
    })
}

fn table(keys: &[StoredKey]) -> String {
    let mut text = String::new();
    for key in keys {
        let shown = key.public_key.as_deref().unwrap_or("(not kept)");
        let exposed = if key.exposed_at.is_some() { ", exposed" } else { "" };
        let _ = writeln!(
            text,
            "{}  {:7}  {}{exposed}  {}  {}  {:?}  {shown}",
            key.id,
            key.kind,
            state(key),
            time(key.created_at),
            key.username,
            key.name,
        );
    }
    text.truncate(text.trim_end().len());
    text
}

fn state(key: &StoredKey) -> &'static str {
    match key.state() {
        State::Active => "active",
        State::Blocked => "blocked",
        State::Revoked => "revoked",
    }
}

fn time(millis: i64) -> String {
    Timestamp::from_millisecond(millis)
        .unwrap_or_default()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}
