//! Anchors: entries that are missing at the end of the ledger are noticed.

use super::server::{Server, command, run};
use crate::api::fundraisers::{Organizer, RED_CROSS, donate};
use crate::wait::wait_until;
use crate::world::{Database, World, run_story};
use causeway::app::App;
use giving::ledger::anchors::{Anchor, folder};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use uuid::Uuid;

on_both_databases!(
    a_ledger_that_is_cut_fails_the_check_until_the_loss_is_accepted,
    entries_in_place_of_lost_ones_are_noticed,
    a_running_server_notices_that_its_ledger_was_cut,
    a_ledger_that_is_cut_is_noticed_with_the_second_place_alone,
    anchors_of_another_store_are_not_accepted,
    several_servers_write_one_anchor_per_minute,
    a_place_that_was_emptied_is_an_error_until_that_is_accepted,
    signed_anchors_cannot_be_replaced,
    a_restore_takes_its_anchors_with_it,
    a_server_that_stops_writes_a_last_anchor,
    a_place_that_is_away_only_delays_anchors,
    old_anchors_are_thinned_unless_they_are_evidence,
);

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// A ledger whose entries all belong to one fundraiser.
struct Ledger<'a> {
    world: &'a World,
    fundraiser: Value,
    entries: i64,
}

impl<'a> Ledger<'a> {
    async fn new(world: &'a World) -> Ledger<'a> {
        let organizer = Organizer::new(world).await;
        Ledger {
            world,
            fundraiser: organizer.create_fundraiser(json!({})).await,
            entries: 0,
        }
    }

    /// Records donations. `source` distinguishes them from others that took the same numbers.
    async fn donate(&mut self, source: &str, count: i64) {
        for _ in 0..count {
            self.entries += 1;
            let id = format!("{source}-{}", self.entries);
            donate(self.world, &self.fundraiser, &id, "ana", 100)
                .await
                .unwrap();
        }
    }

    /// Records donations, and an anchor a minute later.
    async fn donate_and_anchor(&mut self, source: &str, count: i64) {
        self.donate(source, count).await;
        self.world.app.clock.advance(MINUTE);
        self.world.app.giving.anchors.update().await.unwrap();
    }

    /// Removes the last entries and everything that was written with them, as in an older copy of the database.
    async fn cut(&mut self, count: i64) {
        self.entries -= count;
        let last = self.entries;
        for statement in [
            format!("delete from ledger_postings where sequence > {last}"),
            format!("delete from ledger_entries where sequence > {last}"),
            format!("delete from outbox where sequence > (select events - {count} from ledger_head)"),
            format!(
                "update ledger_head set entries = {last}, events = events - {count}, \
                 hash = (select hash from ledger_entries where sequence = {last})"
            ),
            "delete from ledger_checkpoint".to_owned(),
            format!(
                "update ledger_anchor set entries = {last}, hash = (select hash from ledger_entries where sequence = {last})"
            ),
        ] {
            self.world.execute_owned(statement).await;
        }
    }
}

/// Runs a command that fails, and returns its standard error.
fn fail(world: &World, arguments: &[&str]) -> String {
    let output = command(world).args(arguments).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    error
}

/// The files of the anchors of this store, oldest first.
async fn anchor_files(world: &World, blobs: &Path) -> Vec<PathBuf> {
    let store = store_id(world).await;
    let files = fs::read_dir(blobs.join(folder(store))).into_iter().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

async fn anchors(world: &World) -> Vec<Anchor> {
    let files = anchor_files(world, &world.data().join("blobs")).await;
    let read = |path: &PathBuf| Anchor::from_json(&fs::read(path).unwrap()).unwrap();
    files.iter().map(read).collect()
}

async fn anchored_entries(world: &World) -> Vec<i64> {
    anchors(world).await.iter().map(|anchor| anchor.entries).collect()
}

async fn store_id(world: &World) -> Uuid {
    world.app.db.identity(0).await.unwrap()
}

async fn a_ledger_that_is_cut_fails_the_check_until_the_loss_is_accepted(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 2).await;
    ledger.donate_and_anchor("first", 3).await;
    let checked = run(world, &["check"]);
    assert_eq!(
        (&checked["entries"], &checked["anchors"]),
        (&json!(5), &json!(2)),
        "{checked}"
    );
    let error = fail(world, &["anchor", "accept-loss"]);
    assert!(error.contains("no loss to accept"), "{error}");

    ledger.cut(3).await;
    for arguments in [&["check"][..], &["check", "--full"]] {
        let error = fail(world, arguments);
        let last = anchors(world).await.remove(1);
        for expected in [
            "3 entries at the end of the ledger are missing: it ends with entry 2 of ",
            &format!(
                "but the anchor of {} names entry 5",
                platform::clock::rfc3339(last.at)
            ),
            "causeway anchor accept-loss",
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }
    assert_eq!(
        run(world, &["anchor", "accept-loss"]),
        json!({"firstEntry": 3, "lastEntry": 5, "entries": 3, "places": []})
    );
    let audit = "select act || ': ' || detail from audit where subject = 'ledger'";
    assert_eq!(world.texts(audit).await, ["anchor accept-loss: entries 3 to 5"]);
    run(world, &["check"]);
    // Nothing else is accepted: not other entries, and not by someone without the secret.
    ledger.donate_and_anchor("second", 5).await;
    run(world, &["check"]);
    ledger.cut(1).await;
    assert!(fail(world, &["check"]).contains("1 entry at the end of the ledger is missing"));
    world
        .execute(
            "update accepted_anchors set entries = 7, hash = (select hash from ledger_entries where sequence = 6)",
        )
        .await;
    assert!(fail(world, &["check"]).contains("are missing"));
}

async fn entries_in_place_of_lost_ones_are_noticed(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 2).await;
    ledger.donate_and_anchor("first", 3).await;
    ledger.cut(2).await;
    ledger.donate_and_anchor("second", 9).await;
    // The new entries have valid hashes and anchors of their own.
    assert_eq!(anchored_entries(world).await, [2, 5, 12]);
    for arguments in [&["check"][..], &["check", "--full"]] {
        let error = fail(world, arguments);
        assert!(
            error.contains("entries from 3 to 5 are missing or replaced since "),
            "{error}"
        );
    }
    run(world, &["anchor", "accept-loss"]);
    assert_eq!(run(world, &["check"])["entries"], 12);
}

async fn a_running_server_notices_that_its_ledger_was_cut(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 3).await;
    assert_eq!(world.app.giving.anchors.status().missing, 0);
    ledger.cut(1).await;
    world.app.giving.anchors.update().await.unwrap();
    assert_eq!(world.app.giving.anchors.status().missing, 1);
    // So does one that starts afterwards, and both go on serving.
    let server = Server::start(world, "restarted");
    wait_until("the loss is logged", || {
        server
            .log()
            .contains("1 entry at the end of the ledger is missing")
    });
    assert_eq!(server.status("/healthz"), 200);
    ledger.donate_and_anchor("second", 4).await;
    assert!(world.app.giving.anchors.status().missing > 0);
    run(world, &["anchor", "accept-loss"]);
    world.app.giving.anchors.update().await.unwrap();
    assert_eq!(world.app.giving.anchors.status().missing, 0);
}

/// Starts a server and stops it once it answers.
fn serve_briefly(world: &World, name: &str) {
    let server = Server::start(world, name);
    assert_eq!(server.status("/healthz"), 200);
    server.stop();
}

/// The real accident, on SQLite: the file is replaced by an older copy.
#[test]
fn an_older_copy_of_the_database_fails_the_check() {
    run_story(Database::Sqlite, async |world: &World| {
        let record = |id: &str| {
            let arguments = ["donation", "record", "--nonprofit", RED_CROSS, "--amount", "500"];
            run(
                world,
                &[&arguments[..], &["--donor", "ana", "--external-id", id]].concat(),
            )
        };
        world.load_demo().await;
        world.app.db.close().await;
        record("p-1");
        serve_briefly(world, "first");
        let (file, copy) = (world.data().join("causeway.db"), world.data().join("copy.db"));
        fs::copy(&file, &copy).unwrap();
        record("p-2");
        record("p-3");
        serve_briefly(world, "second");
        run(world, &["check"]);
        fs::copy(&copy, &file).unwrap();
        let error = fail(world, &["check"]);
        assert!(
            error.contains("2 entries at the end of the ledger are missing: it ends with entry 1 of "),
            "{error}"
        );
        let server = Server::start(world, "third");
        wait_until("the loss is logged", || server.log().contains("are missing"));
        assert_eq!(server.status("/healthz"), 200);
        server.stop();
        run(world, &["anchor", "accept-loss"]);
        run(world, &["check"]);
    });
}

/// A second app with a second place for anchors.
async fn with_second_place(world: &World, place: &Path) -> App {
    let mut config = world.app.config.clone();
    config.anchors.second_url = place.to_str().unwrap().to_owned();
    App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap()
}

async fn a_ledger_that_is_cut_is_noticed_with_the_second_place_alone(world: &World) {
    let mut ledger = Ledger::new(world).await;
    let second = world.data().join("elsewhere");
    let app = with_second_place(world, &second).await;
    ledger.donate("first", 3).await;
    app.giving.anchors.update().await.unwrap();
    assert_eq!(anchored_entries(world).await, [3]);
    assert_eq!(anchor_files(world, &second).await.len(), 1);
    ledger.cut(1).await;
    fs::remove_dir_all(world.data().join("blobs/anchors")).unwrap();
    let error = fail(world, &["check"]);
    assert!(
        error.contains("the anchors in the blob store are gone: it had one of entry 3"),
        "{error}"
    );
    let loss = app
        .giving
        .anchors
        .find_loss(app.giving.anchors.list().await.unwrap())
        .await
        .unwrap();
    assert_eq!(loss.unwrap().range(), (3, 3));
    app.db.close().await;
}

async fn anchors_of_another_store_are_not_accepted(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 2).await;
    let own = anchors(world).await.remove(0);
    let other = Anchor {
        store: Uuid::from_u128(7),
        entries: 100,
        ..own.clone()
    };
    // One of a store that shares the blob store says nothing about ours.
    let blobs = world.data().join("blobs");
    let theirs = blobs.join(folder(other.store));
    fs::create_dir_all(&theirs).unwrap();
    fs::write(theirs.join(other.name().file_name()), other.to_json()).unwrap();
    assert_eq!(run(world, &["check"])["anchors"], 1);
    // One among ours is an error, and so is a damaged one.
    let ours = blobs.join(folder(own.store)).join(other.name().file_name());
    for (content, expected) in [
        (other.to_json(), "belongs to another store"),
        (own.to_json(), "is damaged"),
        (b"{".to_vec(), "is damaged"),
    ] {
        fs::write(&ours, content).unwrap();
        let error = fail(world, &["check"]);
        assert!(error.contains(expected), "{error}");
    }
}

async fn several_servers_write_one_anchor_per_minute(world: &World) {
    let mut ledger = Ledger::new(world).await;
    let (other, _) = world.restart().await;
    world.app.giving.anchors.update().await.unwrap();
    assert!(anchors(world).await.is_empty());
    for expected in [&[2][..], &[2, 4], &[2, 4, 6]] {
        ledger.donate("first", 1).await;
        world.app.clock.advance(MINUTE);
        ledger.donate("first", 1).await;
        let (first, second) = tokio::join!(world.app.giving.anchors.update(), other.giving.anchors.update());
        first.and(second).unwrap();
        assert_eq!(anchored_entries(world).await, expected);
    }
    // Nothing is written while the ledger does not grow.
    world.app.clock.advance(MINUTE);
    world.app.giving.anchors.update().await.unwrap();
    assert_eq!(anchors(world).await.len(), 3);
    assert_eq!(other.giving.anchors.status().failing_places, 0);
    // A new second place gets an anchor at the next start.
    let second = world.data().join("elsewhere");
    let app = with_second_place(world, &second).await;
    app.giving.anchors.update().await.unwrap();
    assert_eq!(anchor_files(world, &second).await.len(), 1);
    assert_eq!(app.giving.anchors.status().failing_places, 0);
    app.db.close().await;
    other.db.close().await;
}

async fn a_place_that_was_emptied_is_an_error_until_that_is_accepted(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 2).await;
    ledger.donate_and_anchor("first", 3).await;
    run(world, &["check"]);
    fs::remove_dir_all(world.data().join("blobs/anchors")).unwrap();
    let error = fail(world, &["check"]);
    let expected = "the anchors in the blob store are gone: it had one of entry 5, and now it has none";
    assert!(error.contains(expected), "{error}");
    let doctor = command(world).args(["doctor"]).output().unwrap();
    let report = String::from_utf8(doctor.stdout).unwrap();
    assert!(report.contains(expected), "{report}");
    // A server that starts notices it, also when it writes a new anchor.
    let (restarted, _) = world.restart().await;
    world.app.clock.advance(MINUTE);
    restarted.giving.anchors.update().await.unwrap();
    assert_eq!(anchored_entries(world).await, [5]);
    for _ in 0..2 {
        world.app.clock.advance(MINUTE);
        restarted.giving.anchors.update().await.unwrap();
        assert_eq!(restarted.giving.anchors.status().failing_places, 1);
    }
    let error = fail(world, &["check"]);
    assert!(
        error.contains("anchors in the blob store were gone on "),
        "{error}"
    );
    let accepted = run(world, &["anchor", "accept-loss"]);
    assert_eq!(
        (&accepted["entries"], accepted["places"].as_array().unwrap().len()),
        (&json!(0), 1)
    );
    run(world, &["check"]);
    restarted.giving.anchors.update().await.unwrap();
    assert_eq!(restarted.giving.anchors.status().failing_places, 0);
    restarted.db.close().await;
}

async fn signed_anchors_cannot_be_replaced(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 1).await;
    let (key, other) = (world.data().join("key"), world.data().join("other"));
    let created = run(world, &["anchor", "key", key.to_str().unwrap()]);
    let public = created["publicKey"].as_str().unwrap();
    assert_eq!(
        run(world, &["anchor", "key", key.to_str().unwrap()])["publicKey"],
        public
    );
    run(world, &["anchor", "key", other.to_str().unwrap()]);
    let app = |signing: Option<&Path>, public: &str| {
        let mut config = world.app.config.clone();
        config.anchors.signing_key_file = signing.map_or(String::new(), |path| path.display().to_string());
        public.clone_into(&mut config.anchors.public_key);
        App::build_with_clock(config, world.app.clock.clone())
    };
    let check = |public: &str, key: &str| {
        let mut check = command(world);
        check.arg("check").env("CAUSEWAY_ANCHORS__PUBLIC_KEY", public);
        let output = check
            .env("CAUSEWAY_ANCHORS__SIGNING_KEY_FILE", key)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert!(check(public, "").1.contains("is not signed with the key"));
    // The machine with the key signs the last entry at once; one without it writes nothing.
    let (signer, verifier) = (
        app(Some(&key), "").await.unwrap(),
        app(None, public).await.unwrap(),
    );
    world.app.clock.advance(MINUTE);
    verifier.giving.anchors.update().await.unwrap();
    assert_eq!(anchors(world).await.len(), 1);
    signer.giving.anchors.update().await.unwrap();
    assert_eq!(anchors(world).await.len(), 2);
    assert!(check(public, "").0);
    ledger.donate("first", 1).await;
    world.app.clock.advance(MINUTE);
    verifier.giving.anchors.update().await.unwrap();
    assert!(verifier.giving.anchors.write_now().await.is_err());
    assert_eq!(anchors(world).await.len(), 2);
    signer.giving.anchors.write_now().await.unwrap();
    assert!(check(public, "").0);
    // An anchor of another key is an error, and so is an unsigned one in place of the last.
    let last = anchor_files(world, &world.data().join("blobs"))
        .await
        .pop()
        .unwrap();
    let forger = app(Some(&other), "").await.unwrap();
    let own = fs::read(&last).unwrap();
    let anchor = Anchor::from_json(&own).unwrap();
    fs::write(
        &last,
        Anchor {
            signature: None,
            ..anchor
        }
        .to_json(),
    )
    .unwrap();
    assert!(check(public, "").1.contains("is not signed with the key"));
    fs::remove_file(&last).unwrap();
    forger.giving.anchors.write_now().await.unwrap_err();
    ledger.donate("first", 1).await;
    world.app.clock.advance(MINUTE);
    assert!(
        check(public, other.to_str().unwrap())
            .1
            .contains("anchors.public_key is not that")
    );
    // The forger's look noticed that the last anchor was gone, which stays an error until an operator accepts it.
    fs::write(&last, own).unwrap();
    assert!(
        check(public, "")
            .1
            .contains("anchors in the blob store were gone on ")
    );
    for app in [signer, verifier, forger] {
        app.db.close().await;
    }
}

async fn a_restore_takes_its_anchors_with_it(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 2).await;
    let backup = world.data().join("backup");
    let taken = run(world, &["backup", backup.to_str().unwrap(), "--verify"]);
    assert_eq!(taken["anchors"], 1);
    let restored = world.data().join("restored");
    let mut command = super::binary();
    command
        .args(["restore", backup.to_str().unwrap(), "--json", "--data"])
        .arg(&restored);
    let scratch = match world.app.config.database.exposed_url() {
        Some(url) => Some(platform::db::ScratchDatabase::create(url).await.unwrap()),
        None => None,
    };
    if let Some(scratch) = &scratch {
        command.env("CAUSEWAY_DATABASE_URL", &scratch.url);
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&value["anchors"], &value["check"]["anchors"]),
        (&json!(1), &json!(1))
    );
    if let Some(scratch) = scratch {
        scratch.remove().await.unwrap();
    }
}

async fn a_server_that_stops_writes_a_last_anchor(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate("first", 1).await;
    let server = Server::start(world, "server");
    let blobs = world.data().join("blobs");
    let folder = blobs.join(folder(store_id(world).await));
    wait_until("the first anchor is written", || {
        fs::read_dir(&folder).is_ok_and(|files| files.count() == 1)
    });
    assert_eq!(server.status("/healthz"), 200);
    // Within the same minute.
    ledger.donate("first", 2).await;
    server.stop();
    assert_eq!(anchored_entries(world).await, [1, 3]);
}

async fn a_place_that_is_away_only_delays_anchors(world: &World) {
    let mut ledger = Ledger::new(world).await;
    let second = world.data().join("elsewhere");
    fs::write(&second, "not a folder").unwrap();
    let app = with_second_place(world, &second).await;
    ledger.donate("first", 2).await;
    for minute in 1..4 {
        world.app.clock.advance(MINUTE);
        let error = app.giving.anchors.update().await.unwrap_err();
        assert!(format!("{error:#}").contains("anchors.second_url"), "{error:#}");
        assert!(app.giving.anchors.status().age >= minute * MINUTE);
        // The other place gets its anchors, and donations are recorded.
        ledger.donate("first", 1).await;
    }
    assert_eq!(anchored_entries(world).await, [2, 3, 4]);
    fs::remove_file(&second).unwrap();
    world.app.clock.advance(MINUTE);
    app.giving.anchors.update().await.unwrap();
    assert!(app.giving.anchors.status().age < MINUTE);
    assert_eq!(anchor_files(world, &second).await.len(), 1);
    app.db.close().await;
}

async fn old_anchors_are_thinned_unless_they_are_evidence(world: &World) {
    let mut ledger = Ledger::new(world).await;
    ledger.donate_and_anchor("first", 1).await;
    ledger.donate_and_anchor("first", 1).await;
    ledger.donate_and_anchor("first", 1).await;
    assert_eq!(world.app.giving.anchors.thin().await.unwrap(), 0);
    world.app.clock.advance(3 * DAY);
    ledger.donate_and_anchor("first", 1).await;
    // Midnight may have passed between the first anchors.
    let removed = world.app.giving.anchors.thin().await.unwrap();
    assert!((1..=2).contains(&removed), "{removed}");
    let kept = anchored_entries(world).await;
    assert!(kept.ends_with(&[3, 4]), "{kept:?}");
    run(world, &["check"]);
    // An anchor of entries that are gone stays, however old it is.
    let files = anchor_files(world, &world.data().join("blobs")).await.len();
    ledger.cut(2).await;
    for _ in 0..3 {
        ledger.donate_and_anchor("second", 1).await;
    }
    world.app.clock.advance(3 * DAY);
    ledger.donate_and_anchor("second", 1).await;
    world.app.giving.anchors.thin().await.unwrap();
    let kept = anchored_entries(world).await;
    assert!(kept[..files].ends_with(&[3, 4]), "{kept:?}");
    assert!(fail(world, &["check"]).contains("entries from "));
}
