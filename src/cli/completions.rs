//! `causeway completions` and `causeway man`, for people who type the commands.

use crate::cli::stdout::Stdout;
use anyhow::Context;
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use std::path::PathBuf;

const NAME: &str = "causeway";

#[derive(Args)]
#[command(
    after_help = "Example:\n  causeway completions bash > /usr/share/bash-completion/completions/causeway"
)]
pub(super) struct Completions {
    /// The shell that completes the commands
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, mut command: Command) -> anyhow::Result<()> {
        let mut script = Vec::new();
        generate(self.shell, &mut command, NAME, &mut script);
        Stdout::print(String::from_utf8(script)?.trim_end())?;
        Ok(())
    }
}

#[derive(Args)]
#[command(after_help = "Example:\n  causeway man /usr/local/share/man/man1")]
pub(super) struct Man {
    /// The folder for the man pages, one for each command
    folder: PathBuf,
}

impl Man {
    pub(super) fn run(&self, command: Command) -> anyhow::Result<()> {
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(command, &self.folder));
        written.with_context(|| {
            format!(
                "cannot write the man pages to {}; choose a folder that you can write to",
                self.folder.display()
            )
        })
    }
}
