//! The table of personal data in `docs/comply.md` names every column that holds some, and no other.
//!
//! Every column with text or bytes is either in that table or here, so whoever adds one has to decide.

use crate::repository;
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = "docs/comply.md";

/// Columns without personal data: codes, states, digests, and facts about organizations. `*` is all columns of a table.
const NOT_PERSONAL: &[(&str, &str)] = &[
    ("revisions", "*"),
    ("revision_tokens", "*"),
    ("store", "*"),
    ("nonprofits", "*"),
    ("former_slugs", "*"),
    ("profiles", "*"),
    ("imports", "*"),
    ("import_files", "*"),
    ("import_failures", "*"),
    ("return_profiles", "*"),
    ("publication_78", "*"),
    ("revocations", "*"),
    ("epostcards", "*"),
    ("nonprofit_history", "*"),
    ("returns", "form"),
    ("standing_entries", "list entry part state_number status since"),
    ("standing_files", "*"),
    ("standing_changes", "list entry"),
    ("eligibility_matches", "*"),
    ("eligibility_decisions", "check_name outcome about end_reason"),
    ("eligibility_history", "*"),
    ("keys", "kind public_key block_reason"),
    ("key_limits", "*"),
    ("key_usage", "*"),
    ("key_usage_days", "*"),
    ("recent_calls", "*"),
    ("audit", "act"),
    ("mail_links", "purpose"),
    ("fundraisers", "slug cover_focus"),
    ("fundraiser_rules", "*"),
    ("idempotency_keys", "location"),
    ("outbox", "kind"),
    ("pictures", "kind"),
    (
        "donations",
        "state provider fault session charge account passed_by partner_account",
    ),
    ("partner_origins", "token"),
    ("reports", "subject_kind"),
    ("leases", "*"),
    ("mail_queue", "lease last_error"),
    ("ledger_checkpoint", "*"),
    ("accepted_anchors", "*"),
    ("anchor_places", "*"),
    ("backups", "*"),
    ("ledger_postings", "*"),
    ("ledger_entries", "kind mode source"),
    ("provider_events", "*"),
    ("payment_differences", "*"),
    ("disputes", "status"),
    ("refund_requests", "*"),
    (
        "monthly_gifts",
        "provider state cause failed_invoice failure last_invoice",
    ),
    ("declines", "charge"),
    (
        "webhook_endpoints",
        "events format token secret old_secret bearer status reason",
    ),
    ("events", "*"),
    ("webhook_deliveries", "*"),
    ("webhook_attempts", "error"),
    ("stopped_notices", "*"),
    ("notice_windows", "kind sent_at"),
    ("sent_notices", "*"),
    ("payees", "method"),
    ("disbursement_batches", "*"),
    ("disbursement_lines", "state method reference return_reference"),
    ("owed_entries", "*"),
    ("disbursement_files", "format"),
    ("own_fields", "field"),
    ("claims", "state role proof domain decided_by"),
    ("claim_links", "role created_by"),
    ("consents", "version"),
    ("takedowns", "ended_by"),
];

/// The columns with text or bytes of each table, as the migrations leave them. IDs and digests are not among them.
fn columns() -> BTreeMap<String, BTreeSet<String>> {
    let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut files: Vec<String> = repository::files();
    files.retain(|path| path.starts_with("migrations/sqlite/") && repository::has_ending(path, "sql"));
    files.sort();
    for path in files {
        let text = repository::read(&path);
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.split("--").next().unwrap_or_default())
            .collect();
        for statement in lines.join("\n").split(';') {
            apply(&mut tables, statement);
        }
    }
    tables
}

fn apply(tables: &mut BTreeMap<String, BTreeSet<String>>, statement: &str) {
    let words: Vec<&str> = statement.split_whitespace().collect();
    match words.as_slice() {
        ["create", "table", table, ..] => {
            let body = statement.split_once('(').map_or("", |(_, body)| body);
            let table = tables.entry((*table).to_owned()).or_default();
            for line in body.lines() {
                let column: Vec<&str> = line.split_whitespace().collect();
                if let [name, kind, ..] = column.as_slice() {
                    add(table, name, kind);
                }
            }
        }
        ["alter", "table", table, "add", "column", name, kind, ..] => {
            add(tables.entry((*table).to_owned()).or_default(), name, kind);
        }
        ["alter", "table", table, "rename", "to", name] => {
            let columns = tables.remove(*table).unwrap_or_default();
            tables.insert((*name).to_owned(), columns);
        }
        ["alter", "table", table, "drop", "column", name] => {
            if let Some(table) = tables.get_mut(*table) {
                table.remove(*name);
            }
        }
        ["drop", "table", table] => _ = tables.remove(*table),
        _ => {}
    }
}

fn add(table: &mut BTreeSet<String>, name: &str, kind: &str) {
    let has_content = kind.starts_with("text") || kind.starts_with("blob");
    if has_content && !name.ends_with("_id") && name != "id" && name != "hash" {
        table.insert(name.to_owned());
    }
}

/// The columns that the document names, by their table.
fn documented() -> BTreeSet<(String, String)> {
    let text = repository::read(DOCUMENT);
    let (_, rows) = text.split_once("| Table | Columns |").expect("the table exists");
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let columns = cells[2].split(", ");
        columns
            .map(|column| (cells[1].to_owned(), column.to_owned()))
            .collect::<Vec<_>>()
    })
    .collect()
}

/// Finds columns that are nowhere, in both places, or do not exist.
pub fn check() -> Vec<String> {
    let (columns, documented) = (columns(), documented());
    let is_excluded = |table: &str, column: &str| {
        let mut of_table = NOT_PERSONAL.iter().filter(|(other, _)| *other == table);
        of_table.any(|(_, names)| *names == "*" || names.split(' ').any(|name| name == column))
    };
    let mut found = Vec::new();
    for (table, names) in &columns {
        for name in names {
            let is_documented = documented.contains(&(table.clone(), name.clone()));
            if is_documented == is_excluded(table, name) {
                found.push(format!(
                    "{table}.{name}: name it in the table of personal data in {DOCUMENT}, or in NOT_PERSONAL"
                ));
            }
        }
    }
    let exists =
        |(table, name): &&(String, String)| columns.get(table).is_some_and(|names| names.contains(name));
    let unknown = documented.iter().filter(|column| !exists(column));
    found.extend(
        unknown.map(|(table, name)| format!("{DOCUMENT} names {table}.{name}, which does not exist")),
    );
    found
}
