//! A server that runs out of file descriptors continues when connections are closed.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually};
use crate::server::Server;

const MAX_OPEN_FILES: usize = 96;
const CLIENTS: usize = 300;

#[test]
fn a_server_without_file_descriptors_recovers() {
    let instance = Instance::new(Database::Sqlite, 1_000);
    // Without a limit on connections, all of them are accepted.
    let environment = [
        ("CAUSEWAY_SERVE__MAX_CONNECTIONS", "100000"),
        ("CAUSEWAY_SERVE__MAX_CONNECTIONS_PER_ADDRESS", "100000"),
    ];
    let server = Server::start_with_open_files(&instance, MAX_OPEN_FILES, &environment);
    let path = instance.path("nobody");
    for _ in 0..3 {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| client::connect(server.address).expect("the backlog takes the connection"))
            .collect();
        eventually("all file descriptors are in use", || {
            server.open_files() >= MAX_OPEN_FILES
        });
        drop(clients);
        assert_eq!(server.get(&path).status, 404);
    }
    eventually("the server is ready", || server.get("/readyz").status == 200);
}
