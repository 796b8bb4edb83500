//! `causeway payee`

use super::disburse::find_actor;
use super::output::Output;
use crate::app::App;
use anyhow::Context;
use clap::Subcommand;
use giving::disbursement::payees::{Payee as GivingPayee, store};
use platform::clock::rfc3339;
use platform::email_address::EmailAddress;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Payee {
    /// Import how nonprofits are paid from a CSV file, all rows or none; a change holds payments for a while
    #[command(
        after_help = "Example:\n  echo 'ein,method,routing_number,account_number,account_type,email' > payees.csv\n  echo '530196605,ach,021000021,123456789,checking,pay@example.org' >> payees.csv\n  causeway payee import payees.csv\n\nColumns: ein, method (ach or check), name, routing_number, account_number, account_type (checking or savings), street, city,\nstate, zip, email. Checks without an address go to the one in the files of the IRS."
    )]
    Import {
        /// A CSV file with a header
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The operator who imports it
        #[arg(long, value_name = "USERNAME")]
        operator: Option<String>,
    },
    /// List how nonprofits are paid, the last changed first; of bank accounts, the last four digits
    #[command(after_help = "Example:\n  causeway payee list")]
    List {
        /// The number of payees to list
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        take: u32,
    },
}

impl Payee {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Payee::Import { file, operator } => {
                let actor = find_actor(app, operator.as_deref()).await?;
                let content = std::fs::read(&file)
                    .with_context(|| format!("could not read {}; check the path", file.display()))?;
                let saved = app.disbursements().import_payees(&content, actor).await?;
                let days = app.config.disburse.change_hold_days;
                let value = json!({"new": saved.new, "changed": saved.changed, "unchanged": saved.unchanged});
                output.print(&value, || {
                    let mut text = format!(
                        "imported {} new payees, {} changed and {} unchanged",
                        saved.new, saved.changed, saved.unchanged
                    );
                    if saved.changed > 0 {
                        let _ = write!(
                            text,
                            "\n  nothing is paid to the changed ones for {days} days; call each of these nonprofits to confirm the change"
                        );
                    }
                    text
                })
            }
            Payee::List { take } => {
                let payees = store::list(&app.db, take.into(), 0).await?;
                let now = app.clock.millis();
                let value: Vec<_> = payees.iter().map(|payee| to_json(payee, now)).collect();
                output.print(
                    &json!({"payees": value, "total": store::count(&app.db).await?}),
                    || {
                        payees
                            .iter()
                            .map(|payee| to_text(payee, now))
                            .collect::<Vec<_>>()
                            .join("\n")
                    },
                )
            }
        }
    }
}

fn held_until(payee: &GivingPayee, now: i64) -> Option<String> {
    payee.held_until.filter(|until| *until > now).map(rfc3339)
}

fn to_json(payee: &GivingPayee, now: i64) -> serde_json::Value {
    json!({
        "nonprofitId": payee.nonprofit.0,
        "method": payee.method.as_str(),
        "name": payee.name,
        "lastFour": payee.last_four,
        "street": payee.address.street,
        "city": payee.address.city,
        "state": payee.address.state,
        "zip": payee.address.zip,
        "email": payee.email.as_ref().map(EmailAddress::as_str),
        "changedAt": rfc3339(payee.changed_at),
        "heldUntil": held_until(payee, now),
    })
}

fn to_text(payee: &GivingPayee, now: i64) -> String {
    let place = match &payee.last_four {
        Some(last_four) => format!("account ending in {last_four}"),
        None if payee.address.is_empty() => "address in the files of the IRS".to_owned(),
        None => format!("{}, {}", payee.address.street, payee.address.city),
    };
    let held = held_until(payee, now).map(|until| format!("  held until {until}"));
    format!(
        "{}  {}  {:?}  {place}{}",
        payee.nonprofit,
        payee.method.as_str(),
        payee.name,
        held.unwrap_or_default()
    )
}
