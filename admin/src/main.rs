//! The program `carillon`. What its subcommands do is in `cli/`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
