//! Clients that disconnect in the middle of a write: the write happens completely or not at all, a retry with the same
//! key gets the answer, and nothing stays open.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually};
use crate::ledger::Workload;
use std::io::Write;

const ROUNDS: usize = 60;

#[test]
fn a_write_whose_client_disconnects_happens_once_on_sqlite() {
    disconnect(Database::Sqlite);
}

#[test]
fn a_write_whose_client_disconnects_happens_once_on_postgres() {
    disconnect(Database::Postgres);
}

fn disconnect(database: Database) {
    if !database.is_available() {
        return;
    }
    let mut workload = Workload::new(Instance::new(database, 1_000));
    let server = workload.instance.serve();
    workload.begin(server.address);
    let open_before = server.open_files();
    for round in 0..ROUNDS {
        let key = format!("gone-{round}");
        let request = workload.create_request(&key);
        // In the head, in the body, or after all of it.
        let sent = match round % 3 {
            0 => workload.instance.random.below(request.len() as u64) as usize,
            1 => request.len() - 1,
            _ => request.len(),
        };
        let mut stream = client::connect(server.address).expect("a connection");
        stream.write_all(&request.as_bytes()[..sent]).expect("a server");
        drop(stream);
        eventually("the write is repeated", || {
            let response = workload.create(server.address, &key).expect("a response");
            // The first request may still be in progress.
            assert!(
                matches!(response.status, 200 | 409),
                "{}",
                String::from_utf8_lossy(&response.body)
            );
            response.status == 200
        });
        workload.count_create();
    }
    workload.verify(server.address);
    // The pool of connections to the database may have grown.
    eventually("connections are closed", || {
        server.open_files() < open_before + ROUNDS / 2
    });
}
