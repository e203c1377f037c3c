#![doc = include_str!("../README.md")]

mod check;
mod clock;
mod cluster;
mod executor;
mod load;
mod nemesis;
mod options;
mod oracle;
mod proxy;
mod random;
mod record;
mod report;
mod run;
mod samples;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Breaks a cluster in every way it can think of, and looks whether anything was lost, doubled or late.
#[derive(Parser)]
#[command(name = "carillon-chaos", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a cluster, break it, check it; the last line is the verdict
    Run(options::Options),
    /// Check the folder of an earlier run again
    Replay {
        /// The folder
        folder: PathBuf,
    },
    /// A recording executor; the suite starts these itself
    #[command(hide = true)]
    Executor(executor::Arguments),
}

fn main() -> ExitCode {
    let _ = rustls::crypto::ring::default_provider().install_default();
    match work(Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("carillon-chaos: {error:#}");
            println!("VERDICT: failed: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether it passed.
fn work(command: Command) -> anyhow::Result<bool> {
    // Actix wants a thread of its own for each server; tokio's two are enough for the proxies.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match command {
        Command::Run(options) => {
            let folder = runtime.block_on(run::run(&options))?;
            let passed = judge(&folder)?;
            match options.controls {
                true => controls(&runtime, &options, passed),
                false => Ok(passed),
            }
        }
        Command::Replay { folder } => judge(&folder),
        Command::Executor(arguments) => {
            actix_web::rt::System::new().block_on(executor::run(arguments))?;
            Ok(true)
        }
    }
}

/// The clusters that are broken on purpose: a checker that lets one pass is worth nothing.
fn controls(runtime: &tokio::runtime::Runtime, options: &options::Options, passed: bool) -> anyhow::Result<bool> {
    let mut caught = true;
    for control in [options::Control::RedisLockOnly, options::Control::RecordAtSend, options::Control::FireTaken] {
        let broken = options::Options { control, seconds: 60, ..options.clone() };
        let folder = runtime.block_on(run::run(&broken))?;
        let history = record::files::load(&folder)?;
        let findings = check::check(&history);
        report::write(&history, &findings, &folder)?;
        let found = findings.anomalies_of_correctness();
        println!("control {}: {found} anomalies found", control.as_str());
        caught &= found > 0;
    }
    let verdict = match (passed, caught) {
        (true, true) => "VERDICT: passed; both broken clusters were detected",
        (false, _) => "VERDICT: failed, see above",
        (true, false) => "VERDICT: failed: the checker let a broken cluster pass",
    };
    println!("{verdict}");
    Ok(passed && caught)
}

fn judge(folder: &Path) -> anyhow::Result<bool> {
    let history = record::files::load(folder)?;
    let findings = check::check(&history);
    report::write(&history, &findings, folder)
}
