//! Writes on a full disk are refused, acknowledged writes are kept, and writing continues when there is space again.

use crate::database::Database;
use crate::full_disk::{Disk, fill};
use crate::instance::{Instance, rounds};
use crate::ledger::Workload;
use std::fs;

/// Rounds, unless `CAUSEWAY_DISK_ROUNDS` is set.
const ROUNDS: usize = 2;
/// More creates than fit on the filled disk.
const MAX_CREATES: usize = 5_000;

#[test]
fn a_full_disk_refuses_writes_with_503_and_recovers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let Some(_disk) = Disk::mount(&data) else {
        println!("skipped: no file system can be mounted here");
        return;
    };
    let filler = data.join("filler");
    let mut workload = Workload::new(Instance::at(Database::Sqlite, 1_000, folder, data));
    let server = workload.instance.serve();
    workload.begin(server.address);
    for round in 0..rounds("CAUSEWAY_DISK_ROUNDS", ROUNDS) {
        let free = workload.instance.random.below(200_000);
        fill(&filler, free);
        let mut refused = None;
        for number in 0..MAX_CREATES {
            let key = format!("{round}-{number}");
            let response = workload.create(server.address, &key).expect("a response");
            if response.status == 200 {
                workload.count_create();
                continue;
            }
            assert_eq!(
                response.status,
                503,
                "{}",
                String::from_utf8_lossy(&response.body)
            );
            assert_eq!(response.json()["code"], "unavailable");
            assert!(response.header("retry-after").is_some());
            refused = Some(key);
            break;
        }
        let refused = refused.expect("a full disk");
        fs::remove_file(&filler).expect("a file");
        let response = workload.create(server.address, &refused).expect("a response");
        assert_eq!(
            response.status,
            200,
            "{}",
            String::from_utf8_lossy(&response.body)
        );
        workload.count_create();
        workload.verify(server.address);
    }
}
