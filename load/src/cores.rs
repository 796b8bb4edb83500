//! Server and measuring program each get a core of their own, so that neither takes time from the other.

use std::ffi::OsStr;
use std::process::{self, Command};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::cleanup::Workplace;
use crate::process::{run, tool};

#[derive(Args, Clone, Copy)]
pub struct Cores {
    /// The core the server is pinned to
    #[arg(long, default_value_t = 0, value_name = "CORE")]
    pub server_core: usize,
    /// The core this program is pinned to
    #[arg(long, default_value_t = 1, value_name = "CORE")]
    pub client_core: usize,
}

impl Cores {
    pub fn check(self) -> Result<()> {
        ensure!(
            self.server_core != self.client_core,
            "the server and this program need a core each: choose --server-core and --client-core apart"
        );
        Ok(())
    }

    /// The command that starts `program` on the server's core.
    pub fn on_server_core(self, program: &OsStr) -> Result<Command> {
        let mut command = tool("taskset", "util-linux")?;
        command
            .args(["--cpu-list", &self.server_core.to_string()])
            .arg(program);
        Ok(command)
    }

    /// Pins this program itself; children started later inherit it unless they are pinned elsewhere.
    pub fn pin_this_program(self, workplace: &Workplace) -> Result<()> {
        let mut command = tool("taskset", "util-linux")?;
        let (core, id) = (self.client_core.to_string(), process::id().to_string());
        run(
            command.args(["--all-tasks", "--cpu-list", "--pid", &core, &id]),
            workplace,
        )
        .with_context(|| format!("cannot run on core {core}: two cores are needed, see --client-core"))?;
        Ok(())
    }
}
