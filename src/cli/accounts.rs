//! `causeway account`

use super::line::parse_line;
use super::output::Output;
use crate::app::App;
use crate::dashboard::emails::send_notice;
use crate::web::texts::EN;
use access::accounts::password::NewPassword;
use access::accounts::public_profile::ProfilePart;
use access::accounts::store::NewAccount;
use access::accounts::two_factor::store as two_factor;
use access::accounts::{Username, changes, operators, store, suspension};
use access::audit::Actor;
use access::origins::store::InsertOutcome;
use access::origins::{self, Origin};
use anyhow::{Context, bail};
use clap::{Subcommand, ValueEnum};
use giving::moderation::MAX_REASON_CHARS;
use platform::clock::rfc3339;
use platform::email_address::EmailAddress;
use platform::ids::AccountId;
use serde_json::json;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// The reason that the owner of a suspended account sees if the operator gives no other.
const DEFAULT_SUSPENSION_REASON: &str = "It does not follow the rules of this site.";

#[derive(Subcommand)]
pub(super) enum Account {
    /// Create an account
    #[command(after_help = "Example:\n  causeway account create ada --email ada@example.org")]
    Create {
        /// Lowercase letters, digits, - and _
        username: String,
        /// The email address of its owner
        #[arg(long)]
        email: Option<String>,
        /// Make it an operator, who can block keys and set limits
        #[arg(long)]
        operator: bool,
        /// Read a password for the dashboard from standard input; without one, its owner sets it by email
        #[arg(long)]
        password_stdin: bool,
    },
    /// List all accounts
    #[command(after_help = "Example:\n  causeway account list")]
    List,
    /// Give an account the operator role, which lets it block keys and set limits, or take the role away
    #[command(after_help = "Example:\n  causeway account operator ada on")]
    Operator {
        /// The username of the account
        username: String,
        /// on or off
        switch: Switch,
    },
    /// Suspend an account: its keys stop working, its fundraisers close, and its sessions end
    #[command(
        after_help = "Example:\n  causeway account suspend ada --reason \"Fundraisers for causes that do not exist\""
    )]
    Suspend {
        /// The username of the account
        username: String,
        /// The reason, which its owner sees when signing in
        #[arg(long, default_value = DEFAULT_SUSPENSION_REASON)]
        reason: String,
    },
    /// Restore a suspended account: its keys work again, and its owner can reopen its fundraisers
    #[command(after_help = "Example:\n  causeway account restore ada")]
    Restore {
        /// The username of the account
        username: String,
    },
    /// Set the password of an account, which ends its sessions; the password is read from standard input
    #[command(
        after_help = "Example:\n  echo 'correct horse battery staple' | causeway account set-password ada"
    )]
    SetPassword {
        /// The username of the account
        username: String,
    },
    /// Reset two-factor sign-in for an account whose owner has lost their phone and recovery codes
    #[command(after_help = "Example:\n  causeway account reset-two-factor ada")]
    ResetTwoFactor {
        /// The username of the account
        username: String,
    },
    /// Remove the display name of an account: its fundraisers show the username instead
    #[command(after_help = "Example:\n  causeway account remove-name ada")]
    RemoveName {
        /// The username of the account
        username: String,
    },
    /// Remove the picture of an account from its fundraisers
    #[command(after_help = "Example:\n  causeway account remove-picture ada")]
    RemovePicture {
        /// The username of the account
        username: String,
    },
    /// List the origins that donate links of a partner may redirect to, after adding or removing one
    #[command(after_help = "Example:\n  causeway account origins ada --add https://shop.example.org")]
    Origins {
        /// The username of the account
        username: String,
        /// Allow redirects to this origin without proof of ownership
        #[arg(long, value_name = "ORIGIN", conflicts_with = "remove")]
        add: Option<String>,
        /// No longer allow redirects to this origin
        #[arg(long, value_name = "ORIGIN")]
        remove: Option<String>,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

impl Account {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Account::Create {
                username,
                email,
                operator,
                password_stdin,
            } => {
                let username = parse_username(&username)?;
                let password = if password_stdin {
                    Some(read_password(app, &username).await?)
                } else {
                    None
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
            Account::Suspend { username, reason } => suspend(app, output, &username, &reason).await,
            Account::Restore { username } => restore(app, output, &username).await,
            Account::SetPassword { username } => set_password(app, output, &username).await,
            Account::ResetTwoFactor { username } => reset_two_factor(app, output, &username).await,
            Account::RemoveName { username } => {
                remove_from_profile(app, output, &username, ProfilePart::Name).await
            }
            Account::RemovePicture { username } => {
                remove_from_profile(app, output, &username, ProfilePart::Picture).await
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
    let email = email.map(parse_email).transpose()?;
    let email = email.map(|email| email.normalized());
    let now = app.clock.millis();
    let account = NewAccount {
        username,
        email: email.as_deref(),
        operator,
        password,
        is_confirmed: true,
    };
    let Some(id) = store::insert_from_cli(&app.db, &account, now).await? else {
        bail!(
            "there is already an account {}; choose another username",
            username.as_str()
        );
    };
    let value = json!({"id": id.to_string(), "username": username.as_str(), "operator": operator});
    output.print(&value, || {
        format!(
            "created account {name}\n  next: causeway key create --account {name} --kind public",
            name = username.as_str()
        )
    })
}

/// Parses a username from the command line.
pub(super) fn parse_username(text: &str) -> anyhow::Result<Username> {
    Username::parse(text).map_err(|error| anyhow::anyhow!("{text:?} is not a username; {error}"))
}

/// Parses an email address from the command line.
pub(super) fn parse_email(text: &str) -> anyhow::Result<EmailAddress> {
    EmailAddress::parse(text).map_err(|error| anyhow::anyhow!("{text:?} is not an email address; {error}"))
}

/// Reads a password from the first line of standard input and hashes it. On a terminal it is not shown.
async fn read_password(app: &App, username: &Username) -> anyhow::Result<String> {
    let mut line = String::new();
    if std::io::stdin().is_terminal() {
        line = rpassword::prompt_password(format!("New password for {}: ", username.as_str()))?;
    } else {
        std::io::stdin().read_line(&mut line)?;
    }
    let password = NewPassword::parse(line.trim_end_matches(['\r', '\n']), username.as_str())
        .map_err(|error| anyhow::anyhow!("this password is not allowed; {error}"))?;
    Ok(app.access.hashing.hash(password).await)
}

async fn list(app: &App, output: Output) -> anyhow::Result<()> {
    let accounts = store::summaries::list(&app.db).await?;
    let shown = accounts.iter().map(|account| {
        json!({
            "id": account.id.to_string(),
            "username": account.username,
            "email": account.email,
            "operator": account.operator,
            "suspended": account.suspended_at.is_some(),
            "createdAt": rfc3339(account.created_at),
        })
    });
    let shown: Vec<_> = shown.collect();
    output.print(&json!({"accounts": shown}), || {
        let mut text = String::new();
        for account in &accounts {
            let email = account.email.as_deref().unwrap_or("-");
            let operator = if account.operator { "  operator" } else { "" };
            let suspended = if account.suspended_at.is_some() {
                "  suspended"
            } else {
                ""
            };
            let _ = writeln!(
                text,
                "{}  {}  {email:?}{operator}{suspended}",
                rfc3339(account.created_at),
                account.username
            );
        }
        if accounts.is_empty() {
            "no accounts yet; create one with causeway account create".to_owned()
        } else {
            text.trim_end().to_owned()
        }
    })
}

async fn set_operator(app: &App, output: Output, username: &str, operator: bool) -> anyhow::Result<()> {
    let username = parse_username(username)?;
    let name = username.as_str();
    if !operators::set(&app.db, &username, operator, Actor::Command, app.clock.millis()).await? {
        bail!("there is no account {name}; run causeway account list to see all accounts");
    }
    output.print(&json!({"username": name, "operator": operator}), || {
        if operator {
            format!("account {name} is an operator")
        } else {
            format!("account {name} is not an operator")
        }
    })
}

/// Finds an account, or fails with what to do.
async fn find(app: &App, username: &str) -> anyhow::Result<(AccountId, Username)> {
    let username = parse_username(username)?;
    match store::find_id(&app.db, &username).await? {
        Some(id) => Ok((id, username)),
        None => bail!(
            "there is no account {}; run causeway account list to see all accounts",
            username.as_str()
        ),
    }
}

async fn suspend(app: &App, output: Output, username: &str, reason: &str) -> anyhow::Result<()> {
    let (id, username) = find(app, username).await?;
    let name = username.as_str();
    let reason = match parse_line("the reason", reason, MAX_REASON_CHARS)? {
        "" => DEFAULT_SUSPENSION_REASON,
        reason => reason,
    };
    let account = store::find_by_id(&app.db, id).await?;
    let account =
        account.with_context(|| format!("account {name} was deleted; run causeway account list"))?;
    let closed = app.moderation().suspend(&account, reason, Actor::Command).await?;
    let value = json!({"username": name, "suspended": true, "closedFundraisers": closed});
    output.print(&value, || {
        format!("account {name} is suspended, and {closed} of its fundraisers were closed")
    })
}

async fn restore(app: &App, output: Output, username: &str) -> anyhow::Result<()> {
    let (id, username) = find(app, username).await?;
    let name = username.as_str();
    if !suspension::restore(&app.db, (id, name), Actor::Command, app.clock.millis()).await? {
        bail!("account {name} is not suspended; run causeway account list to see all accounts");
    }
    output.print(&json!({"username": name, "suspended": false}), || {
        format!("account {name} is restored; its fundraisers stay closed until its owner reopens them")
    })
}

async fn set_password(app: &App, output: Output, username: &str) -> anyhow::Result<()> {
    let (_, username) = find(app, username).await?;
    let password = read_password(app, &username).await?;
    let now = app.clock.millis();
    let name = username.as_str();
    if !changes::set_password_for(&app.db, &username, &password, Actor::Command, now).await? {
        bail!("there is no account {name}; run causeway account list to see all accounts");
    }
    output.print(&json!({"username": name, "done": "password set"}), || {
        format!("the password of {name} is set; its sessions have ended")
    })
}

async fn reset_two_factor(app: &App, output: Output, username: &str) -> anyhow::Result<()> {
    let (id, username) = find(app, username).await?;
    let name = username.as_str();
    if !two_factor::reset(&app.db, (id, name), Actor::Command, app.clock.millis()).await? {
        bail!("two-factor sign-in is off for {name}; there is nothing to reset");
    }
    if let Some(account) = store::find(&app.db, name).await? {
        let text = (EN.emails.two_factor_off_subject, EN.emails.two_factor_off);
        send_notice(app, name, account.email.as_deref(), text);
        app.mail.finish().await;
    }
    output.print(&json!({"username": name, "twoFactor": false}), || {
        format!("two-factor sign-in of {name} is reset; the password alone is now enough to sign in")
    })
}

async fn remove_from_profile(
    app: &App,
    output: Output,
    username: &str,
    part: ProfilePart,
) -> anyhow::Result<()> {
    let (id, username) = find(app, username).await?;
    let name = username.as_str();
    let what = match part {
        ProfilePart::Name => "display name",
        ProfilePart::Picture => "picture",
    };
    if !app.remove_from_profile((id, name), part, Actor::Command).await? {
        bail!("account {name} has no {what}; there is nothing to remove");
    }
    let value = json!({"username": name, "done": format!("{what} removed")});
    output.print(&value, || format!("the {what} of {name} is removed"))
}

async fn origins(
    app: &App,
    output: Output,
    username: &str,
    add: Option<&str>,
    remove: Option<&str>,
) -> anyhow::Result<()> {
    let (id, username) = find(app, username).await?;
    if let Some(typed) = add {
        let origin =
            Origin::parse(typed).map_err(|error| anyhow::anyhow!("{typed:?} is not an origin; {error}"))?;
        let added = origins::store::insert(&app.db, id, &origin, app.clock.millis()).await?;
        if added == InsertOutcome::TooMany {
            bail!(
                "the account has {} origins, which is the maximum; remove one first",
                origins::store::MAX_ORIGINS
            );
        }
        // The command line is an operator, who can vouch for it.
        let account = (id, username.as_str());
        origins::store::allow(&app.db, account, &origin, Actor::Command, app.clock.millis()).await?;
    }
    if let Some(typed) = remove {
        let origin =
            Origin::parse(typed).map_err(|error| anyhow::anyhow!("{typed:?} is not an origin; {error}"))?;
        if !origins::store::remove(&app.db, id, origin.as_str()).await? {
            bail!(
                "the account has no origin {origin}; run causeway account origins {} to see its origins",
                username.as_str()
            );
        }
    }
    let origins = origins::store::list(&app.db, id).await?;
    let names: Vec<_> = origins.iter().map(|registered| &registered.origin).collect();
    let states = origins.iter().map(|registered| {
        json!({
            "origin": registered.origin,
            "token": registered.token,
            "provenAt": registered.proven_at.map(rfc3339),
            "allowedAt": registered.allowed_at.map(rfc3339),
        })
    });
    let states: Vec<_> = states.collect();
    let value = json!({"username": username.as_str(), "origins": names, "states": states});
    output.print(&value, || {
        let mut text = String::new();
        for registered in &origins {
            let state = match (registered.proven_at, registered.allowed_at) {
                (Some(_), _) => "proven",
                (None, Some(_)) => "allowed",
                (None, None) => "not proven",
            };
            let _ = writeln!(text, "{}  {state}", registered.origin);
        }
        if origins.is_empty() {
            "no origins; donate links of this account do not redirect".to_owned()
        } else {
            text.trim_end().to_owned()
        }
    })
}
