//! An older copy of the database is restored, and then another import gets the number of the lost one: a server shows the
//! restored database, and not the snapshot of the lost import that is still in its data folder.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{Instance, eventually};
use crate::server::Server;
use std::fs;

#[test]
fn a_server_follows_a_restored_database_on_sqlite() {
    restore_and_import(Database::Sqlite);
}

#[test]
fn a_server_follows_a_restored_database_on_postgres() {
    restore_and_import(Database::Postgres);
}

fn restore_and_import(database: Database) {
    if !database.is_available() {
        return;
    }
    // First with snapshots, then with overlays.
    for overlay_limit in [100, 5_000] {
        let instance = Instance::new(database, overlay_limit);
        let files = Files::new(instance.folder.path(), 400);
        let eins = files.sample(20);
        let server = instance.serve();
        let [facts_a, facts_b] = instance.learn_facts(&server, &files, &eins);
        drop(server);
        instance.database.save();
        let server = instance.serve();
        let (_, lost_key) = instance.create_key();
        instance.import(&files.a);
        instance.wait_for_facts(&server, &eins, &facts_a);
        assert_eq!(status(&server, &lost_key), 404, "the key works");
        let imports = instance.database.imports();
        let server = restore(&instance, server);
        instance.wait_for_facts(&server, &eins, &facts_b);
        assert_refused(&server, &lost_key);
        let (_, new_key) = instance.create_key();
        let renamed = rename_all(&instance, &files);
        assert_eq!(instance.database.imports(), imports);
        eventually("the server shows the other import", || {
            let facts = instance.facts(&server, &renamed);
            facts.contains("Renamed")
        });
        assert_eq!(status(&server, &new_key), 404, "the key works");
        assert_refused(&server, &lost_key);
        instance.check();
    }
}

/// Restores the database under a running server, or, if it is in its data folder, while the server is stopped.
fn restore(instance: &Instance, server: Server) -> Server {
    if instance.database.url().is_some() {
        instance.database.restore();
        server
    } else {
        drop(server);
        instance.database.restore();
        instance.serve()
    }
}

/// Imports a file in which every nonprofit has another name, and returns the EIN of one.
fn rename_all(instance: &Instance, files: &Files) -> String {
    let text = fs::read_to_string(&files.b).expect("a file");
    let mut lines = text.lines();
    let mut renamed = vec![lines.next().expect("a header").to_owned()];
    let mut last = String::new();
    for line in lines {
        let (ein, rest) = line.split_once(',').expect("an EIN");
        let (_, rest) = rest.split_once(',').expect("a name without commas");
        renamed.push(format!("{ein},RENAMED HOUSE {ein},{rest}"));
        ein.clone_into(&mut last);
    }
    let path = instance.folder.path().join("renamed.csv");
    fs::write(&path, renamed.join("\r\n") + "\r\n").expect("a writable file");
    instance.import(&path);
    last
}

/// The status of a request about a nonprofit that does not exist. The key is checked first.
fn status(server: &Server, key: &str) -> u16 {
    server.get(&format!("/v0.2/nonprofit/nobody?apiKey={key}")).status
}

fn assert_refused(server: &Server, key: &str) {
    eventually("the lost key is refused", || status(server, key) == 401);
}
