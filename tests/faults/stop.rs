//! A server that is asked to stop answers all pending requests and exits successfully.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const WORKERS: usize = 16;

#[test]
fn stopping_under_load_loses_no_request_on_sqlite() {
    stop_under_load(Database::Sqlite);
}

#[test]
fn stopping_under_load_loses_no_request_on_postgres() {
    stop_under_load(Database::Postgres);
}

fn stop_under_load(database: Database) {
    if !database.is_available() {
        return;
    }
    let instance = Instance::new(database, 100);
    for _ in 0..3 {
        let mut server = instance.serve();
        let (address, path) = (server.address, instance.path("nobody"));
        let (is_stopping, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
        let request = || -> io::Result<()> {
            let mut stream = client::connect(address)?;
            client::send(&mut stream, &path)?;
            // A request sent before the signal must be answered.
            let is_owed = !is_stopping.load(Ordering::SeqCst);
            match client::receive(stream) {
                Ok(response) => {
                    assert_eq!(response.status, 404);
                    answered.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                }
                Err(error) => {
                    assert!(!is_owed, "a request from before the stop was lost: {error}");
                    Err(error)
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| while request().is_ok() {});
            }
            eventually("the server is under load", || {
                answered.load(Ordering::SeqCst) > WORKERS * 20
            });
            is_stopping.store(true, Ordering::SeqCst);
            server.terminate();
            // The stop timeout of the server is longer than this waits.
            eventually("the server exits", || server.exit_status().is_some());
            assert_eq!(
                server.exit_status().and_then(|status| status.code()),
                Some(0),
                "{}",
                server.log()
            );
        });
    }
}
