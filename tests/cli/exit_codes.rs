//! Exit codes (0 success, 1 failure, 2 usage error) and help texts.

use super::{Cli, binary};
use crate::files::{bmf, nonprofit_rows};
use std::process::Stdio;

/// Settings with a short wait for a database that does not exist.
const SHORT_TIMEOUT: &str = "[database]\nacquire_timeout = 0.2\n";

#[test]
fn every_command_shows_an_example_in_its_help() {
    let mut commands = vec![Vec::new()];
    let mut examples = 0;
    while let Some(command) = commands.pop() {
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = Cli::new().run(0, &arguments).stdout;
        let has_example = help.contains("Example:\n  ") || help.contains("Examples:\n  ");
        let listed = help.split("Commands:\n").nth(1);
        assert!(has_example || listed.is_some(), "{command:?}: {help}");
        examples += usize::from(has_example);
        // The first word of each line up to an empty one.
        let names = listed
            .into_iter()
            .flat_map(str::lines)
            .take_while(|line| !line.is_empty());
        let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        for name in names.filter(|name| !name.is_empty() && *name != "help") {
            commands.push(command.iter().cloned().chain([name.to_owned()]).collect());
        }
    }
    assert!(examples > 50, "only {examples} commands were found");
}

#[test]
fn a_usage_error_exits_with_2() {
    let cli = Cli::new();
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
        let output = cli.run(2, arguments);
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    let cli = Cli::new();
    cli.write("eo.csv", bmf(&nonprofit_rows(50)));
    cli.run(0, &["import", "irs", "eo.csv"]);
    let data = cli.path().join("data");
    for arguments in [
        &["search", "--explain", "shelter"][..],
        &["check"],
        &["check", "--json"],
        &["donation", "export"],
        &["donation", "export", "--csv"],
        &["generate", "--count", "50"],
        &["openapi"],
    ] {
        let mut process = binary()
            .args(arguments)
            .args(["--data", data.to_str().unwrap()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(process.stdout.take());
        let output = process.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), stderr.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn invalid_settings_are_reported_in_two_lines() {
    let cli = Cli::new();
    cli.write("bad.toml", "listen = \"nowhere\"\n");
    cli.write("quick.toml", SHORT_TIMEOUT);
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
        cli.fail(arguments);
    }
}

#[test]
fn a_password_in_the_database_url_is_never_printed() {
    let cli = Cli::new();
    cli.write("quick.toml", SHORT_TIMEOUT);
    for url in [
        "postgres://ada:opensesame@127.0.0.1:1/x",
        "mysql://ada:opensesame@127.0.0.1/x",
        "postgres://ada:opensesame@[/x",
    ] {
        let error = cli.fail(&["check", "--config", "quick.toml", "--database-url", url]);
        assert!(!error.contains("opensesame"), "{error}");
    }
}

#[test]
fn generate_writes_the_same_file_for_the_same_seed() {
    let cli = Cli::new();
    let first = cli.run(0, &["generate", "--count", "50", "--seed", "3"]).stdout;
    assert_eq!(first.lines().count(), 51);
    assert_eq!(
        cli.run(0, &["generate", "--count", "50", "--seed", "3"]).stdout,
        first
    );
    assert_ne!(
        cli.run(0, &["generate", "--count", "50", "--seed", "4"]).stdout,
        first
    );
}

#[test]
fn generate_writes_bundles_of_returns() {
    let cli = Cli::new();
    let folder = cli.path().join("bundles");
    let folder = folder.to_str().unwrap();
    cli.run(
        0,
        &[
            "generate",
            "--returns",
            "30",
            "--count",
            "10",
            "--seed",
            "3",
            "--out",
            folder,
        ],
    );
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["2024_TEOS_XML_01A.zip", "index_2024.csv"]);
    cli.run(2, &["generate", "--returns", "30"]);
    cli.run(2, &["generate", "--count", "30", "--out", folder]);
}

#[test]
fn openapi_prints_the_committed_description() {
    assert_eq!(
        Cli::new().run(0, &["openapi"]).stdout,
        causeway::api::openapi::text()
    );
}
