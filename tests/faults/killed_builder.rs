//! A process is killed while it builds the snapshot that all servers share: another one takes over.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{Instance, eventually};
use crate::server::Server;

/// How often an import is started and killed.
const MAX_ROUNDS: usize = 20;

#[test]
fn a_server_takes_over_from_a_builder_that_was_killed() {
    if !Database::Postgres.is_available() {
        return;
    }
    let instance = Instance::new(Database::Postgres, 100);
    let files = Files::new(instance.folder.path(), 3_000);
    let eins = files.sample(5);
    let shared = format!("file://{}", instance.folder.path().join("shared").display());
    let secret = instance.data.join("secret").display().to_string();
    let other_data = instance.folder.path().join("other").display().to_string();
    let mut killed = 0;
    for round in 0..MAX_ROUNDS {
        let mut command = instance.command(&["import", "irs", "--force"]);
        command.arg([&files.a, &files.b][round % 2]);
        let mut import = command
            .env("CAUSEWAY_BLOBS_URL", &shared)
            .spawn()
            .expect("the binary runs");
        // The import is stored, and its snapshot is being built.
        let is_building = loop {
            if instance.database.leases() > 0 {
                break true;
            }
            if import.try_wait().expect("a process").is_some() {
                break false;
            }
        };
        import.kill().expect("a process that can be killed");
        import.wait().expect("a process");
        if is_building && instance.database.leases() > 0 {
            killed += 1;
            break;
        }
    }
    assert_eq!(killed, 1, "an import was killed while it built a snapshot");
    let server = Server::start(
        &instance,
        &[
            ("CAUSEWAY_BLOBS_URL", &shared),
            ("CAUSEWAY_DATA", &other_data),
            ("CAUSEWAY_SECRET_FILE", &secret),
        ],
    );
    server.wait_for_revision(&instance.path(&eins[0]), instance.database.revision());
    eventually("the server publishes what it built", || {
        server.log().contains("directory snapshot published")
    });
}
