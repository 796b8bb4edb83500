//! `causeway fundraiser`

use super::line::parse_line;
use super::output::Output;
use crate::app::App;
use access::accounts::store as accounts;
use access::audit::Actor;
use anyhow::bail;
use clap::Subcommand;
use giving::donations::comments;
use giving::fundraisers::moderate::Decision;
use giving::fundraisers::names::{find_nonprofit, slug_of, split_path};
use giving::fundraisers::store::{self, Listing};
use giving::fundraisers::{Fundraiser as StoredFundraiser, FundraiserName};
use giving::ledger::store as ledger;
use giving::moderation::{DEFAULT_REASON, MAX_REASON_CHARS};
use platform::clock::rfc3339;
use platform::ids::FundraiserId;
use serde_json::json;
use std::fmt::Write;
use uuid::Uuid;

/// The maximum number of fundraisers that a list prints.
const MAX_LISTED: i64 = 1_000;

#[derive(Subcommand)]
pub(super) enum Fundraiser {
    /// List fundraisers, newest first
    #[command(after_help = "Example:\n  causeway fundraiser list --in-review")]
    List {
        /// Only fundraisers in review, oldest first
        #[arg(long, conflicts_with = "hidden")]
        in_review: bool,
        /// Only fundraisers that an operator has hidden
        #[arg(long)]
        hidden: bool,
    },
    /// Hide a fundraiser from everyone except its owner and operators
    #[command(
        after_help = "Example:\n  causeway fundraiser hide american-red-cross/f/spring-run --reason \"The story is not true\""
    )]
    Hide {
        /// Its ID, or the path of its page
        #[arg(value_name = "FUNDRAISER")]
        fundraiser: String,
        /// The reason, which its creator sees
        #[arg(long, default_value = DEFAULT_REASON)]
        reason: String,
    },
    /// Make a hidden fundraiser public again, or approve one that is in review
    #[command(after_help = "Example:\n  causeway fundraiser show american-red-cross/f/spring-run")]
    Show {
        /// Its ID, or the path of its page
        #[arg(value_name = "FUNDRAISER")]
        fundraiser: String,
    },
    /// Remove the name and the message of a donation from the page of its fundraiser; the donation stays
    #[command(after_help = "Example:\n  causeway fundraiser remove-comment 17")]
    RemoveComment {
        /// The number of the donation in the ledger, as shown by `causeway donation list`
        entry: i64,
    },
}

impl Fundraiser {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Fundraiser::List { in_review, hidden } => {
                let listing = match (in_review, hidden) {
                    (true, _) => Listing::InReview,
                    (false, true) => Listing::Hidden,
                    (false, false) => Listing::All,
                };
                list(app, output, listing).await
            }
            Fundraiser::Hide { fundraiser, reason } => {
                let reason = parse_line("the reason", &reason, MAX_REASON_CHARS)?;
                let reason = if reason.is_empty() { DEFAULT_REASON } else { reason };
                decide(app, output, &fundraiser, Decision::Hide(reason.to_owned())).await
            }
            Fundraiser::Show { fundraiser } => decide(app, output, &fundraiser, Decision::Show).await,
            Fundraiser::RemoveComment { entry } => remove_comment(app, output, entry).await,
        }
    }
}

async fn decide(app: &App, output: Output, typed: &str, decision: Decision) -> anyhow::Result<()> {
    let fundraiser = find(app, typed).await?;
    let decided = app
        .moderation()
        .decide(fundraiser.id, decision, Actor::Command)
        .await?;
    app.mail.finish().await;
    let after = decided.after;
    let status = after.status().as_str();
    let value = json!({"id": after.id.0, "status": status, "reason": after.hidden_reason});
    output.print(&value, || format!("fundraiser {} is {status}", after.id))
}

/// Finds a fundraiser by its ID, or by the path or URL of its page.
async fn find(app: &App, typed: &str) -> anyhow::Result<StoredFundraiser> {
    let found = match (Uuid::try_parse(typed.trim()), split_path(typed)) {
        (Ok(id), _) => store::find(&app.db, FundraiserId(id)).await?,
        (Err(_), Some((nonprofit, name))) => {
            let nonprofit = nonprofit.rsplit('/').next().unwrap_or_default();
            match (
                find_nonprofit(&app.directory, nonprofit).await,
                FundraiserName::parse(name),
            ) {
                (Ok(nonprofit), Some(name)) => store::find_of(&app.db, nonprofit, &name).await?,
                _ => None,
            }
        }
        _ => None,
    };
    match found {
        Some(found) => Ok(found),
        None => bail!(
            "there is no fundraiser {typed:?}; give its ID, or the path of its page such as american-red-cross/f/spring-run"
        ),
    }
}

async fn list(app: &App, output: Output, listing: Listing) -> anyhow::Result<()> {
    let found = store::list_page(&app.db, listing, MAX_LISTED, 0).await?;
    let mut listed = Vec::with_capacity(found.len());
    let mut text = String::new();
    for fundraiser in &found {
        let account = accounts::find_username(&app.db, fundraiser.account).await?;
        let account = account.unwrap_or_default();
        let nonprofit = slug_of(&app.directory, fundraiser).await?;
        let (id, status) = (fundraiser.id, fundraiser.status().as_str());
        let url = app.site.urls.fundraiser(&nonprofit, &fundraiser.slug);
        let created_at = rfc3339(fundraiser.created_at);
        let title = &fundraiser.title;
        let _ = writeln!(
            text,
            "{id}  {status:9}  {created_at}  {account}  {title:?}  {url}"
        );
        listed.push(json!({
            "id": id.0,
            "status": status,
            "account": account,
            "title": title,
            "url": url,
            "createdAt": created_at,
            "reason": fundraiser.hidden_reason,
        }));
    }
    output.print(&json!({"fundraisers": listed}), || {
        if found.is_empty() {
            "no fundraisers".to_owned()
        } else {
            text.trim_end().to_owned()
        }
    })
}

async fn remove_comment(app: &App, output: Output, entry: i64) -> anyhow::Result<()> {
    let fundraiser = ledger::find_fundraiser(&app.db, entry).await?;
    let is_removed = match fundraiser {
        Some(id) => comments::remove(&app.db, id, entry, Actor::Command, app.clock.millis()).await?,
        None => false,
    };
    if !is_removed {
        bail!(
            "donation {entry} has no public name or message; run causeway donation list to see all donations"
        );
    }
    output.print(&json!({"entry": entry, "done": "removed"}), || {
        format!("comment on donation {entry} removed")
    })
}
