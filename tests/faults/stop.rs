//! A server that is asked to stop answers what it has been asked before, then ends well.

use crate::client;
use crate::place::{Place, eventually};
use crate::store::Kind;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const WORKERS: usize = 16;
const PROMISED: Duration = Duration::from_secs(15);

#[test]
fn a_stop_under_load_loses_no_request_on_sqlite() {
    stop_under_load(Kind::Sqlite);
}

#[test]
fn a_stop_under_load_loses_no_request_on_postgres() {
    stop_under_load(Kind::Postgres);
}

fn stop_under_load(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let place = Place::new(kind, 100);
    for _ in 0..3 {
        let mut server = place.serve();
        let (address, path) = (server.address, place.path("nobody"));
        let (stopping, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
        let asked = || -> io::Result<()> {
            let mut stream = client::connect(address)?;
            client::send(&mut stream, &path)?;
            // Sent before the word to stop: this one has to be answered.
            let is_owed = !stopping.load(Ordering::SeqCst);
            match client::receive(stream) {
                Ok(answer) => {
                    assert_eq!(answer.status, 404);
                    answered.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                }
                Err(fault) => {
                    assert!(!is_owed, "a request from before the stop was lost: {fault}");
                    Err(fault)
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| while asked().is_ok() {});
            }
            eventually(PROMISED, "the load is on", || {
                answered.load(Ordering::SeqCst) > WORKERS * 20
            });
            stopping.store(true, Ordering::SeqCst);
            let begun = Instant::now();
            server.terminate();
            eventually(PROMISED, "the server ends", || server.ended().is_some());
            assert!(begun.elapsed() < PROMISED);
            assert_eq!(
                server.ended().and_then(|status| status.code()),
                Some(0),
                "{}",
                server.log()
            );
        });
    }
}
