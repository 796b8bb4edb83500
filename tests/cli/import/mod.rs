//! `causeway import`

mod all;
mod command;
mod download;
mod file_server;
mod irs;
mod lists;
mod nonprofits;
mod returns;

use crate::cli::binary;
use crate::world::World;
use secrecy::ExposeSecret;
use std::process::{Command, Stdio};

/// `causeway import ARGUMENTS` with the database of a story.
fn import_command(world: &World, arguments: &[&str]) -> Command {
    let mut command = binary();
    if let Some(url) = &world.app.config.database.url {
        command.arg("--database-url").arg(url.expose_secret());
    }
    command
        .arg("--data")
        .arg(world.data())
        .arg("import")
        .args(arguments);
    command.stdin(Stdio::null());
    command
}
