//! A disk that fails: a write or a sync that ends in an error is never acknowledged, and what was acknowledged stays.

use crate::journal::Written;
use crate::place::Place;
use crate::power::can_trace;
use crate::server::Server;
use crate::store::Kind;

const CREATES: usize = 40;

#[test]
fn a_sync_that_fails_is_no_success() {
    fail("fdatasync,fsync:error=EIO:when=5+4");
}

#[test]
fn a_write_that_fails_is_no_success() {
    fail("pwrite64:error=EIO:when=100+150");
}

#[test]
fn a_write_without_room_is_no_success() {
    fail("pwrite64:error=ENOSPC:when=100+150");
}

/// Creates while calls of the system fail again and again; each is made or refused as unavailable. The server that comes
/// after finds every one that was made, and makes those that were refused, once.
fn fail(fault: &str) {
    if !can_trace() {
        return;
    }
    let mut written = Written::new(Place::new(Kind::Sqlite, 1_000));
    let server = written.place.serve();
    written.begin(server.address);
    server.stop();
    let call = fault.split(':').next().expect("a call");
    let (trace, inject) = (format!("trace={call}"), format!("inject={fault}"));
    let mut server = Server::start_traced(&written.place, &["-o", "/dev/null", "-e", &trace, "-e", &inject]);
    let mut answers = Vec::new();
    for number in 0..CREATES {
        let key = format!("device-{number}");
        let answer = written.create(server.address, &key).expect("an answer");
        if answer.status != 200 {
            assert_eq!(answer.status, 503, "{}", String::from_utf8_lossy(&answer.body));
            assert_eq!(answer.json()["code"], "unavailable");
        }
        answers.push((key, answer));
    }
    let refused = answers.iter().filter(|(_, answer)| answer.status == 503).count();
    assert!(
        refused > 0 && refused < CREATES,
        "{refused} of {CREATES} were refused"
    );
    server.kill();
    let server = written.place.serve();
    for (key, first) in answers {
        let again = written.create(server.address, &key).expect("an answer");
        assert_eq!(
            again.status,
            200,
            "{key}: {}",
            String::from_utf8_lossy(&again.body)
        );
        if first.status == 200 {
            assert_eq!(again.body, first.body, "{key}");
        }
        written.count_create();
    }
    written.agree(server.address);
}
