//! A byte that flips in the file of the journal is found, and the entry is named.

use crate::journal::Written;
use crate::place::{Place, told};
use crate::store::Kind;
use std::fs;

/// Of a row: its kind, source and external id stand side by side, and the id of the nonprofit follows.
const ROW: &[u8] = b"giftoperatorgift-07";
const NONPROFIT: usize = 16;

#[test]
fn a_flipped_byte_in_the_journal_is_found_and_named() {
    let mut written = Written::new(Place::new(Kind::Sqlite, 1_000));
    let server = written.place.serve();
    written.begin(server.address);
    for number in 0..12 {
        written.give_whole(server.address, number);
    }
    written.agree(server.address);
    drop(server);
    // The last to close the database moves its log into it.
    written.place.check();
    let path = written.place.data.join("causeway.db");
    let sound = fs::read(&path).expect("a database");
    let place = sound.windows(ROW.len()).position(|part| part == ROW);
    let place = place.expect("the row of a gift");
    for offset in 0..ROW.len() + NONPROFIT {
        let mut damaged = sound.clone();
        damaged[place + offset] ^= 1 << written.place.dice.below(8);
        fs::write(&path, &damaged).expect("a database");
        let output = written
            .place
            .command(&["check"])
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(1), "byte {offset} of the row");
        // The first entry is what came in elsewhere, the second the gift 00.
        assert!(
            told(&output).contains("entry 9 "),
            "byte {offset}: {}",
            told(&output)
        );
    }
    fs::write(&path, &sound).expect("a database");
    written.place.check();
}
