//! Facts of IRS files in the store of a story, written as their imports write them.

use crate::world::World;
use directory::history::imports::store;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::sources::SourceId;
use ingest::{ImportedFile, ListKind, Summary};

/// The hash of every file in these stories.
pub const SHA256: &str = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9";

/// Runs statements, in which `:source` is the source of the file, and records an import of it that changed nonprofits. The
/// directory is refreshed.
pub async fn import_facts(world: &World, kind: &str, file: &str, eins: &[&str], statements: &[&str]) {
    record_facts(world, kind, file, eins, statements).await;
    world.app.refresh_directory().await.unwrap();
}

/// Imports a list file of the IRS with these lines.
pub async fn import_list(world: &World, kind: ListKind, name: &str, lines: &[&str]) {
    let file = world.file(name, format!("\r\n\r\n{}\r\n", lines.join("\r\n")));
    world.app.importer().import_list(kind, &file, true).await.unwrap();
    world.app.refresh_directory().await.unwrap();
}

/// Does the same as [`import_facts`] without refreshing the directory.
pub async fn record_facts(world: &World, kind: &str, file: &str, eins: &[&str], statements: &[&str]) {
    let now = world.app.clock.millis();
    let (mut tx, revision) = store::begin(&world.app.db).await.unwrap();
    let ids: Vec<_> = eins
        .iter()
        .map(|ein| Ein::parse(ein).unwrap().nonprofit_id().0)
        .collect();
    store::insert_changes(&mut tx, revision, &ids).await.unwrap();
    let summary = Summary {
        revision,
        files: vec![ImportedFile {
            name: format!("/srv/irs/{file}"),
            sha256: SHA256.to_owned(),
            lines: 7,
        }],
        lines: 7,
        changed: eins.len() as u64,
        ..Summary::default()
    };
    summary.record(&mut tx, kind, now, now).await.unwrap();
    tx.commit().await.unwrap();
    let source = SourceId {
        revision,
        position: 1,
    };
    for sql in statements {
        let sql = sql.replace(":source", &source.number().to_string());
        world.execute_owned(sql).await;
    }
}
