//! Moving in from xxl-job, and back.

mod cutover;
mod export;
mod import;
mod shadow;
mod source_args;

use clap::Subcommand;

pub use cutover::CutoverArgs;
pub use shadow::ShadowArgs;

/// What can be imported.
#[derive(Subcommand)]
pub enum ImportCommand {
    /// From the database of an xxl-job admin, 2.2 to 3.5
    ///
    /// It is read in one snapshot and never written. Jobs arrive disabled; `carillon cutover` enables them by app. A second import brings
    /// what has changed there since and leaves alone what was changed here. The report has a code for each difference.
    XxlJob(Box<import::ImportArgs>),
}

/// What can be exported.
#[derive(Subcommand)]
pub enum ExportCommand {
    /// One SQL file for the tables of xxl-job 3.4, on standard output; it starts and stops no job
    XxlJob(Box<export::ExportArgs>),
}

pub async fn import(command: ImportCommand) -> anyhow::Result<()> {
    match command {
        ImportCommand::XxlJob(args) => import::run(*args).await,
    }
}

pub async fn export(command: ExportCommand) -> anyhow::Result<()> {
    match command {
        ExportCommand::XxlJob(args) => export::run(*args).await,
    }
}

pub async fn cut_over(args: CutoverArgs) -> anyhow::Result<()> {
    cutover::run(args).await
}

pub async fn shadow(args: ShadowArgs) -> anyhow::Result<()> {
    shadow::run(args).await
}
