//! `causeway check`: exit 1 where what is shown differs from what is stored.

use super::Shell;
use crate::cli::directory::damage::header_checksum_at;
use crate::files::{bmf, bodies, generated};
use sqlx::{Connection, SqliteConnection};
use std::path::PathBuf;

fn shell_with_directory() -> Shell {
    let shell = Shell::new();
    shell.write("eo.csv", bmf(&bodies(50)));
    shell.run(0, &["import", "irs", "eo.csv"]);
    shell
}

fn snapshot(shell: &Shell) -> PathBuf {
    let files = std::fs::read_dir(shell.data().join("data/directory")).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    files
        .find(|path| path.extension().is_some_and(|ending| ending == "snapshot"))
        .unwrap()
}

/// Changes the store behind the back of everybody.
fn execute(shell: &Shell, statements: &[&'static str]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let path = shell.data().join("data/causeway.db");
        let mut store = SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
        for &statement in statements {
            sqlx::query(statement).execute(&mut store).await.unwrap();
        }
        store.close().await.unwrap();
    });
}

#[test]
fn a_sound_directory_is_proved() {
    let shell = Shell::new();
    assert_eq!(shell.json(&["check"])["nonprofits"], 0);
    shell.write("eo.csv", generated(300, 1));
    shell.run(0, &["import", "irs", "eo.csv"]);
    let proof = shell.json(&["check"]);
    assert_eq!(
        (&proof["nonprofits"], &proof["differences"]),
        (&300.into(), &serde_json::json!([]))
    );
    assert_eq!(
        shell.run(0, &["check"]).out,
        "300 nonprofits and 0 pictures proved against the store\n0 entries of the journal and 0 fundraisers proved\n"
    );
}

#[test]
fn a_row_that_was_changed_behind_its_back_is_found() {
    let shell = shell_with_directory();
    execute(
        &shell,
        &["update nonprofits set filed = 'ANOTHER' where ein = 100000007"],
    );
    let fault = shell.fail(&["check"]);
    assert!(fault.contains("shelter-100000007-house"), "{fault}");
}

#[test]
fn what_does_not_belong_together_is_among_the_differences() {
    let shell = shell_with_directory();
    execute(
        &shell,
        &[
            "insert into fundraisers (id, nonprofit_id, slug, account_id, title, cover, created_at, version) \
             values (randomblob(16), randomblob(16), 'run', randomblob(16), 'Run', 'picture-00', 0, 1)",
            "insert into journal_legs (sequence, position, party, party_id, amount) values (7, 0, 'donor', 'ana', 5)",
            "insert into journal (sequence, kind, source, external_id, nonprofit_id, fundraiser_id, amount, recorded_at, hash) \
             values (1, 'offline', 'offline', 'x 1', randomblob(16), zeroblob(16), 5, 0, zeroblob(32))",
        ],
    );
    let proof: serde_json::Value = serde_json::from_str(&shell.run(1, &["check", "--json"]).out).unwrap();
    let differences = proof["differences"].to_string();
    for named in [
        "picture-00 is not there",
        "entry 7 has legs",
        "the fundraiser 00000000-0000-0000-0000-000000000000, which does not exist",
    ] {
        assert!(differences.contains(named), "{named}: {differences}");
    }
}

#[test]
fn a_snapshot_that_was_forged_with_true_checksums_is_found() {
    let shell = shell_with_directory();
    let path = snapshot(&shell);
    let mut bytes = std::fs::read(&path).unwrap();
    let name = b"Shelter 100000007 House";
    let place = bytes.windows(name.len()).position(|part| part == name).unwrap();
    bytes[place] = b'X';
    let checksums = header_checksum_at(&bytes);
    let mut at = (checksums + 4).next_multiple_of(8);
    for entry in (52..checksums).step_by(12) {
        let length = u64::from_le_bytes(bytes[entry..entry + 8].try_into().unwrap()) as usize;
        let checksum = crc32fast::hash(&bytes[at..at + length]);
        bytes[entry + 8..entry + 12].copy_from_slice(&checksum.to_le_bytes());
        at += length.next_multiple_of(8);
    }
    let checksum = crc32fast::hash(&bytes[..checksums]);
    bytes[checksums..checksums + 4].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let fault = shell.fail(&["check"]);
    assert!(
        fault.contains("shelter-100000007-house") && fault.contains("directory"),
        "{fault}"
    );
}

#[test]
fn a_damaged_snapshot_is_built_anew_and_proved() {
    let shell = shell_with_directory();
    std::fs::write(snapshot(&shell), "CAUSEWAY, cut off").unwrap();
    assert_eq!(shell.json(&["check"])["nonprofits"], 50);
}

#[test]
fn a_damaged_database_is_named() {
    let shell = shell_with_directory();
    let path = shell.data().join("data/causeway.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let last = bytes.len() - page;
    bytes[last..].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let fault = shell.fail(&["check"]);
    assert!(
        fault.contains("causeway.db") && fault.contains("backup"),
        "{fault}"
    );
}
