//! The commands and their exit codes: 0 done, 1 failed, 2 called wrongly.

mod commands;

use clap::Parser;
use std::process::ExitCode;

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
