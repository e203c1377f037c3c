//! `carillon cutover`: an app changes over.

use carillon_import::xxl_job::{cut_over, go_back};
use carillon_scheduler::{Clock as _, SystemClock};
use carillon_store::Actor;
use clap::Args;

use super::source_args::{SourceArgs, usage};
use crate::cli::arguments::counted;
use crate::cli::settings::DatabaseSettings;
use crate::cli::{database, logging};
use crate::config::LogFormat;

#[derive(Args)]
pub struct CutoverArgs {
    /// The app, by its name
    app: String,
    #[command(flatten)]
    source: SourceArgs,
    /// Also while runs in xxl-job have no result yet
    #[arg(long)]
    open_too: bool,
    /// The other way round: pause the app's imported jobs here, so that they can be started in xxl-job again
    #[arg(long, conflicts_with = "open_too")]
    back: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

pub async fn run(args: CutoverArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = database::open(&args.database).await?;
    let (by, now) = (Actor::cli(), SystemClock::new().now());
    if args.back {
        let name = match &args.source.source {
            Some(name) => name.clone(),
            None => args.source.read().await?.name,
        };
        let done = go_back(&name, &store, &args.app, (&by, now)).await.map_err(usage)?;
        println!("paused: {}{}", counted(done.switched.len(), "job"), list(&done.switched));
        if !done.still_enabled.is_empty() {
            println!("made here and still enabled, so they need executors here:{}", list(&done.still_enabled));
        }
        println!(
            "Give the executors of {} the address and the token of xxl-job again, restart them, and start the jobs there.",
            args.app
        );
        return Ok(());
    }
    let source = args.source.read().await?;
    let done = cut_over(&source, &store, &args.app, args.open_too, (&by, now)).await.map_err(usage)?;
    println!("enabled: {}{}", counted(done.switched.len(), "job"), list(&done.switched));
    if done.others > 0 {
        println!("left as they are, enabled already or not running in xxl-job: {}", counted(done.others, "job"));
    }
    if !done.without_schedule.is_empty() {
        println!("without a schedule here, so they do not fire:{}", list(&done.without_schedule));
    }
    if !done.with_script.is_empty() {
        println!(
            "script jobs, which need nodes with --scripts and an executor that runs them:{}",
            list(&done.with_script)
        );
    }
    if !done.not_imported.is_empty() {
        let ids: Vec<String> = done.not_imported.iter().map(ToString::to_string).collect();
        println!("in xxl-job and not imported: jobs {}", ids.join(", "));
    }
    println!("registered here: {}", counted(done.executors, "executor"));
    if done.executors == 0 {
        println!(
            "Each run fails until an executor registers: give the executors of {} the address and the token of this node, and restart them.",
            args.app
        );
    }
    Ok(())
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("\n  {name}")).collect()
}
