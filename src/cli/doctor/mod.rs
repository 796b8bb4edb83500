//! `causeway doctor`: one page about what is wrong with a server and the services that it uses, with remedies.
//!
//! It works while the server runs and when it does not start, and changes nothing: no table is migrated, and no file
//! is created except for a probe that is removed again. So it does not build an `App`.

mod donations;
mod eligibility;
mod finding;
mod machine;
mod payments;
mod services;
mod store;

use super::output::Output;
use crate::config::{Config, Overrides, environment_warnings};
use anyhow::bail;
use finding::{Finding, Status};
use serde_json::json;
use std::fmt::Write;

pub(super) async fn run(overrides: &Overrides, output: Output) -> anyhow::Result<()> {
    let findings = match Config::load(overrides) {
        Ok(config) => examine(&config).await,
        Err(error) => vec![Finding::from_error(
            "settings",
            &error,
            "config.default.toml shows the format of every setting",
        )],
    };
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    let (problems, warnings) = (count(Status::Problem), count(Status::Warning));
    output.print(
        &json!({"problems": problems, "warnings": warnings, "checks": findings}),
        || page(&findings),
    )?;
    if problems > 0 {
        bail!("problems: {problems}, warnings: {warnings}; follow the remedies above, and run this again");
    }
    Ok(())
}

async fn examine(config: &Config) -> Vec<Finding> {
    let (store, opened) = store::open(config).await;
    let (db, inspection) = match &opened {
        Some((db, inspection)) => (Some(db), Some(inspection)),
        None => (None, None),
    };
    let mut findings = vec![
        settings(),
        machine::permissions(config),
        machine::disk_space(config),
        machine::clock(inspection, db).await,
        store,
        store::secret(config, db).await,
        store::snapshot(config, db).await,
        services::blobs(config).await,
        services::redis(config).await,
        services::mail(config, db).await,
        services::anchors(config, db).await,
        store::backups(db).await,
        services::public_url(config),
        services::server(config).await,
        services::metrics(config).await,
    ];
    findings.push(eligibility::lists(config, db).await);
    findings.extend(payments::examine(config, db).await);
    findings.extend(donations::payment_link(config, db).await);
    findings.push(donations::monthly_donations(config, db).await);
    if let Some(db) = db {
        db.close().await;
    }
    findings
}

fn settings() -> Finding {
    let warnings = environment_warnings();
    match warnings.as_slice() {
        [] => Finding::ok("settings", "valid"),
        [first, rest @ ..] => {
            let (seen, remedy) = first.split_once("; ").unwrap_or((first, "unset it"));
            let more = if rest.is_empty() {
                String::new()
            } else {
                format!(", and {} more", rest.len())
            };
            Finding::warning("settings", format!("{seen}{more}"), remedy)
        }
    }
}

/// Renders the findings, one line each, with the remedy below.
fn page(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let Finding {
            subject,
            status,
            seen,
            remedy,
        } = finding;
        let _ = writeln!(text, "{:8} {subject:12} {seen}", status.name());
        if !remedy.is_empty() {
            let _ = writeln!(text, "{:22}{remedy}", "");
        }
    }
    text.trim_end().to_owned()
}
