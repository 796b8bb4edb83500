//! `causeway account`

use super::output::{Output, time};
use crate::app::App;
use access::accounts::password::NewPassword;
use access::accounts::store::NewAccount;
use access::accounts::{Username, is_email, operators, store};
use access::audit::Actor;
use access::origins::store::InsertOutcome;
use access::origins::{self, Origin};
use anyhow::bail;
use clap::{Subcommand, ValueEnum};
use serde_json::json;
use std::fmt::Write;

#[derive(Subcommand)]
pub enum Account {
    /// Make an account
    #[command(after_help = "Example:\n  causeway account create ada --email ada@example.org")]
    Create {
        /// Small letters, digits, - and _
        username: String,
        /// Where its owner can be reached
        #[arg(long)]
        email: Option<String>,
        /// May block keys and set limits
        #[arg(long)]
        operator: bool,
        /// Read a password for the dashboard from standard input; without one, its owner sets it by mail
        #[arg(long)]
        password_stdin: bool,
    },
    /// List all accounts
    #[command(after_help = "Example:\n  causeway account list")]
    List,
    /// Let an account block keys and set limits, or no longer
    #[command(after_help = "Example:\n  causeway account operator ada on")]
    Operator {
        /// The name of the account
        username: String,
        /// on or off
        switch: Switch,
    },
    /// List the origins that gifts of a partner may lead back to, after adding or removing one
    #[command(after_help = "Example:\n  causeway account origins ada --add https://shop.example.org")]
    Origins {
        /// The name of the account
        username: String,
        /// Let gifts lead back there
        #[arg(long, value_name = "ORIGIN", conflicts_with = "remove")]
        add: Option<String>,
        /// No longer lead back there
        #[arg(long, value_name = "ORIGIN")]
        remove: Option<String>,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

impl Account {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Account::Create {
                username,
                email,
                operator,
                password_stdin,
            } => {
                let username = Username::parse(&username)?;
                let password = match password_stdin {
                    true => Some(read_password(app, &username).await?),
                    false => None,
                };
                create(
                    app,
                    output,
                    &username,
                    email.as_deref(),
                    operator,
                    password.as_deref(),
                )
                .await
            }
            Account::List => list(app, output).await,
            Account::Operator { username, switch } => {
                set_operator(app, output, &username, matches!(switch, Switch::On)).await
            }
            Account::Origins {
                username,
                add,
                remove,
            } => origins(app, output, &username, add.as_deref(), remove.as_deref()).await,
        }
    }
}

async fn create(
    app: &App,
    output: Output,
    username: &Username,
    email: Option<&str>,
    operator: bool,
    password: Option<&str>,
) -> anyhow::Result<()> {
    if let Some(email) = email
        && !is_email(email)
    {
        bail!("{email:?} is no e-mail address; write it as in ada@example.org");
    }
    let now = app.clock.millis();
    let account = NewAccount {
        username,
        email,
        operator,
        password,
        is_confirmed: true,
    };
    let Some(id) = store::insert_from_cli(&app.db, &account, now).await? else {
        bail!(
            "there is an account {} already; pick another name",
            username.as_str()
        );
    };
    let value = json!({"id": id.to_string(), "username": username.as_str(), "operator": operator});
    output.say(&value, || {
        format!(
            "account {name} made\n  next: causeway key create --account {name} --kind public",
            name = username.as_str()
        )
    })
}

/// The hash of the first line of standard input.
async fn read_password(app: &App, username: &Username) -> anyhow::Result<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let password = NewPassword::parse(line.trim_end_matches(['\r', '\n']), username.as_str())
        .map_err(|fault| anyhow::anyhow!("this password cannot be set; {fault}"))?;
    Ok(app.hashing.hash(password).await)
}

async fn list(app: &App, output: Output) -> anyhow::Result<()> {
    let accounts = operators::list(&app.db).await?;
    let shown = accounts.iter().map(|account| {
        json!({
            "id": account.id.to_string(),
            "username": account.username,
            "email": account.email,
            "operator": account.operator,
            "createdAt": time(account.created_at),
        })
    });
    let shown: Vec<_> = shown.collect();
    output.say(&json!({"accounts": shown}), || {
        let mut text = String::new();
        for account in &accounts {
            let email = account.email.as_deref().unwrap_or("-");
            let operator = if account.operator { "  operator" } else { "" };
            let _ = writeln!(
                text,
                "{}  {}  {email:?}{operator}",
                time(account.created_at),
                account.username
            );
        }
        match accounts.is_empty() {
            true => "no accounts yet; make one with causeway account create".to_owned(),
            false => text.trim_end().to_owned(),
        }
    })
}

async fn set_operator(app: &App, output: Output, username: &str, operator: bool) -> anyhow::Result<()> {
    let username = Username::parse(username)?;
    let name = username.as_str();
    if !operators::set(&app.db, &username, operator, Actor::Command, app.clock.millis()).await? {
        bail!("there is no account {name}; causeway account list shows them");
    }
    output.say(
        &json!({"username": name, "operator": operator}),
        || match operator {
            true => format!("account {name} is an operator"),
            false => format!("account {name} is no operator"),
        },
    )
}

async fn origins(
    app: &App,
    output: Output,
    username: &str,
    add: Option<&str>,
    remove: Option<&str>,
) -> anyhow::Result<()> {
    let username = Username::parse(username)?;
    let Some(id) = store::find_id(&app.db, &username).await? else {
        bail!(
            "there is no account {}; causeway account list shows them",
            username.as_str()
        );
    };
    if let Some(typed) = add {
        let origin =
            Origin::parse(typed).map_err(|fault| anyhow::anyhow!("{typed:?} is no origin; {fault}"))?;
        let added = origins::store::insert(&app.db, id, &origin, app.clock.millis()).await?;
        if added == InsertOutcome::TooMany {
            bail!(
                "the account has {} origins, the most there may be; remove one first",
                origins::store::MAX_ORIGINS
            );
        }
    }
    if let Some(typed) = remove {
        let origin =
            Origin::parse(typed).map_err(|fault| anyhow::anyhow!("{typed:?} is no origin; {fault}"))?;
        if !origins::store::remove(&app.db, id, origin.as_str()).await? {
            bail!(
                "the account has no origin {origin}; causeway account origins {} lists them",
                username.as_str()
            );
        }
    }
    let origins = origins::store::list(&app.db, id).await?;
    let value = json!({"username": username.as_str(), "origins": origins});
    output.say(&value, || match origins.is_empty() {
        true => "no origins: gifts lead back nowhere".to_owned(),
        false => origins.join("\n"),
    })
}
