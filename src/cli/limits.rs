//! `causeway limit`

use super::keys::print_change;
use super::output::Output;
use crate::app::App;
use access::audit::Actor;
use access::keys::{Class, store};
use clap::Subcommand;
use platform::ids::KeyId;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use uuid::Uuid;

#[derive(Subcommand)]
pub enum Limit {
    /// Set the calls per minute of a key, within a second on every running server
    #[command(
        after_help = "Example:\n  causeway limit set 019a8f00-0000-7000-8000-000000000000 search=5000 details=1000"
    )]
    Set {
        /// The ID of the key
        id: Uuid,
        /// Class and calls per minute: details=, search=, browse=, causes=, fundraisers=, create=
        #[arg(required = true, value_name = "CLASS=N", value_parser = limit)]
        limits: Vec<(Class, u32)>,
    },
    /// List the default limits, and the limits of single keys
    #[command(after_help = "Example:\n  causeway limit list")]
    List,
}

fn limit(text: &str) -> Result<(Class, u32), String> {
    let (class, number) = text
        .split_once('=')
        .ok_or("write a class and a number, such as search=5000")?;
    let names = Class::ALL.map(Class::name).join(", ");
    let class = Class::find(class).ok_or_else(|| format!("the classes are {names}"))?;
    let number = number
        .parse()
        .map_err(|_| "the number of calls per minute must be a whole number".to_owned())?;
    Ok((class, number))
}

impl Limit {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Limit::Set { id, limits } => {
                let now = app.clock.millis();
                let is_found = store::set_limits(&app.db, KeyId(id), &limits, Actor::Command, now).await?;
                print_change(is_found, id, "given its limits", output)
            }
            Limit::List => list(app, output).await,
        }
    }
}

async fn list(app: &App, output: Output) -> anyhow::Result<()> {
    let own = store::list_limits(&app.db).await?;
    let of_class = |class: Class| app.config.limits.of_class(class);
    let defaults: Map<String, Value> = Class::ALL
        .map(|class| (class.name().to_owned(), of_class(class).into()))
        .into_iter()
        .collect();
    let keys = own.iter().map(|(key, class, per_minute)| {
        json!({"id": key.to_string(), "class": class.name(), "perMinute": per_minute})
    });
    let keys: Vec<_> = keys.collect();
    output.print(&json!({"defaults": defaults, "keys": keys}), || {
        let mut text = String::from("default calls per minute:");
        for class in Class::ALL {
            let _ = write!(text, " {}={}", class.name(), of_class(class));
        }
        for (key, class, per_minute) in &own {
            let _ = write!(text, "\n{key}  {}={per_minute}", class.name());
        }
        text
    })
}
