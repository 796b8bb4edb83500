//! 0 done, 1 failed, 2 called wrongly; and help that shows how.

use super::Shell;
use crate::files::{bmf, bodies};
use std::process::{Command, Stdio};

/// Nobody waits long for a store that is not there.
const QUICK: &str = "[database]\nacquire_timeout = 0.2\n";

#[test]
fn every_command_shows_an_example_in_its_help() {
    let shell = Shell::new();
    for command in [
        "",
        "serve",
        "import irs",
        "import nonprofits",
        "generate",
        "account create",
        "key create",
        "key list",
        "key revoke",
        "key block",
        "key unblock",
        "limit set",
        "check",
    ] {
        let arguments: Vec<_> = command
            .split(' ')
            .filter(|word| !word.is_empty())
            .chain(["--help"])
            .collect();
        let help = shell.run(0, &arguments).out;
        assert!(help.contains("Example:\n  "), "{command}: {help}");
        assert!(help.contains("causeway"), "{command}");
    }
}

#[test]
fn a_command_that_is_called_wrongly_ends_with_two() {
    let shell = Shell::new();
    for arguments in [
        &["no-such-command"][..],
        &["import"],
        &["import", "irs"],
        &["import", "irs", "eo.csv", "--no-such-flag"],
        &["generate"],
        &["generate", "--count", "many"],
        &["generate", "--count", "999999999999"],
        &["account", "create"],
        &["key", "create", "--account", "ada"],
        &["key", "create", "--account", "ada", "--kind", "secret"],
        &["key", "revoke", "no-uuid"],
        &["search"],
        &["search", ""],
        &["search", "  "],
        &["search", "shelter", "--take", "0"],
        &["limit", "set", "019a8f00-0000-7000-8000-000000000000"],
        &["limit", "set", "019a8f00-0000-7000-8000-000000000000", "speed=5"],
        &[
            "limit",
            "set",
            "019a8f00-0000-7000-8000-000000000000",
            "search=-5",
        ],
    ] {
        let done = shell.run(2, arguments);
        assert!(done.out.is_empty() && !done.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_fault() {
    let shell = Shell::new();
    shell.write("eo.csv", bmf(&bodies(50)));
    shell.run(0, &["import", "irs", "eo.csv"]);
    let data = shell.data().join("data");
    for arguments in [
        &["search", "--explain", "shelter"][..],
        &["check"],
        &["check", "--json"],
        &["donation", "export"],
        &["donation", "export", "--csv"],
        &["generate", "--count", "50"],
        &["openapi"],
    ] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_causeway"))
            .args(arguments)
            .args(["--data", data.to_str().unwrap()])
            .env_remove("CAUSEWAY_DATABASE_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(process.stdout.take());
        let done = process.wait_with_output().unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert_eq!(
            (done.status.code(), told.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn settings_that_cannot_be_used_are_told_in_two_lines() {
    let shell = Shell::new();
    shell.write("bad.toml", "listen = \"nowhere\"\n");
    shell.write("quick.toml", QUICK);
    for arguments in [
        &["check", "--config", "missing.toml"][..],
        &["check", "--config", "bad.toml"],
        &["check", "--database-url", "mysql://localhost/x"],
        &[
            "check",
            "--config",
            "quick.toml",
            "--database-url",
            "postgres://127.0.0.1:1/x",
        ],
        &["serve", "--listen", "256.0.0.1:80"],
    ] {
        shell.fail(arguments);
    }
}

#[test]
fn a_password_in_the_address_of_the_store_is_never_printed() {
    let shell = Shell::new();
    shell.write("quick.toml", QUICK);
    for url in [
        "postgres://ada:opensesame@127.0.0.1:1/x",
        "mysql://ada:opensesame@127.0.0.1/x",
        "postgres://ada:opensesame@[/x",
    ] {
        let fault = shell.fail(&["check", "--config", "quick.toml", "--database-url", url]);
        assert!(!fault.contains("opensesame"), "{fault}");
    }
}

#[test]
fn generate_writes_the_same_file_for_the_same_seed() {
    let shell = Shell::new();
    let one = shell.run(0, &["generate", "--count", "50", "--seed", "3"]).out;
    assert_eq!(one.lines().count(), 51);
    assert_eq!(
        shell.run(0, &["generate", "--count", "50", "--seed", "3"]).out,
        one
    );
    assert_ne!(
        shell.run(0, &["generate", "--count", "50", "--seed", "4"]).out,
        one
    );
}

#[test]
fn the_description_of_the_interface_is_printed_as_it_is_committed() {
    assert_eq!(
        Shell::new().run(0, &["openapi"]).out,
        causeway::http::openapi::text()
    );
}
