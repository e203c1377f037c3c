//! The program `carillon` with its failpoints, for the fault suite alone: a name that is not shipped.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
