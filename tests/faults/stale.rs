//! A server that is cut off from PostgreSQL stops trusting what it knows about keys.

use crate::client;
use crate::instance::{Instance, eventually};
use crate::ledger::Workload;
use crate::postgres_server::PostgresServer;
use crate::server::Server;

/// Longer than a healthy database needs on any machine.
const PROBE_TIMEOUT: (&str, &str) = ("CAUSEWAY_DATABASE__PROBE_TIMEOUT", "10");
const MAX_STALE: (&str, &str) = ("CAUSEWAY_SERVE__MAX_STALE", "1");

#[test]
fn a_server_without_postgres_is_ready_for_reads_alone() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let mut workload = Workload::new(Instance::on_server(&postgres, 1_000));
    let server = Server::start(&workload.instance, &[PROBE_TIMEOUT, MAX_STALE]);
    workload.begin(server.address);
    let path = workload.instance.path("000000000");
    eventually("the server is ready", || {
        server.get("/readyz/write").status == 200
    });

    for _ in 0..2 {
        postgres.freeze();
        eventually("the server is not ready for writes", || {
            server.get("/readyz/write").status == 503
        });
        let degraded = server.get("/readyz");
        assert_eq!(degraded.status, 200);
        assert_eq!(degraded.json()["status"], "degraded");
        assert_eq!(degraded.json()["reasons"][0]["reason"], "store_unavailable");
        let own = client::get_with(server.address, "/v0.2/fundraisers", &workload.authorization);
        let own = own.expect("a response");
        assert_eq!((own.status, own.header("retry-after")), (503, Some("1")));
        assert_eq!(own.json()["code"], "unavailable");
        assert_eq!(server.get(&path).status, 404, "the key is known");
        assert_eq!(server.get("/healthz").status, 200);

        postgres.thaw();
        eventually("the server is ready again", || {
            server.get("/readyz/write").status == 200
        });
        eventually("private keys work again", || {
            let own = client::get_with(server.address, "/v0.2/fundraisers", &workload.authorization);
            own.expect("a response").status == 200
        });
    }
}

#[test]
fn a_server_without_postgres_refuses_reads_in_the_end() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let instance = Instance::on_server(&postgres, 1_000);
    let environment = [PROBE_TIMEOUT, MAX_STALE, ("CAUSEWAY_SERVE__MAX_STALE_READS", "2")];
    let server = Server::start(&instance, &environment);
    let path = instance.path("000000000");
    assert_eq!(server.get(&path).status, 404);
    postgres.stop();
    eventually("reads are refused", || server.get(&path).status == 503);
    assert_eq!(server.get("/readyz").status, 503);
    let refused = server.get(&path);
    assert_eq!(refused.json()["code"], "unavailable");
    assert!(refused.header("retry-after").is_some());
    postgres.resume();
    eventually("reads are answered again", || server.get(&path).status == 404);
}
