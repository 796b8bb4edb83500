//! Processes that get in each other's way.

use crate::files::Files;
use crate::place::{Place, SOON, eventually, told};
use crate::store::Kind;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn of_two_imports_at_once_each_is_whole_or_says_to_run_it_again_on_sqlite() {
    import_twice_at_once(Kind::Sqlite);
}

#[test]
fn of_two_imports_at_once_each_is_whole_or_says_to_run_it_again_on_postgres() {
    import_twice_at_once(Kind::Postgres);
}

fn import_twice_at_once(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let mut place = Place::new(kind, 200);
    let files = Files::new(place.folder.path(), 1_000);
    let eins = files.sample(10);
    let server = place.serve();
    let shown = place.learn(&server, &files, &eins);
    for round in 0..6 {
        let revision = place.store.revision();
        let first = place.start_import(&files.a);
        sleep(Duration::from_millis(place.dice.below(150)));
        let second = place.start_import(&files.b);
        let outputs = [first, second].map(|process| process.wait_with_output().expect("a process"));
        let mut won = 0;
        for output in &outputs {
            match output.status.code() {
                Some(0) => won += 1,
                Some(1) => assert!(
                    told(output).contains("run it again"),
                    "round {round}: {}",
                    told(output)
                ),
                other => panic!("round {round}: {other:?}: {}", told(output)),
            }
        }
        assert!(won >= 1, "round {round}: both lost");
        assert_eq!(place.store.revision(), revision + won, "round {round}");
        eventually(SOON, "the server shows one of the two", || {
            let said = place.ask_all(&server, &eins);
            match outputs[1].status.success() {
                // The second began to write after the first had ended, or alone.
                true if outputs[0].status.success() => shown.contains(&said),
                true => said == shown[1],
                false => said == shown[0],
            }
        });
        place.check();
    }
}

#[test]
fn processes_that_start_together_on_nothing_all_work_on_sqlite() {
    start_together(Kind::Sqlite);
}

#[test]
fn processes_that_start_together_on_nothing_all_work_on_postgres() {
    start_together(Kind::Postgres);
}

fn start_together(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    for round in 0..5 {
        let place = Place::bare(kind, 200);
        let processes: Vec<_> = (0..4)
            .map(|number| {
                let name = format!("ada-{number}");
                let mut command = place.command(&["account", "create", &name]);
                command
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("the binary runs")
            })
            .collect();
        for process in processes {
            let output = process.wait_with_output().expect("a process");
            assert!(output.status.success(), "round {round}: {}", told(&output));
        }
        assert_eq!(place.store.identities(), 1, "round {round}");
        place.check();
    }
}
