//! PostgreSQL falls silent at the very commit of a write: the writer gives it up and goes on, and whoever tries again is
//! told what was written the first time.

use crate::client;
use crate::journal::Written;
use crate::place::{Place, eventually};
use crate::proxy::{Proxy, Way};
use crate::server::Server;
use crate::store::Kind;
use std::time::Duration;

/// Time for the server to find connections that work, and for the database to end what was left open.
const RECOVERY: Duration = Duration::from_mins(1);
/// Calls are counted in the store once a second, by commits that are not meant here.
const COUNTED: Duration = Duration::from_secs(2);
/// As many answers in a row as show that no silent connection is left.
const ENOUGH: usize = 20;

#[test]
fn a_commit_that_never_arrives_holds_up_no_other_write() {
    fall_silent_at_a_commit(Way::ToDatabase);
}

#[test]
fn a_commit_whose_answer_is_lost_is_not_written_twice() {
    fall_silent_at_a_commit(Way::ToServer);
}

fn fall_silent_at_a_commit(way: Way) {
    if !Kind::Postgres.is_here() {
        return;
    }
    let mut written = Written::new(Place::new(Kind::Postgres, 200));
    let (proxy, through_proxy) = Proxy::before(&written.place.store);
    let server = Server::start(&written.place, &[("CAUSEWAY_DATABASE_URL", &through_proxy)]);
    written.begin(server.address);
    for round in 0..2 {
        let key = format!("silent-{round}");
        std::thread::sleep(COUNTED);
        proxy.fall_silent_at_commit(way);
        let unsure = written.create(server.address, &key).expect("an answer in time");
        assert_eq!(unsure.status, 503, "{}", String::from_utf8_lossy(&unsure.body));
        proxy.mend();
        let mut again = Vec::new();
        eventually(RECOVERY, "writes go on", || {
            written.create(server.address, &key).is_ok_and(|answer| {
                again = answer.body;
                answer.status == 200
            })
        });
        eventually(RECOVERY, "reads go on", || {
            (0..ENOUGH).all(|_| {
                let listed = client::get_with(server.address, "/v0.2/fundraisers", &written.basic);
                listed.is_ok_and(|listed| listed.status == 200)
            })
        });
        let once_more = written.create(server.address, &key).expect("an answer");
        assert_eq!(once_more.body, again, "a retried create has the same answer");
        written.count_create();
        written.agree(server.address);
    }
}
