//! `causeway import`

mod all;
mod command;
mod download;
mod file_server;
mod irs;
mod lists;
mod nonprofits;
mod returns;

use crate::cli::server;
use crate::world::World;
use std::process::{Command, Stdio};

/// `causeway import ARGUMENTS` with the database of a story.
fn import_command(world: &World, arguments: &[&str]) -> Command {
    let mut command = server::command(world);
    command.arg("import").args(arguments);
    command.stdin(Stdio::null());
    command
}
