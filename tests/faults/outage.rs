//! PostgreSQL goes away and comes back; the directory is answered from the snapshot all the while.

use crate::files::Files;
use crate::place::{Place, eventually};
use crate::proxy::Proxy;
use crate::server::Server;
use crate::store::Kind;
use std::time::{Duration, Instant};

/// Time for the server to notice that the database is back.
const RECOVERY: Duration = Duration::from_secs(30);
/// An answer from memory never waits for the database.
const NO_WAIT: Duration = Duration::from_secs(2);

#[test]
fn details_go_on_while_postgres_is_gone_and_changes_show_when_it_is_back() {
    lose_the_database(Proxy::cut);
}

#[test]
fn details_go_on_while_postgres_is_silent_and_changes_show_when_it_is_back() {
    lose_the_database(Proxy::fall_silent);
}

fn lose_the_database(lose: fn(&Proxy)) {
    if !Kind::Postgres.is_here() {
        return;
    }
    let place = Place::new(Kind::Postgres, 200);
    let files = Files::new(place.folder.path(), 800);
    let eins = files.sample(10);
    let (proxy, through_proxy) = Proxy::before(&place.store);
    let server = Server::start(&place, &[("CAUSEWAY_DATABASE_URL", &through_proxy)]);
    let shown = place.learn(&server, &files, &eins);

    for newest in [0, 1] {
        lose(&proxy);
        // These reach the database past the proxy; the server cannot know of them.
        place.import([&files.a, &files.b][newest]);
        let (id, _) = place.make_key();
        for _ in 0..20 {
            let begun = Instant::now();
            assert_eq!(place.ask_all(&server, &eins[..2]), shown[1 - newest][..2]);
            assert_eq!(server.get("/readyz").status, 200);
            assert!(begun.elapsed() < NO_WAIT, "answers waited for the database");
        }
        let stranger = place.make_key().1;
        let answer = server.get(&format!("/v0.2/nonprofit/nobody?apiKey={stranger}"));
        assert_eq!(answer.status, 503, "a key that cannot be looked up");
        assert!(answer.header("retry-after").is_some());

        proxy.mend();
        eventually(RECOVERY, "the import shows", || {
            place.ask_all(&server, &eins) == shown[newest]
        });
        let path = format!("/v0.2/nonprofit/nobody?apiKey={stranger}");
        eventually(RECOVERY, "the new key works", || server.get(&path).status == 404);
        place.run(&["key", "revoke", &id]);
    }
}
