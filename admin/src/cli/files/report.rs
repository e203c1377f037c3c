//! What the commands print, and their exit codes.

use std::process::ExitCode;

use carillon_files::document::Fault;
use carillon_files::plan::Plan;

/// A comparison found changes.
const CHANGES: u8 = 2;

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

/// All faults of the files as one error.
pub fn faulty(faults: &[Fault]) -> anyhow::Error {
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let count = if faults.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", faults.len()) };
    anyhow::anyhow!("{count}; nothing was changed:\n  {}", lines.join("\n  "))
}
