//! Changes made by commands reach a running server without a restart, and key changes within a second.

use crate::database::Database;
use crate::files::{Files, generated};
use crate::instance::{Instance, eventually};
use crate::server::Server;
use std::fs;
use std::time::{Duration, Instant};

/// Key changes take effect within this time after the command.
const KEY_CHANGE_DELAY: Duration = Duration::from_secs(1);
/// Attempts to observe the delay. A busy machine can pause any of them.
const ATTEMPTS: usize = 10;

#[test]
fn an_import_shows_in_a_running_server_on_sqlite() {
    import_next_to_server(Database::Sqlite);
}

#[test]
fn an_import_shows_in_a_running_server_on_postgres() {
    import_next_to_server(Database::Postgres);
}

fn import_next_to_server(database: Database) {
    if !database.is_available() {
        return;
    }
    // First as an overlay on the first snapshot, then as a new snapshot.
    for overlay_limit in [5_000, 100] {
        let instance = Instance::new(database, overlay_limit);
        let files = Files::new(instance.folder.path(), 1_500);
        let eins = files.sample(20);
        let server = instance.serve();
        instance.import(&files.a);
        server.wait_for_revision(&instance.path(&eins[0]), instance.database.revision());
        let a = instance.all_facts(&server, &eins);
        let summary = instance.import(&files.b);
        assert!(summary["changed"].as_u64() > Some(900), "{summary}");
        assert_eq!(
            summary["snapshotSeconds"].is_null(),
            overlay_limit == 5_000,
            "{summary}"
        );
        eventually("every sample is from the second file", || {
            instance
                .all_facts(&server, &eins)
                .iter()
                .zip(&a)
                .all(|(now, before)| now != before)
        });
        instance.check();
        let before = instance.all_facts(&server, &eins);
        drop(server);
        assert_eq!(
            instance.all_facts(&instance.serve(), &eins),
            before,
            "after a restart"
        );
    }
}

#[test]
fn a_large_and_a_small_import_both_show_after_a_restart() {
    let instance = Instance::new(Database::Sqlite, 100);
    let files = Files::new(instance.folder.path(), 400);
    let eins = files.sample(20);
    let facts = instance.learn_facts(&instance.serve(), &files, &eins);
    let mut rows = fs::read_to_string(&files.b).expect("a file");
    rows.push_str(&generated(1, 9)[1]);
    fs::write(&files.b, rows).expect("a writable file");
    let summary = instance.import(&files.b);
    assert_eq!(summary["new"], 1, "{summary}");
    // Without the snapshot of the large import, the older one with the small change is not the directory.
    let folder = instance.data.join("directory");
    let entries = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let newest = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "snapshot"))
        .max();
    fs::remove_file(newest.expect("a snapshot")).expect("a file");
    assert_eq!(instance.all_facts(&instance.serve(), &eins), facts[1]);
    instance.check();
}

#[test]
fn key_changes_reach_a_running_server_on_sqlite() {
    change_keys(Database::Sqlite, &[]);
}

#[test]
fn key_changes_reach_a_running_server_on_postgres() {
    change_keys(Database::Postgres, &[]);
}

#[test]
fn key_changes_reach_a_running_server_that_gets_no_notifications() {
    // Nothing listens on this port.
    let nowhere = "postgres://nobody@127.0.0.1:1/nothing";
    change_keys(Database::Postgres, &[("CAUSEWAY_DATABASE__LISTEN_URL", nowhere)]);
}

fn change_keys(database: Database, environment: &[(&str, &str)]) {
    if !database.is_available() {
        return;
    }
    let instance = Instance::new(database, 100);
    let server = Server::start(&instance, environment);
    // The key is checked before the nonprofit is looked up.
    let (valid, revoked, blocked, limited) = (404, 401, 403, 429);
    let is_fast = (0..ATTEMPTS).any(|_| {
        let (id, key) = instance.create_key();
        let path = format!("/v0.2/nonprofit/nobody?apiKey={key}");
        // A slow machine slows the command and the server alike.
        let change = |arguments: &[&str], status: u16| {
            let start = Instant::now();
            instance.run(arguments);
            let allowed = KEY_CHANGE_DELAY.max(start.elapsed() * 10);
            let description = format!("{arguments:?} leads to {status}");
            eventually(&description, || server.get(&path).status == status) <= allowed
        };
        eventually("a new key works", || server.get(&path).status == valid);
        [
            change(&["key", "block", &id], blocked),
            change(&["key", "unblock", &id], valid),
            change(&["limit", "set", &id, "address=1"], limited),
            change(&["limit", "set", &id, "address=none"], valid),
            change(&["limit", "set", &id, "details=1"], limited),
            change(&["key", "revoke", &id], revoked),
        ]
        .iter()
        .all(|is_fast| *is_fast)
    });
    assert!(is_fast, "key changes took longer than {KEY_CHANGE_DELAY:?}");
}
