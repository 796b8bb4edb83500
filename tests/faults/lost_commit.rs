//! PostgreSQL stops responding during a commit: the writer gives up and continues, and a retry returns what was
//! written the first time.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually};
use crate::ledger::Workload;
use crate::proxy::{Direction, Proxy};
use crate::server::Server;
use std::time::Duration;

/// Usage is saved once per second by another commit. After this time it is most likely done, so that the next commit is
/// the one under test. If not, the create fails in the same way, only earlier.
const USAGE_PAUSE: Duration = Duration::from_secs(2);
/// This many successful responses in a row show that no silent connection is left.
const SUCCESSES: usize = 20;

#[test]
fn a_commit_that_never_arrives_does_not_block_other_writes() {
    lose_commits(Direction::ToDatabase);
}

#[test]
fn a_commit_whose_response_is_lost_is_not_repeated() {
    lose_commits(Direction::ToServer);
}

fn lose_commits(direction: Direction) {
    if !Database::Postgres.is_available() {
        return;
    }
    let mut workload = Workload::new(Instance::new(Database::Postgres, 200));
    let (proxy, proxy_url) = Proxy::new(&workload.instance.database);
    let environment = [
        ("CAUSEWAY_DATABASE_URL", proxy_url.as_str()),
        ("CAUSEWAY_DATABASE__ACQUIRE_TIMEOUT", "5"),
    ];
    let server = Server::start(&workload.instance, &environment);
    workload.begin(server.address);
    for round in 0..2 {
        let key = format!("lost-{round}");
        std::thread::sleep(USAGE_PAUSE);
        proxy.silence_at_commit(direction);
        let unavailable = workload.create(server.address, &key).expect("a response");
        assert_eq!(
            unavailable.status,
            503,
            "{}",
            String::from_utf8_lossy(&unavailable.body)
        );
        proxy.restore();
        let mut created = Vec::new();
        eventually("writes succeed again", || {
            workload.create(server.address, &key).is_ok_and(|response| {
                created = response.body;
                response.status == 200
            })
        });
        eventually("reads succeed again", || {
            (0..SUCCESSES).all(|_| {
                let path = "/v0.2/fundraisers";
                let listed = client::get_with(server.address, path, &workload.authorization);
                listed.is_ok_and(|listed| listed.status == 200)
            })
        });
        let repeated = workload.create(server.address, &key).expect("a response");
        assert_eq!(repeated.body, created, "a retried create has the same response");
        workload.count_create();
        workload.verify(server.address);
    }
}
