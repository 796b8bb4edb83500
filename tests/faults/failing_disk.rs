//! A failing disk: a write or sync that fails is never acknowledged, and acknowledged writes are kept.

use crate::database::Database;
use crate::instance::Instance;
use crate::ledger::Workload;
use crate::power_loss::can_trace;
use crate::server::Server;

const CREATES: usize = 40;

#[test]
fn a_failed_sync_is_never_acknowledged() {
    inject("fdatasync,fsync:error=EIO:when=5+4");
}

#[test]
fn a_failed_write_is_never_acknowledged() {
    inject("pwrite64:error=EIO:when=100+150");
}

#[test]
fn a_write_to_a_full_disk_is_never_acknowledged() {
    inject("pwrite64:error=ENOSPC:when=100+150");
}

/// Creates fundraisers while system calls fail repeatedly. Each create succeeds or is refused as unavailable. The next
/// server has every fundraiser that was acknowledged, and creates the refused ones exactly once.
fn inject(error: &str) {
    if !can_trace() {
        return;
    }
    let mut workload = Workload::new(Instance::new(Database::Sqlite, 1_000));
    let server = workload.instance.serve();
    workload.begin(server.address);
    server.stop();
    let call = error.split(':').next().expect("a call");
    let (trace, inject) = (format!("trace={call}"), format!("inject={error}"));
    let options = ["-o", "/dev/null", "-e", &trace, "-e", &inject];
    let mut server = Server::start_traced(&workload.instance, &options);
    let mut responses = Vec::new();
    for number in 0..CREATES {
        let key = format!("device-{number}");
        let response = workload.create(server.address, &key).expect("a response");
        if response.status != 200 {
            assert_eq!(
                response.status,
                503,
                "{}",
                String::from_utf8_lossy(&response.body)
            );
            assert_eq!(response.json()["code"], "unavailable");
        }
        responses.push((key, response));
    }
    let refused = responses
        .iter()
        .filter(|(_, response)| response.status == 503)
        .count();
    assert!(
        refused > 0 && refused < CREATES,
        "{refused} of {CREATES} were refused"
    );
    server.kill();
    let server = workload.instance.serve();
    for (key, first) in responses {
        let again = workload.create(server.address, &key).expect("a response");
        assert_eq!(
            again.status,
            200,
            "{key}: {}",
            String::from_utf8_lossy(&again.body)
        );
        if first.status == 200 {
            assert_eq!(again.body, first.body, "{key}");
        }
        workload.count_create();
    }
    workload.verify(server.address);
}
