//! The program `carillon`. What its subcommands do is in `cli/`.

mod allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    carillon_admin::cli::main()
}
