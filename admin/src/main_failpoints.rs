//! The program `carillon` with its failpoints, for the fault suite alone: a name that is not shipped.

mod allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    carillon_admin::cli::main()
}
