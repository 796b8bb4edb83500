//! What commands change shows in a running server without a restart, and a key stops within a second.

use crate::files::{Files, generated};
use crate::place::{Place, SOON, eventually};
use crate::store::Kind;
use std::fs;
use std::time::Duration;

/// Keys and blocks take effect within this time after the command has ended.
const AT_ONCE: Duration = Duration::from_secs(1);

#[test]
fn a_thousand_changed_rows_show_in_a_running_server_on_sqlite() {
    import_beside_a_server(Kind::Sqlite);
}

#[test]
fn a_thousand_changed_rows_show_in_a_running_server_on_postgres() {
    import_beside_a_server(Kind::Postgres);
}

fn import_beside_a_server(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    // Both ways: as an overlay on the first snapshot, and as a new snapshot.
    for overlay_limit in [5_000, 100] {
        let place = Place::new(kind, overlay_limit);
        let files = Files::new(place.folder.path(), 1_500);
        let eins = files.sample(20);
        let server = place.serve();
        place.import(&files.a);
        let a = {
            server.await_revision(&place.path(&eins[0]), place.store.revision());
            place.ask_all(&server, &eins)
        };
        let summary = place.import(&files.b);
        assert!(summary["changed"].as_u64() > Some(900), "{summary}");
        assert_eq!(
            summary["snapshotSeconds"].is_null(),
            overlay_limit == 5_000,
            "{summary}"
        );
        eventually(SOON, "every sample is of the second file", || {
            place
                .ask_all(&server, &eins)
                .iter()
                .zip(&a)
                .all(|(now, before)| now != before)
        });
        place.check();
        let before = place.ask_all(&server, &eins);
        drop(server);
        assert_eq!(place.ask_all(&place.serve(), &eins), before, "after a restart");
    }
}

#[test]
fn a_large_import_and_a_small_one_after_it_show_together_after_a_restart() {
    let place = Place::new(Kind::Sqlite, 100);
    let files = Files::new(place.folder.path(), 400);
    let eins = files.sample(20);
    let shown = place.learn(&place.serve(), &files, &eins);
    let mut rows = fs::read_to_string(&files.b).expect("a file");
    rows.push_str(&generated(1, 9)[1]);
    fs::write(&files.b, rows).expect("room");
    let summary = place.import(&files.b);
    assert_eq!(summary["new"], 1, "{summary}");
    // The snapshot of the large import is lost: the older one and the small change are not the directory.
    let folder = place.data.join("directory");
    let entries = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let newest = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "snapshot"))
        .max();
    fs::remove_file(newest.expect("a snapshot")).expect("a file");
    assert_eq!(place.ask_all(&place.serve(), &eins), shown[1]);
    place.check();
}

#[test]
fn a_key_works_and_stops_within_a_second_on_sqlite() {
    change_keys(Kind::Sqlite);
}

#[test]
fn a_key_works_and_stops_within_a_second_on_postgres() {
    change_keys(Kind::Postgres);
}

fn change_keys(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let place = Place::new(kind, 100);
    let server = place.serve();
    // A key that is good for nothing is told before the nonprofit is looked for.
    let (good, revoked, blocked) = (404, 401, 403);
    let (id, key) = place.make_key();
    let path = format!("/v0.2/nonprofit/nobody?apiKey={key}");
    let becomes = |status: u16, what: &str| eventually(AT_ONCE, what, || server.get(&path).status == status);
    becomes(good, "a new key works");
    place.run(&["key", "block", &id]);
    becomes(blocked, "a blocked key stops");
    place.run(&["key", "unblock", &id]);
    becomes(good, "an unblocked key works again");
    place.run(&["limit", "set", &id, "details=1"]);
    becomes(429, "a new limit holds");
    place.run(&["key", "revoke", &id]);
    becomes(revoked, "a revoked key stops");
}
