//! The `causeway` binary: everything is in the library.

use std::process::ExitCode;

// Rows cross from the thread that reads the store to those that use them: an import takes a third less time with
// this allocator than with the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    causeway::cli::main()
}
