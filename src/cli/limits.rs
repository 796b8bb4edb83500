//! `causeway limit`

use super::keys::print_change;
use super::output::Output;
use crate::app::App;
use access::audit::Actor;
use access::keys::store::AddressChange;
use access::keys::{Class, Kind, store};
use access::limits::ADDRESS;
use anyhow::bail;
use clap::Subcommand;
use platform::ids::KeyId;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use uuid::Uuid;

#[derive(Subcommand)]
pub(super) enum Limit {
    /// Set the calls per minute of a key, within a second on every running server
    #[command(
        after_help = "Examples:\n  causeway limit set 019a8f00-0000-7000-8000-000000000000 search=5000 details=1000\n  causeway limit set 019a8f00-0000-7000-8000-000000000000 address=60\n  causeway limit set 019a8f00-0000-7000-8000-000000000000 address=none"
    )]
    Set {
        /// The ID of the key
        id: Uuid,
        #[arg(required = true, value_name = "CLASS=N", value_parser = limit, help = limits_help())]
        limits: Vec<NewLimit>,
    },
    /// List the default limits, and the limits of single keys
    #[command(after_help = "Example:\n  causeway limit list")]
    List,
}

/// A limit as given on the command line.
#[derive(Clone, Copy)]
pub(super) enum NewLimit {
    Class(Class, u32),
    Address(AddressChange),
}

fn limits_help() -> String {
    let classes = Class::ALL.map(|class| format!("{}=", class.name())).join(", ");
    format!(
        "Class and calls per minute: {classes}, or {ADDRESS}= for the calls of one address with a public key (0 or none \
         removes it)"
    )
}

fn limit(text: &str) -> Result<NewLimit, String> {
    let (class, number) = text
        .split_once('=')
        .ok_or("enter a class and a number, such as search=5000")?;
    let per_minute = || {
        let number = number.parse();
        number.map_err(|_| "the number of calls per minute must be a whole number".to_owned())
    };
    if class == ADDRESS {
        return Ok(NewLimit::Address(match number {
            "none" | "0" => AddressChange::Remove,
            _ => AddressChange::Set(per_minute()?),
        }));
    }
    let names = Class::ALL.map(Class::name).join(", ");
    let class = Class::find(class).ok_or_else(|| format!("the classes are {names} and {ADDRESS}"))?;
    Ok(NewLimit::Class(class, per_minute()?))
}

impl Limit {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Limit::Set { id, limits } => set(app, id, &limits, output).await,
            Limit::List => list(app, output).await,
        }
    }
}

async fn set(app: &App, id: Uuid, limits: &[NewLimit], output: Output) -> anyhow::Result<()> {
    let (mut classes, mut address) = (Vec::new(), AddressChange::Keep);
    for limit in limits {
        match *limit {
            NewLimit::Class(class, per_minute) => classes.push((class, per_minute)),
            NewLimit::Address(change) => address = change,
        }
    }
    if address != AddressChange::Keep
        && let Some(key) = store::find(&app.db, KeyId(id)).await?
        && key.key().kind != Kind::Public
    {
        bail!("key {id} is private, and only public keys have a limit per address; set it for a public key");
    }
    let (actor, now) = (Actor::Command, app.clock.millis());
    let is_found = store::set_limits_and_address(&app.db, KeyId(id), &classes, address, actor, now).await?;
    print_change(is_found, id, "given its limits", output)
}

async fn list(app: &App, output: Output) -> anyhow::Result<()> {
    let own = store::list_limits(&app.db).await?;
    let own = own
        .into_iter()
        .map(|(key, class, per_minute)| (key, class.name(), per_minute));
    let addresses = store::list_address_limits(&app.db).await?;
    let addresses = addresses
        .into_iter()
        .map(|(key, per_minute)| (key, ADDRESS, per_minute));
    let mut own: Vec<_> = own.chain(addresses).collect();
    own.sort_by_key(|(key, ..)| key.0);
    let of_class = |class: Class| app.limits().of_class(class);
    let defaults: Map<String, Value> = Class::ALL
        .map(|class| (class.name().to_owned(), of_class(class).into()))
        .into_iter()
        .collect();
    let keys = own.iter().map(
        |(key, class, per_minute)| json!({"id": key.to_string(), "class": class, "perMinute": per_minute}),
    );
    let keys: Vec<_> = keys.collect();
    output.print(&json!({"defaults": defaults, "keys": keys}), || {
        let mut text = String::from("default calls per minute:");
        for class in Class::ALL {
            let _ = write!(text, " {}={}", class.name(), of_class(class));
        }
        for (key, class, per_minute) in &own {
            let _ = write!(text, "\n{key}  {class}={per_minute}");
        }
        text
    })
}
