//! `carillon apply`: makes a server as the files say.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use carillon_files::plan::{Options, Plan, build, check_limit};
use clap::Args;

use super::client::{Client, ServerArgs};
use super::report::{Output, faulty, print};
use super::write::Writer;
use super::{preview, server, source};

#[derive(Args)]
pub struct ApplyArgs {
    /// A file, or a folder with files of one set
    path: PathBuf,
    /// Print what would change and change nothing; exit code 2 if anything would
    #[arg(long)]
    dry_run: bool,
    /// Delete jobs of this set that the files do not have
    #[arg(long)]
    prune: bool,
    /// Delete up to this number of jobs; without it: a tenth of the set, at least 1 and at most 20
    #[arg(long, value_name = "N", requires = "prune")]
    prune_limit: Option<usize>,
    /// Take over jobs that belong to another set or to none
    #[arg(long)]
    adopt: bool,
    /// How a dry run is printed
    #[arg(long, value_enum, default_value_t)]
    output: Output,
    #[command(flatten)]
    server: ServerArgs,
}

pub async fn run(args: ApplyArgs) -> anyhow::Result<ExitCode> {
    let set = source::read(&args.path)?;
    let client = Client::new(&args.server)?;
    let live = server::read(&client).await?;
    let options = Options { adopts: args.adopt, prunes: args.prune };
    let mut plan = build(&set, &live, options).map_err(|faults| faulty(&faults))?;
    check_limit(plan.deletes.len(), plan.owned, args.prune_limit).map_err(|over| anyhow::anyhow!("{over}"))?;
    let faults = preview::check(&client, &live, &mut plan, args.dry_run).await?;
    if !faults.is_empty() {
        return Err(faulty(&faults));
    }
    if args.dry_run {
        return Ok(print(&plan, args.output));
    }
    let mut writer = Writer::new(&client, &live);
    let written = writer.write(&plan).await;
    written.with_context(|| unfinished(writer.done, plan.len()))?;
    print_summary(&plan);
    Ok(ExitCode::SUCCESS)
}

fn unfinished(done: usize, all: usize) -> String {
    format!("{done} of {all} changes were made; apply again to make the others")
}

fn print_summary(plan: &Plan) {
    let Plan { creates, updates, deletes, unchanged, .. } = plan;
    println!("{} created, {} changed, {} deleted, {unchanged} unchanged", creates.len(), updates.len(), deletes.len());
    if !plan.left_over.is_empty() {
        let names: Vec<String> = plan.left_over.iter().map(ToString::to_string).collect();
        println!("not in the files, and still there without --prune: {}", names.join(", "));
    }
}
