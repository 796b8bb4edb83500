//! The secret of the store: created at the first start, and missed when it is lost.

use super::Cli;
use crate::world::World;
use causeway::app::App;
use futures_util::future::join_all;
use std::fs;
use std::os::unix::fs::PermissionsExt;

on_both_databases!(
    a_lost_or_wrong_secret_is_reported_at_the_start,
    servers_that_start_at_once_share_one_secret,
);

async fn start_error(world: &World) -> String {
    let error = App::build(world.app.config.clone()).await.unwrap_err();
    format!("{error:#}")
}

async fn a_lost_or_wrong_secret_is_reported_at_the_start(world: &World) {
    let path = &world.app.config.secret_file;
    assert_eq!(path, &world.data().join("secret"));
    let secret = fs::read_to_string(path).unwrap();
    assert_eq!(secret.trim_end().len(), 64, "{secret}");
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    let stored = world.texts("select secret_fingerprint from store").await;
    assert!(
        !secret.contains(&stored[0]),
        "the fingerprint is a part of the secret"
    );

    fs::remove_file(path).unwrap();
    let error = start_error(world).await;
    assert!(error.contains("is missing; restore it from a backup"), "{error}");
    assert!(!path.exists());
    fs::write(path, "ab".repeat(32)).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    let error = start_error(world).await;
    assert!(
        error.contains("is not the secret of this database; restore"),
        "{error}"
    );
    for damaged in ["", "ab", "no secret"] {
        fs::write(path, damaged).unwrap();
        let error = start_error(world).await;
        assert!(error.contains("is damaged; restore it from a backup"), "{error}");
    }
    fs::write(path, &secret).unwrap();
    let (app, _) = world.restart().await;
    app.db.close().await;
}

async fn servers_that_start_at_once_share_one_secret(world: &World) {
    fs::remove_file(&world.app.config.secret_file).unwrap();
    world.execute("update store set secret_fingerprint = null").await;
    let apps = join_all((0..4).map(|_| App::build(world.app.config.clone()))).await;
    let macs: Vec<[u8; 32]> = apps
        .iter()
        .map(|app| app.as_ref().unwrap().secret.authenticate("test", b"message"))
        .collect();
    assert!(macs.iter().all(|mac| mac == &macs[0]));
    for app in apps {
        app.unwrap().db.close().await;
    }
}

#[test]
fn a_lost_secret_is_replaced_on_request_only() {
    let cli = Cli::new();
    cli.run(0, &["account", "create", "ada"]);
    let path = cli.path().join("data/secret");
    let first = fs::read_to_string(&path).unwrap();
    let error = cli.fail(&["secret", "replace"]);
    assert!(error.contains("is not lost"), "{error}");
    // In the data folder, every command restricts the files that Causeway created.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    cli.run(0, &["account", "list"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::remove_file(&path).unwrap();
    let error = cli.fail(&["account", "list"]);
    assert!(
        error.contains("is missing") && error.contains("secret replace"),
        "{error}"
    );
    let replaced = cli.json(&["secret", "replace"]);
    assert_eq!(replaced["secretFile"], path.to_str().unwrap());
    assert_ne!(fs::read_to_string(&path).unwrap(), first);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    cli.run(0, &["check"]);
    // The former secret now is a wrong one, and replacing it would lose it.
    fs::write(&path, first).unwrap();
    let error = cli.fail(&["secret", "replace"]);
    assert!(error.contains("another store"), "{error}");
}

#[test]
fn the_secret_can_be_in_another_folder() {
    let cli = Cli::new();
    let path = cli.path().join("keys/store-secret");
    cli.write(
        "own.toml",
        format!("secret_file = {:?}\n", path.to_str().unwrap()),
    );
    let error = cli.fail(&["account", "create", "ada", "--config", "own.toml"]);
    assert!(error.contains("could not write the secret"), "{error}");
    fs::create_dir(cli.path().join("keys")).unwrap();
    cli.run(0, &["account", "create", "ada", "--config", "own.toml"]);
    assert!(path.exists() && !cli.path().join("data/secret").exists());
    let error = cli.fail(&["account", "list"]);
    assert!(error.contains("is missing"), "{error}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = cli.fail(&["account", "list", "--config", "own.toml"]);
    assert!(error.contains("chmod 600"), "{error}");
}
