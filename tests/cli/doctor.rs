//! `causeway doctor`

use super::{Cli, binary};
use crate::cli::server::Server;
use crate::world::World;
use platform::db::Db;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

on_both_databases!(
    a_healthy_store_has_no_problems,
    a_database_of_a_newer_version_is_a_problem,
    a_wrong_secret_is_a_problem,
    a_snapshot_from_after_a_restore_is_a_problem,
    a_running_server_is_found,
);

/// Runs `causeway doctor` on the store of a world.
fn examine(world: &World, expected: i32, variables: &[(&str, &str)]) -> Value {
    let mut command = binary();
    command
        .args(["doctor", "--json", "--data"])
        .arg(world.data())
        .env("CAUSEWAY_LISTEN", "127.0.0.1:9")
        .stdin(Stdio::null());
    if let Some(url) = world.app.config.database.exposed_url() {
        command.env("CAUSEWAY_DATABASE_URL", url);
    }
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(expected), "{stdout}");
    serde_json::from_str(&stdout).unwrap()
}

/// The finding about a subject, as `status: seen`, and its remedy.
fn finding(report: &Value, subject: &str) -> (String, String) {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["subject"] == subject);
    let found = found.unwrap_or_else(|| panic!("nothing about {subject}: {report}"));
    let text = |name: &str| found[name].as_str().unwrap().to_owned();
    (format!("{}: {}", text("status"), text("seen")), text("remedy"))
}

fn assert_found(report: &Value, subject: &str, expected: &str, remedy: &str) {
    let (seen, advice) = finding(report, subject);
    assert!(seen.contains(expected), "{subject}: {seen}");
    assert!(advice.contains(remedy), "{subject}: {advice}");
}

async fn a_healthy_store_has_no_problems(world: &World) {
    world.load_demo().await;
    let report = examine(world, 0, &[]);
    assert_eq!(report["problems"], 0, "{report}");
    // On a slow machine, the database may answer so slowly that the command warns.
    let name = match &world.app.db {
        Db::Sqlite { .. } => ": SQLite",
        Db::Postgres(_) => ": PostgreSQL",
    };
    assert_found(&report, "store", name, "");
    assert_found(&report, "secret", "is the secret of this store", "");
    assert_found(&report, "snapshot", "revision 1, built", "");
    assert_found(&report, "blobs", "can be written and read", "");
    assert_found(&report, "server", "no server listens", "");
    assert_found(&report, "backups", "warning: no backup", "causeway backup");
    assert_found(&report, "lists", "every required list is recent", "");
    if matches!(world.app.db, Db::Postgres(_)) {
        assert_found(&report, "clock", "agrees with PostgreSQL", "");
    }
    for check in report["checks"].as_array().unwrap() {
        assert_eq!(check["status"] == "ok", check["remedy"] == "", "{check}");
    }
    let backup = tempfile::tempdir().unwrap();
    super::server::run(world, &["backup", backup.path().to_str().unwrap()]);
    let report = examine(world, 0, &[]);
    assert_found(&report, "backups", "ok: the last one was taken 0 minutes ago", "");
    let two_days_ago = "update backups set created_at = created_at - 200000000";
    world.execute(two_days_ago).await;
    assert_found(
        &examine(world, 0, &[]),
        "backups",
        "warning: the last one",
        "schedule",
    );
    let required = [("CAUSEWAY_ELIGIBILITY__REQUIRE", "irs_listed,sanctions")];
    let report = examine(world, 1, &required);
    let seen = "no nonprofit receives donations: sanctions";
    assert_found(&report, "lists", seen, "causeway import all");
}

async fn a_database_of_a_newer_version_is_a_problem(world: &World) {
    world
        .execute("update _sqlx_migrations set version = 9999 where version = 2")
        .await;
    let report = examine(world, 1, &[]);
    assert_found(
        &report,
        "store",
        "newer version of Causeway (migration 9999)",
        "run that version",
    );
    world
        .execute("delete from _sqlx_migrations where version = 9999")
        .await;
    let report = examine(world, 0, &[]);
    assert_found(
        &report,
        "store",
        "migrations that have not run yet: 1",
        "restart the server",
    );
    let applied = world
        .texts("select cast(count(*) as text) from _sqlx_migrations where version = 2")
        .await;
    assert_eq!(applied, ["0"], "doctor ran a migration");
}

async fn a_wrong_secret_is_a_problem(world: &World) {
    let path = &world.app.config.secret_file;
    fs::write(path, "ab".repeat(32)).unwrap();
    assert_found(
        &examine(world, 1, &[]),
        "secret",
        "is not the secret",
        "restore the right one",
    );
    fs::remove_file(path).unwrap();
    assert_found(
        &examine(world, 1, &[]),
        "secret",
        "is missing",
        "restore it from a backup",
    );
    assert!(!path.exists());
}

async fn a_snapshot_from_after_a_restore_is_a_problem(world: &World) {
    world.load_demo().await;
    let [snapshot] = world.snapshots().try_into().unwrap();
    let later = snapshot.with_file_name("1.snapshot");
    world
        .execute("update revisions set revision = 2 where topic = 'directory'")
        .await;
    assert_found(
        &examine(world, 0, &[]),
        "snapshot",
        "up to revision 2 are applied",
        "",
    );
    fs::write(later, "damaged").unwrap();
    let report = examine(world, 1, &[]);
    assert_found(&report, "snapshot", "is unusable", "start the server");
}

async fn a_running_server_is_found(world: &World) {
    world.load_demo().await;
    let server = Server::start(world, "server");
    let address = server.address.clone();
    let report = examine(world, 0, &[("CAUSEWAY_LISTEN", &address)]);
    assert_found(&report, "server", &format!("ready on {address}"), "");
}

#[test]
fn doctor_works_before_the_first_start_and_creates_nothing() {
    let cli = Cli::new();
    let output = cli.run(0, &["doctor"]);
    assert!(
        output.stdout.contains("there is no data folder"),
        "{}",
        output.stdout
    );
    assert!(!cli.path().join("data").exists());
}

#[test]
fn problems_are_listed_with_remedies_even_if_the_server_does_not_start() {
    let cli = Cli::new();
    cli.run(0, &["account", "create", "ada"]);
    let data = cli.path().join("data");
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let output = cli.run(1, &["doctor"]);
    let remedy = format!("run: chmod 700 {}", data.display());
    assert!(output.stdout.contains("problem  permissions") && output.stdout.contains(&remedy));
    assert!(output.stderr.contains("problems: 1"), "{}", output.stderr);
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://nobody@{free}/nothing");
    let output = cli.run(1, &["doctor", "--database-url", &url]);
    assert!(output.stdout.contains("problem  store"), "{}", output.stdout);
    assert!(
        output.stdout.contains("the host and the port in database_url"),
        "{}",
        output.stdout
    );

    cli.write("own.toml", "[limits]\nserch = 7\n");
    let output = cli.run(1, &["doctor", "--config", "own.toml"]);
    assert!(output.stdout.contains("problem  settings"), "{}", output.stdout);
    assert!(
        output.stdout.contains("did you mean limits.search?"),
        "{}",
        output.stdout
    );

    cli.write(
        "own.toml",
        format!("public_url = \"https://giving.example.org\"\n[mail]\nsmtp_url = \"smtp://{free}\"\n"),
    );
    let output = cli.run(1, &["doctor", "--config", "own.toml"]);
    assert!(output.stdout.contains("problem  email"), "{}", output.stdout);
    assert!(output.stdout.contains("warning  public_url"), "{}", output.stdout);
    assert!(
        output.stdout.contains("set serve.trusted_proxies"),
        "{}",
        output.stdout
    );

    fs::write(data.join("causeway.db"), "no database").unwrap();
    let output = cli.run(1, &["doctor"]);
    assert!(output.stdout.contains("problem  store"), "{}", output.stdout);
}

#[test]
fn a_mail_server_that_greets_is_ok() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"220 mail.example.org ESMTP\r\n").unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stream.try_clone().unwrap()));
        while let Some(Ok(line)) = lines.next() {
            let answer: &[u8] = match line.get(..4) {
                Some("QUIT") => b"221 bye\r\n",
                _ => b"250 mail.example.org\r\n",
            };
            if stream.write_all(answer).is_err() {
                return;
            }
        }
    });
    let cli = Cli::new();
    cli.write("own.toml", format!("[mail]\nsmtp_url = \"smtp://{address}\"\n"));
    let output = cli.run(0, &["doctor", "--config", "own.toml"]);
    assert!(
        output.stdout.contains("the mail server answers"),
        "{}",
        output.stdout
    );
    server.join().unwrap();
}

#[test]
fn a_foreign_program_on_a_port_is_named() {
    crate::world::run_story(crate::world::Database::Sqlite, async |world: &World| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming().take(2) {
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
                let mut stream = stream.unwrap();
                // Closing a connection with unread bytes would reset it.
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer);
            }
        });
        let variables = [
            ("CAUSEWAY_LISTEN", address.as_str()),
            ("CAUSEWAY_METRICS_LISTEN", address.as_str()),
        ];
        let report = examine(world, 1, &variables);
        assert_found(
            &report,
            "server",
            "another program, or an older version, listens on",
            "choose another address",
        );
        assert_found(&report, "metrics", "another program listens on", "metrics_listen");
    });
}

#[test]
fn a_postgres_that_refuses_says_why_once() {
    crate::world::run_story(crate::world::Database::Postgres, async |world: &World| {
        let url = world.app.config.database.exposed_url().unwrap().to_owned();
        let missing = format!("{url}-missing");
        let report = examine(world, 1, &[("CAUSEWAY_DATABASE_URL", &missing)]);
        let (seen, remedy) = finding(&report, "store");
        assert_eq!(seen.matches("does not exist").count(), 1, "{seen}");
        assert!(remedy.contains("create the database"), "{remedy}");
        let closed = "postgres://nobody@127.0.0.1:9/nothing";
        let report = examine(world, 1, &[("CAUSEWAY_DATABASE_URL", closed)]);
        let (seen, remedy) = finding(&report, "store");
        assert!(seen.contains("cannot be reached"), "{seen}");
        assert!(remedy.contains("the host and the port"), "{remedy}");
    });
}
