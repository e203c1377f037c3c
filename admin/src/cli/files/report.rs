//! What the commands print, and their exit codes.

use std::process::ExitCode;

use carillon_files::document::Fault;
use carillon_files::plan::Plan;

/// A comparison found changes.
pub const CHANGES: u8 = 2;

/// How a plan is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    #[default]
    Text,
    Json,
}

/// Prints what a comparison found.
pub fn print(plan: &Plan, output: Output) -> ExitCode {
    match output {
        Output::Text => print!("{plan}"),
        Output::Json => println!("{}", plan.to_json()),
    }
    if plan.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHANGES) }
}

/// All faults of the files, found before anything was written.
pub fn faulty(faults: &[Fault]) -> anyhow::Error {
    anyhow::anyhow!("{}; nothing was changed:\n  {}", count(faults), lines(faults))
}

/// Faults that the server found when it was to store a job.
pub fn refused(faults: &[Fault]) -> anyhow::Error {
    anyhow::anyhow!("{}:\n  {}", count(faults), lines(faults))
}

fn count(faults: &[Fault]) -> String {
    match faults.len() {
        1 => "1 fault".to_owned(),
        count => format!("{count} faults"),
    }
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")
}
