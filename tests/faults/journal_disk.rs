//! A disk without room: a write that cannot be kept is refused, what was acknowledged stays, and with room again all
//! goes on.

use crate::disk::{Disk, fill};
use crate::journal::Written;
use crate::place::Place;
use crate::store::Kind;
use std::fs;

const ROUNDS: usize = 5;
/// More than a disk without room can take.
const MOST_CREATES: usize = 5_000;

#[test]
fn a_full_disk_refuses_writes_with_503_and_recovers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let Some(_disk) = Disk::mount(&data) else {
        println!("not run: no file system may be mounted here");
        return;
    };
    let filler = data.join("filler");
    let mut written = Written::new(Place::at(Kind::Sqlite, 1_000, folder, data));
    let server = written.place.serve();
    written.begin(server.address);
    for round in 0..ROUNDS {
        let room = written.place.dice.below(200_000);
        fill(&filler, room);
        let mut refused = None;
        for number in 0..MOST_CREATES {
            let key = format!("{round}-{number}");
            let answer = written.create(server.address, &key).expect("an answer");
            if answer.status == 200 {
                written.count_create();
                continue;
            }
            assert_eq!(answer.status, 503, "{}", String::from_utf8_lossy(&answer.body));
            assert_eq!(answer.json()["code"], "unavailable");
            assert!(answer.header("retry-after").is_some());
            refused = Some(key);
            break;
        }
        let refused = refused.expect("a disk that is full");
        fs::remove_file(&filler).expect("a file");
        let answer = written.create(server.address, &refused).expect("an answer");
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        written.count_create();
        written.agree(server.address);
    }
}
