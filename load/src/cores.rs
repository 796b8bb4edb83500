//! Pins the server and the benchmark to one core each, so that neither takes CPU time from the other.

use std::ffi::OsStr;
use std::fs;
use std::process::{self, Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::cleanup::ScratchDir;
use crate::process::{run, tool};

/// Pins the current thread to a core. Threads that it starts later inherit that.
pub(crate) fn pin_thread(core: usize) -> Result<()> {
    let link = fs::read_link("/proc/thread-self")?;
    let id = link.file_name().context("a thread has an ID")?;
    let pinned = tool("taskset", "util-linux")?
        .args(["--cpu-list", "--pid", &core.to_string()])
        .arg(id)
        .stdout(Stdio::null())
        .status()?;
    ensure!(
        pinned.success(),
        "cannot run on core {core}: the benchmark needs two cores"
    );
    Ok(())
}

#[derive(Args, Clone, Copy)]
pub(crate) struct Cores {
    /// The core to pin the server to
    #[arg(long, default_value_t = 0, value_name = "CORE")]
    pub server_core: usize,
    /// The core to pin this program to
    #[arg(long, default_value_t = 1, value_name = "CORE")]
    pub client_core: usize,
}

impl Cores {
    pub(crate) fn validate(self) -> Result<()> {
        ensure!(
            self.server_core != self.client_core,
            "the server and this program need different cores: change --server-core or --client-core"
        );
        Ok(())
    }

    /// Returns a command that starts `program` on the server's core.
    pub(crate) fn server_command(self, program: &OsStr) -> Result<Command> {
        let mut command = tool("taskset", "util-linux")?;
        command
            .args(["--cpu-list", &self.server_core.to_string()])
            .arg(program);
        Ok(command)
    }

    /// Pins this program. Child processes started later inherit the core unless they are pinned to another.
    pub(crate) fn pin_client(self, scratch: &ScratchDir) -> Result<()> {
        let mut command = tool("taskset", "util-linux")?;
        let (core, id) = (self.client_core.to_string(), process::id().to_string());
        run(
            command.args(["--all-tasks", "--cpu-list", "--pid", &core, &id]),
            scratch,
        )
        .with_context(|| {
            format!("cannot run on core {core}: the benchmark needs two cores, see --client-core")
        })?;
        Ok(())
    }
}
