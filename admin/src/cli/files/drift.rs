//! `carillon drift`: what differs between a server and the files that were applied, or the code of the programs that declare jobs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use carillon_files::plan::{Options, Plan, build};
use clap::Args;

use super::client::{Client, ServerArgs};
use super::report::{Output, faulty, print};
use super::{declared, server, source};

#[derive(Args)]
pub struct DriftArgs {
    /// A file, or a folder with files of one set; without it, jobs that programs declare are compared
    path: Option<PathBuf>,
    /// Only declared jobs of this app
    #[arg(long, conflicts_with = "path")]
    app: Option<String>,
    /// How the differences are printed
    #[arg(long, value_enum, default_value_t)]
    output: Output,
    #[command(flatten)]
    server: ServerArgs,
}

pub async fn run(args: DriftArgs) -> anyhow::Result<ExitCode> {
    let client = Client::new(&args.server)?;
    match &args.path {
        Some(path) => of_files(&client, path, args.output).await,
        None => declared::drift(&client, args.app.as_deref(), args.output).await,
    }
}

async fn of_files(client: &Client, path: &Path, output: Output) -> anyhow::Result<ExitCode> {
    let set = source::read(path)?;
    let live = server::read(client).await?;
    // Jobs of other owners are shown too.
    let options = Options { adopts: true, prunes: true };
    let mut plan = build(&set, &live, options).map_err(|faults| faulty(&faults))?;
    set_pauses_apart(&mut plan);
    let code = print(&plan, output);
    if output == Output::Text {
        print_authors(client, &plan).await?;
    }
    Ok(code)
}

/// A job that differs in nothing but its pause has no drift: it is an operator's business.
fn set_pauses_apart(plan: &mut Plan) {
    let is_pause = |job: &carillon_files::plan::JobChange| {
        job.differences.iter().all(|difference| difference.member == "enabled" && difference.before == false)
    };
    let (paused, others): (Vec<_>, Vec<_>) = std::mem::take(&mut plan.updates).into_iter().partition(is_pause);
    plan.updates = others;
    plan.paused.extend(paused.into_iter().map(|job| (job.reference, "against the file".to_owned())));
}

/// Who changed each job last, from its history.
async fn print_authors(client: &Client, plan: &Plan) -> anyhow::Result<()> {
    for job in plan.updates.iter().chain(&plan.deletes) {
        let Some((id, _)) = job.before else { continue };
        let history = client.get(&format!("/jobs/{id}/history?limit=1")).await?;
        let last = &history["items"][0];
        if let (Some(actor), Some(at)) = (last["actor"].as_str(), last["at"].as_str()) {
            println!("  {} was changed last by {actor} at {at}", job.reference);
        }
    }
    Ok(())
}
