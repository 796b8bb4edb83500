//! `causeway check`

use super::Cli;
use crate::cli::directory::damage::header_checksum_at;
use crate::files::{bmf, generated, nonprofit_rows};
use sqlx::{Connection, SqliteConnection};
use std::path::PathBuf;

fn cli_with_directory() -> Cli {
    let cli = Cli::new();
    cli.write("eo.csv", bmf(&nonprofit_rows(50)));
    cli.run(0, &["import", "irs", "eo.csv"]);
    cli
}

fn snapshot(cli: &Cli) -> PathBuf {
    let files = std::fs::read_dir(cli.path().join("data/directory")).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    files
        .find(|path| path.extension().is_some_and(|extension| extension == "snapshot"))
        .unwrap()
}

/// Changes the database directly.
fn execute(cli: &Cli, statements: &[&'static str]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let path = cli.path().join("data/causeway.db");
        let mut database = SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
        for &statement in statements {
            sqlx::query(statement).execute(&mut database).await.unwrap();
        }
        database.close().await.unwrap();
    });
}

#[test]
fn an_intact_directory_passes() {
    let cli = Cli::new();
    assert_eq!(cli.json(&["check"])["nonprofits"], 0);
    cli.write("eo.csv", generated(300, 1));
    cli.run(0, &["import", "irs", "eo.csv"]);
    let check = cli.json(&["check"]);
    assert_eq!(
        (&check["nonprofits"], &check["differences"]),
        (&300.into(), &serde_json::json!([]))
    );
    assert_eq!(
        cli.run(0, &["check"]).stdout,
        "checked 300 nonprofits and 0 pictures against the database\nchecked 0 ledger entries and 0 fundraisers\n\
         checked the totals of fundraisers: $0.00 live, $0.00 live and test\n"
    );
}

#[test]
fn a_row_changed_outside_causeway_is_reported() {
    let cli = cli_with_directory();
    execute(
        &cli,
        &["update nonprofits set filed = 'ANOTHER' where ein = 100000007"],
    );
    let error = cli.fail(&["check"]);
    assert!(error.contains("shelter-100000007-house"), "{error}");
}

#[test]
fn inconsistent_rows_are_among_the_differences() {
    let cli = cli_with_directory();
    execute(
        &cli,
        &[
            "insert into fundraisers (id, nonprofit_id, slug, account_id, title, cover, created_at, version) \
             values (randomblob(16), randomblob(16), 'run', randomblob(16), 'Run', 'picture-00', 0, 1)",
            "insert into ledger_postings (sequence, position, party, party_id, amount) values (7, 0, 'donor', 'ana', 5)",
            "insert into ledger_entries (sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, amount, recorded_at, hash) \
             values (1, 'offline', 'live', 'offline', 'x 1', randomblob(16), zeroblob(16), 5, 0, zeroblob(32))",
        ],
    );
    let check: serde_json::Value = serde_json::from_str(&cli.run(1, &["check", "--json"]).stdout).unwrap();
    let differences = check["differences"].to_string();
    for expected in [
        "the picture picture-00, the cover of fundraiser",
        "entry 7 has postings",
        "belongs to fundraiser 00000000-0000-0000-0000-000000000000, which does not exist",
    ] {
        assert!(differences.contains(expected), "{expected}: {differences}");
    }
}

#[test]
fn a_forged_snapshot_with_valid_checksums_is_reported() {
    let cli = cli_with_directory();
    let path = snapshot(&cli);
    let mut bytes = std::fs::read(&path).unwrap();
    let name = b"Shelter 100000007 House";
    let start = bytes.windows(name.len()).position(|part| part == name).unwrap();
    bytes[start] = b'X';
    let checksums = header_checksum_at(&bytes);
    let mut at = (checksums + 4).next_multiple_of(8);
    for entry in (68..checksums).step_by(12) {
        let length = u64::from_le_bytes(bytes[entry..entry + 8].try_into().unwrap()) as usize;
        let checksum = crc32fast::hash(&bytes[at..at + length]);
        bytes[entry + 8..entry + 12].copy_from_slice(&checksum.to_le_bytes());
        at += length.next_multiple_of(8);
    }
    let checksum = crc32fast::hash(&bytes[..checksums]);
    bytes[checksums..checksums + 4].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let error = cli.fail(&["check"]);
    assert!(
        error.contains("shelter-100000007-house") && error.contains("directory"),
        "{error}"
    );
}

#[test]
fn a_damaged_snapshot_is_an_error_and_rebuilt() {
    let cli = cli_with_directory();
    std::fs::write(snapshot(&cli), "CAUSEWAY, cut off").unwrap();
    let error = cli.fail(&["check"]);
    assert!(error.contains(".snapshot was damaged"), "{error}");
    assert_eq!(cli.json(&["check"])["nonprofits"], 50);
}

#[test]
fn a_damaged_database_is_named() {
    let cli = cli_with_directory();
    let path = cli.path().join("data/causeway.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let last = bytes.len() - page;
    bytes[last..].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let error = cli.fail(&["check"]);
    assert!(
        error.contains("causeway.db") && error.contains("docs/operate.md"),
        "{error}"
    );
    let report = cli.run(1, &["doctor"]).stdout;
    let store = report.lines().find(|line| line.contains(" store "));
    assert!(
        store.is_some_and(|line| line.starts_with("problem") && line.contains("causeway.db")),
        "{report}"
    );
}
