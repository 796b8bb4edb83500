//! `causeway report`

use super::output::Output;
use crate::app::App;
use access::audit::Actor;
use anyhow::bail;
use clap::Subcommand;
use giving::reports::store;
use platform::clock::rfc3339;
use serde_json::json;
use std::fmt::Write;
use uuid::Uuid;

/// The maximum number of reports that a list prints.
const MAX_LISTED: i64 = 1_000;

#[derive(Subcommand)]
pub(super) enum Report {
    /// List reports from visitors about fundraisers and nonprofits, and corrections that nonprofits request
    #[command(after_help = "Example:\n  causeway report list")]
    List {
        /// List closed reports instead of open ones
        #[arg(long)]
        closed: bool,
    },
    /// Close a report, or mark a correction as done
    #[command(after_help = "Example:\n  causeway report close 019a8f00-0000-7000-8000-000000000000")]
    Close {
        /// The ID of the report, as shown by `causeway report list`
        id: Uuid,
    },
}

impl Report {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Report::List { closed } => list(app, output, closed).await,
            Report::Close { id } => {
                if !store::close(&app.db, id, Actor::Command, app.clock.millis()).await? {
                    bail!("there is no open report {id}; run causeway report list to see all open reports");
                }
                output.print(&json!({"id": id, "done": "closed"}), || {
                    format!("report {id} closed")
                })
            }
        }
    }
}

async fn list(app: &App, output: Output, is_closed: bool) -> anyhow::Result<()> {
    let reports = store::list(&app.db, is_closed, MAX_LISTED, 0).await?;
    let shown = reports.iter().map(|report| {
        json!({
            "id": report.id,
            "subject": {"kind": report.subject.kind(), "id": report.subject.id()},
            "reason": report.reason.as_str(),
            "details": report.details,
            "email": report.email,
            "createdAt": rfc3339(report.created_at),
            "closedAt": report.closed_at.map(rfc3339),
        })
    });
    let shown: Vec<_> = shown.collect();
    output.print(&json!({"reports": shown}), || {
        let mut text = String::new();
        for report in &reports {
            let _ = writeln!(
                text,
                "{}  {}  {} {}  {}  {:?}",
                report.id,
                rfc3339(report.created_at),
                report.subject.kind(),
                report.subject.id(),
                report.reason.as_str(),
                report.details,
            );
        }
        if reports.is_empty() {
            "no reports".to_owned()
        } else {
            text.trim_end().to_owned()
        }
    })
}
