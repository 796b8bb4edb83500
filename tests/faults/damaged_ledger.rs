//! A flipped bit in the ledger is found, and its entry is named.

use crate::database::Database;
use crate::instance::{Instance, stderr_of};
use crate::ledger::Workload;
use std::fs;

/// Part of a row: kind, mode, source and external ID are stored next to each other, followed by the ID of the nonprofit.
const ROW: &[u8] = b"donationliveoperatordonation-07";
const NONPROFIT_ID_SIZE: usize = 16;

#[test]
fn a_flipped_bit_in_the_ledger_is_reported_with_its_entry() {
    let mut workload = Workload::new(Instance::new(Database::Sqlite, 1_000));
    let server = workload.instance.serve();
    workload.begin(server.address);
    for number in 0..12 {
        workload.donate(server.address, number);
    }
    workload.verify(server.address);
    drop(server);
    // The last process that closes the database moves the write-ahead log into it.
    workload.instance.check();
    let path = workload.instance.data.join("causeway.db");
    let intact = fs::read(&path).expect("a database");
    let start = intact.windows(ROW.len()).position(|part| part == ROW);
    let start = start.expect("the row of a donation");
    for offset in 0..ROW.len() + NONPROFIT_ID_SIZE {
        let mut damaged = intact.clone();
        damaged[start + offset] ^= 1 << workload.instance.random.below(8);
        fs::write(&path, &damaged).expect("a database");
        let output = workload
            .instance
            .command(&["check", "--full"])
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(1), "byte {offset} of the row");
        // The first entry is the offline amount, the second is donation 00.
        assert!(
            stderr_of(&output).contains("entry 9 "),
            "byte {offset}: {}",
            stderr_of(&output)
        );
    }
    fs::write(&path, &intact).expect("a database");
    workload.instance.check();
}
