//! The commands and their exit codes: 0 done, 1 failed, 2 called wrongly.

mod commands;

use clap::Parser;
use std::process::ExitCode;

// Rows cross from the thread that reads the store to those that use them: an import takes a third less time with
// this allocator than with the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = commands::Causeway::parse();
    match commands::run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            commands::tell(&fault);
            ExitCode::FAILURE
        }
    }
}
