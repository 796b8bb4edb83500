//! A server starts while PostgreSQL is down: it reads from its last snapshot with the keys that it knew, and is complete
//! when PostgreSQL is back.

use crate::client::{self, Response};
use crate::database::Database;
use crate::files::{self, Files};
use crate::instance::{Instance, eventually, stderr_of};
use crate::ledger::Workload;
use crate::postgres_server::PostgresServer;
use crate::proxy::Proxy;
use crate::server::Server;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// How long a start waits for PostgreSQL.
const ACQUIRE_TIMEOUT: (&str, &str) = ("CAUSEWAY_DATABASE__ACQUIRE_TIMEOUT", "1");
/// Longer than a healthy database needs on any machine.
const PROBE_TIMEOUT: (&str, &str) = ("CAUSEWAY_DATABASE__PROBE_TIMEOUT", "10");
const ENVIRONMENT: [(&str, &str); 2] = [ACQUIRE_TIMEOUT, PROBE_TIMEOUT];

#[test]
fn a_server_starts_without_postgres_and_is_complete_when_it_is_back() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let mut workload = Workload::new(Instance::on_server(&postgres, 1_000));
    let rows = files::generated(200, 7);
    let eins = rows[1..11].iter().filter_map(|row| row.split_once(','));
    let eins: Vec<String> = eins.map(|(ein, _)| ein.to_owned()).collect();
    let (revoked_id, revoked) = workload.instance.create_key();
    workload.instance.run(&["key", "revoke", &revoked_id]);
    let server = workload.instance.serve();
    workload.begin(server.address);
    let profile = workload.profile(&server);
    let facts = workload.instance.all_facts(&server, &eins);
    let search = format!("/v0.2/search/foundation?apiKey={}", workload.instance.key);
    let found = server.get(&search);
    assert_eq!(found.status, 200);
    let saved = saved_keys(&workload.instance);
    eventually("the keys are saved", || saved.exists());
    server.stop();
    let mode = fs::metadata(&saved).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    postgres.stop();
    let server = Server::start(&workload.instance, &ENVIRONMENT);
    assert_eq!(workload.instance.all_facts(&server, &eins), facts);
    assert_eq!(eins_of(&server.get(&search)), eins_of(&found));
    for path in ["/v0.2/causes", "/v0.2/browse/animals"] {
        let path = format!("{path}?apiKey={}", workload.instance.key);
        assert_eq!(server.get(&path).status, 200, "{path}");
    }
    for path in ["/", "/causes", "/search?q=foundation", &profile] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    let revoked = format!("/v0.2/causes?apiKey={revoked}");
    assert_eq!(server.get(&revoked).status, 401, "a revoked key stays revoked");
    assert_eq!(server.get("/healthz").status, 200);
    let degraded = server.get("/readyz");
    assert_eq!(
        (degraded.status, &degraded.json()["status"]),
        (200, &"degraded".into())
    );
    let not_ready = server.get("/readyz/write");
    assert_eq!(not_ready.status, 503);
    assert_eq!(not_ready.json()["reasons"][0]["reason"], "store_unavailable");
    let own = || client::get_with(server.address, "/v0.2/fundraisers", &workload.authorization);
    assert_eq!(own().expect("a response").status, 503);
    let created = workload.create(server.address, "away").expect("a response");
    assert_eq!(created.status, 503);

    postgres.resume();
    eventually("the server is ready", || {
        server.get("/readyz/write").status == 200
    });
    eventually("private keys work", || own().expect("a response").status == 200);
    let created = workload.create(server.address, "away").expect("a response");
    assert_eq!(created.status, 200, "{}", String::from_utf8_lossy(&created.body));
    workload.count_create();
    let (_, new) = workload.instance.create_key();
    let new = format!("/v0.2/causes?apiKey={new}");
    assert_eq!(server.get(&new).status, 200);
    assert_eq!(server.get(&revoked).status, 401);
    workload.verify(server.address);
    let files = Files::new(workload.instance.folder.path(), 800);
    workload.instance.import(&files.a);
    let revision = workload.instance.database.revision();
    server.wait_for_revision(&workload.instance.path(&files.sample(1)[0]), revision);
}

#[test]
fn saved_keys_are_refused_when_they_are_too_old() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let instance = Instance::on_server(&postgres, 1_000);
    let server = instance.serve();
    let saved = saved_keys(&instance);
    eventually("the keys are saved", || saved.exists());
    eventually("there is a snapshot", || server.get("/readyz").status == 200);
    server.stop();
    postgres.stop();
    let environment = [
        ACQUIRE_TIMEOUT,
        PROBE_TIMEOUT,
        ("CAUSEWAY_SERVE__MAX_STALE", "0.1"),
        ("CAUSEWAY_SERVE__MAX_STALE_READS", "0.1"),
    ];
    let server = Server::start(&instance, &environment);
    assert_eq!(server.get(&instance.path("nobody")).status, 503);
    assert_eq!(server.get("/").status, 200, "pages need no key");
    drop(server);

    // A damaged file is not used, and then nothing is left to start with.
    let mut bytes = fs::read(&saved).expect("a file");
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    fs::write(&saved, bytes).expect("a file");
    assert_no_start(&instance, &ENVIRONMENT, "could not connect to PostgreSQL");
}

#[test]
fn a_server_without_a_snapshot_or_with_a_refusing_postgres_does_not_start() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let instance = Instance::on_server(&postgres, 1_000);
    let server = instance.serve();
    eventually("the keys are saved", || saved_keys(&instance).exists());
    eventually("there is a snapshot", || server.get("/readyz").status == 200);
    server.stop();
    // A database that does not exist is a refusal, like a wrong password.
    let wrong = postgres.url().replace("/postgres", "/elsewhere");
    let environment = [ENVIRONMENT[0], ENVIRONMENT[1], ("CAUSEWAY_DATABASE_URL", &wrong)];
    assert_no_start(&instance, &environment, "elsewhere");

    postgres.stop();
    for entry in fs::read_dir(instance.data.join("directory")).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "snapshot") {
            fs::remove_file(path).expect("a file");
        }
    }
    assert_no_start(&instance, &ENVIRONMENT, "could not connect to PostgreSQL");
}

#[test]
fn a_server_stops_if_postgres_comes_back_as_another_store() {
    if !Database::Postgres.is_available() {
        return;
    }
    let instance = Instance::new(Database::Postgres, 1_000);
    let (proxy, proxy_url) = Proxy::new(&instance.database);
    let environment = [
        ENVIRONMENT[0],
        ENVIRONMENT[1],
        ("CAUSEWAY_DATABASE_URL", &proxy_url),
    ];
    let server = Server::start(&instance, &environment);
    eventually("the keys are saved", || saved_keys(&instance).exists());
    eventually("there is a snapshot", || server.get("/readyz").status == 200);
    server.stop();
    proxy.disconnect();
    let mut server = Server::start(&instance, &environment);
    assert_eq!(server.get(&instance.path("nobody")).status, 404);
    instance.database.change_identity();
    proxy.restore();
    eventually("the server exits", || server.exit_status().is_some());
    let status = server.exit_status().and_then(|status| status.code());
    assert_eq!(status, Some(1), "{}", server.log());
    assert!(
        server.log().contains("not the one that the saved snapshot"),
        "{}",
        server.log()
    );
}

/// The EINs of the nonprofits that a search found.
fn eins_of(response: &Response) -> Vec<String> {
    let body = response.json();
    let nonprofits = body["nonprofits"].as_array().expect("a list");
    nonprofits
        .iter()
        .map(|nonprofit| nonprofit["ein"].to_string())
        .collect()
}

fn saved_keys(instance: &Instance) -> PathBuf {
    instance.data.join("directory/keys")
}

/// Asserts that a start fails with two lines, the first of which contains this text.
fn assert_no_start(instance: &Instance, environment: &[(&str, &str)], expected: &str) {
    let mut command = instance.command(&["serve", "--empty", "--listen", "127.0.0.1:0"]);
    let output = command.envs(environment.iter().copied()).output();
    let output = output.expect("the binary runs");
    let error = stderr_of(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains(expected), "{error}");
}
