//! SIGHUP reloads limits and the log filter, and an invalid settings file changes nothing.

use crate::database::Database;
use crate::instance::{Instance, eventually};
use crate::server::Server;
use std::fs;

#[test]
fn a_reload_changes_limits_and_the_log_filter_and_a_bad_file_changes_nothing() {
    let instance = Instance::new(Database::Sqlite, 1_000);
    let file = instance.folder.path().join("own.toml");
    let write = |text: &str| fs::write(&file, text).expect("a writable file");
    write("[limits]\nsearch = 1\n[log]\nfilter = \"warn\"\n");
    let server = Server::start_with_file(&instance, &file, &[]);
    let path = format!("/v0.2/search/anything?apiKey={}", instance.key);
    let reload_until_logged = |text: &str| {
        let before = server.log().len();
        server.signal("HUP");
        eventually(text, || server.log()[before..].contains(text));
    };
    assert_eq!(server.get(&path).status, 200);
    assert_eq!(server.get(&path).status, 429);
    assert!(!server.log().contains(" INFO "), "{}", server.log());

    write("[limits]\nserch = 1000000\n[log]\nfilter = \"info\"\n");
    reload_until_logged("unknown setting limits.serch");
    write("[limits]\nsearch = \"many\"\n");
    reload_until_logged("limits.search");
    write("[limits]\nsearch = 1000000\n[log]\nfilter = \"causeway=loudest\"\n");
    reload_until_logged("log.filter is not a valid filter");
    assert_eq!(server.get(&path).status, 429, "the limit has not changed");
    assert!(!server.log().contains(" INFO "), "nor has the log filter");

    write("public_url = \"https://x.example\"\n[limits]\nsearch = 1000000\n[log]\nfilter = \"info\"\n");
    reload_until_logged("reloaded the settings");
    assert_eq!(server.get(&path).status, 200, "the limit has changed");
    let log = server.log();
    assert!(log.contains("setting=\"limits.search\""), "{log}");
    assert!(log.contains("settings=\"public_url\""), "needs a restart: {log}");
    assert!(
        !log.contains("x.example"),
        "values of other settings may be secrets"
    );
    assert!(!log.contains('\u{1b}'), "colors are for terminals: {log}");
    server.stop();
}
