//! Processes that compete with each other.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{Instance, eventually, stderr_of};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// The longest delay between the starts of two imports, in milliseconds.
const MAX_DELAY_MILLIS: u64 = 150;

#[test]
fn concurrent_imports_succeed_or_ask_to_be_repeated_on_sqlite() {
    import_concurrently(Database::Sqlite);
}

#[test]
fn concurrent_imports_succeed_or_ask_to_be_repeated_on_postgres() {
    import_concurrently(Database::Postgres);
}

fn import_concurrently(database: Database) {
    if !database.is_available() {
        return;
    }
    let mut instance = Instance::new(database, 200);
    let files = Files::new(instance.folder.path(), 1_000);
    let eins = files.sample(10);
    let server = instance.serve();
    let facts = instance.learn_facts(&server, &files, &eins);
    for round in 0..6 {
        let imports = instance.database.imports();
        let first = instance.start_import(&files.a);
        sleep(Duration::from_millis(instance.random.below(MAX_DELAY_MILLIS)));
        let second = instance.start_import(&files.b);
        let outputs = [first, second].map(|process| process.wait_with_output().expect("a process"));
        let mut succeeded = 0;
        for output in &outputs {
            let stderr = stderr_of(output);
            match output.status.code() {
                Some(0) => succeeded += 1,
                Some(1) => assert!(stderr.contains("run it again"), "round {round}: {stderr}"),
                other => panic!("round {round}: {other:?}: {stderr}"),
            }
        }
        assert!(succeeded >= 1, "round {round}: both failed");
        assert_eq!(instance.database.imports(), imports + succeeded, "round {round}");
        eventually("the server shows one of the two", || {
            let shown = instance.all_facts(&server, &eins);
            match outputs.each_ref().map(|output| output.status.success()) {
                // Either of them may have written last.
                [true, true] => facts.contains(&shown),
                [false, _] => shown == facts[1],
                [true, false] => shown == facts[0],
            }
        });
        instance.check();
    }
}

#[test]
fn processes_that_create_the_database_together_all_succeed_on_sqlite() {
    start_together(Database::Sqlite);
}

#[test]
fn processes_that_create_the_database_together_all_succeed_on_postgres() {
    start_together(Database::Postgres);
}

fn start_together(database: Database) {
    if !database.is_available() {
        return;
    }
    for round in 0..5 {
        let instance = Instance::uninitialized(database, 200);
        let processes: Vec<_> = (0..4)
            .map(|number| {
                let name = format!("ada-{number}");
                let mut command = instance.command(&["account", "create", &name]);
                command
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("the binary runs")
            })
            .collect();
        for process in processes {
            let output = process.wait_with_output().expect("a process");
            assert!(output.status.success(), "round {round}: {}", stderr_of(&output));
        }
        assert_eq!(instance.database.identities(), 1, "round {round}");
        instance.check();
    }
}
