//! Moving in from other schedulers, and back.

mod definitions;
mod xxl_job;

use clap::Subcommand;

pub use xxl_job::{CutoverArgs, ShadowArgs, cut_over, shadow};

/// What can be imported.
#[derive(Subcommand)]
pub enum ImportCommand {
    /// From the database of an xxl-job admin, 2.2 to 3.5
    ///
    /// It is read in one snapshot and never written. Jobs arrive paused; `carillon cutover` enables them by app. A second import brings
    /// what has changed there since and leaves alone what was changed here. The report has a code for each difference.
    XxlJob(Box<xxl_job::ImportArgs>),
    /// From crontabs to a file for `carillon apply`, on standard output
    ///
    /// Each entry becomes a paused job. What means something else here, and what becomes no job, is said on standard error.
    Crontab(definitions::CrontabArgs),
    /// From CronJobs of Kubernetes to a file for `carillon apply`, on standard output
    ///
    /// Each CronJob becomes a paused job whose handler gets image and command as parameters; Carillon starts no pods. What means something
    /// else here, and what becomes no job, is said on standard error.
    Kubernetes(definitions::KubernetesArgs),
}

/// What can be exported.
#[derive(Subcommand)]
pub enum ExportCommand {
    /// One SQL file for the tables of xxl-job 3.4, on standard output; it starts and stops no job
    XxlJob(Box<xxl_job::ExportArgs>),
}

pub async fn import(command: ImportCommand) -> anyhow::Result<()> {
    match command {
        ImportCommand::XxlJob(args) => xxl_job::import(*args).await,
        ImportCommand::Crontab(args) => definitions::crontab(&args),
        ImportCommand::Kubernetes(args) => definitions::kubernetes(&args),
    }
}

pub async fn export(command: ExportCommand) -> anyhow::Result<()> {
    match command {
        ExportCommand::XxlJob(args) => xxl_job::export(*args).await,
    }
}
