//! The real binary, started as a person would start it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use carillon_testkit::ProgramSettings;

/// `carillon` with these arguments, and none of the settings that may be in our own environment.
pub fn carillon(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carillon"));
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("CARILLON_")) {
        command.env_remove(name);
    }
    command.args(arguments).env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// A node on this data folder.
pub fn settings(folder: &Path) -> ProgramSettings {
    ProgramSettings::new(env!("CARGO_BIN_EXE_carillon"), folder)
}

/// Runs it to its end: exit code, standard output, standard error.
pub fn ended(mut command: Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}
