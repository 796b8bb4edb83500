//! `causeway payments`

use super::output::Output;
use crate::app::App;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use giving::payments::Payments as StripePayments;
use giving::payments::differences::ListedDifference;
use giving::payments::store::{self, Reconciliation};
use jiff::civil::Date;
use platform::clock::rfc3339;
use platform::progress::wait_with_spinner;
use serde_json::{Value, json};
use std::fmt::Write;

#[derive(Subcommand)]
pub(super) enum Payments {
    /// Compare every balance transaction of Stripe with the ledger, then the balance; exit 1 while there is a difference
    #[command(after_help = "Example:\n  causeway payments reconcile --from 2026-05-01")]
    Reconcile(ReconcileArgs),
    /// Note why a difference exists, so that it is no longer listed
    #[command(after_help = "Example:\n  causeway payments explain txn_1 --note 'bought a card reader'")]
    Explain {
        /// The ID of the transaction or charge, as it is listed
        #[arg(value_name = "ID")]
        id: String,
        /// The explanation
        #[arg(long)]
        note: String,
    },
}

#[derive(Args)]
pub(super) struct ReconcileArgs {
    /// The first day, in the time zone of the operator; by default, three days before the end of the last comparison
    #[arg(long, value_name = "DATE")]
    from: Option<Date>,
    /// The last day; by default, today
    #[arg(long, value_name = "DATE")]
    to: Option<Date>,
}

impl Payments {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let payments = app
            .payments()
            .context("giving.provider is not stripe; payments are compared with Stripe only")?;
        match self {
            Payments::Reconcile(args) => reconcile(app, payments, output, &args).await,
            Payments::Explain { id, note } => {
                if note.trim().is_empty() {
                    bail!("the note is empty; say why the difference exists");
                }
                if !payments.explain(&id, note.trim()).await? {
                    bail!("there is no open difference about {id}; causeway payments reconcile lists them");
                }
                output.print(&json!({ "explained": id }), || format!("explained {id}"))
            }
        }
    }
}

async fn reconcile(
    app: &App,
    payments: StripePayments<'_>,
    output: Output,
    args: &ReconcileArgs,
) -> anyhow::Result<()> {
    let start_of = |date: Date| {
        let start = date.to_zoned(app.config.time_zone.clone());
        start.map(|start| start.timestamp().as_second())
    };
    let since = args.from.map(start_of).transpose()?;
    let until = match args.to {
        Some(last) => Some(start_of(last.tomorrow()?)?),
        None => None,
    };
    let compared = wait_with_spinner("comparing", Box::pin(payments.reconcile(since, until))).await?;
    let differences = store::list_differences(&app.db).await?;
    output.print(&to_json(&compared, &differences), || {
        to_text(&compared, &differences)
    })?;
    if !differences.is_empty() {
        bail!(
            "{} differences; look at each with Stripe's dashboard, then explain it with causeway payments explain ID --note",
            differences.len()
        );
    }
    Ok(())
}

fn to_json(compared: &Reconciliation, differences: &[ListedDifference]) -> Value {
    let difference = |listed: &ListedDifference| {
        let difference = &listed.difference;
        json!({
            "id": difference.object,
            "kind": difference.kind.as_str(),
            "amount": difference.amount.get(),
            "livemode": difference.livemode,
            "donation": difference.donation,
            "detail": difference.detail,
            "foundAt": rfc3339(listed.found_at),
        })
    };
    json!({
        "from": rfc3339(compared.since.saturating_mul(1_000)),
        "to": rfc3339(compared.until.saturating_mul(1_000)),
        "livemode": compared.livemode,
        "transactions": compared.transactions,
        "entered": compared.entered,
        "balance": compared.balance.get(),
        "ledgerBalance": compared.ledger_balance.get(),
        "differences": differences.iter().map(difference).collect::<Vec<_>>(),
    })
}

fn to_text(compared: &Reconciliation, differences: &[ListedDifference]) -> String {
    let mut text = format!(
        "compared {} transactions, entered {}; Stripe has {}, the books have {}",
        compared.transactions, compared.entered, compared.balance, compared.ledger_balance
    );
    for listed in differences {
        let difference = &listed.difference;
        let _ = write!(
            text,
            "\n{}  {}  {}: {} (since {})",
            difference.object,
            difference.amount,
            difference.kind.as_str(),
            difference.detail,
            rfc3339(listed.found_at)
        );
    }
    text
}
