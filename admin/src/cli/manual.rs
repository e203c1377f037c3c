//! What a package installs beside the program: completions of shells and manual pages, both from the command line itself.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::Shell;

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that reads them
    shell: Shell,
}

/// Prints the completions of a shell.
pub fn completions(args: &CompletionsArgs, mut command: Command) {
    clap_complete::generate(args.shell, &mut command, "carillon", &mut std::io::stdout());
}

#[derive(Args)]
pub struct ManualArgs {
    /// The folder for the pages
    folder: PathBuf,
}

/// Writes a manual page for the program and one for each subcommand.
pub fn pages(args: &ManualArgs, command: Command) -> anyhow::Result<()> {
    let write = |folder: &Path| {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(command, folder)
    };
    write(&args.folder).with_context(|| format!("cannot write the manual pages to {}", args.folder.display()))
}
