//! The table of the document, and what differs from it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::behaviours::BEHAVIOURS;

const BEGIN: &str = "<!-- written by `make interop` -->\n";
const END: &str = "<!-- end -->\n";

/// One line for each behaviour, one column for each executor. Only the columns that were seen are compared.
pub fn compare(rows: &[(&str, Vec<String>)]) -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/executors.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("the document has a table");
    let (known, after) = rest.split_once(END).expect("the table ends");
    if std::env::var_os("UPDATE_TABLE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", text(rows))).unwrap();
        return ExitCode::SUCCESS;
    }
    let mut differences = 0;
    for (name, seen) in rows {
        let line = known.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
        let expected: Vec<&str> = line.trim_matches('|').split('|').skip(1).map(str::trim).collect();
        for (index, (title, _)) in BEHAVIOURS.iter().enumerate() {
            let expected = expected.get(index).copied().unwrap_or("nothing");
            if expected != seen[index] {
                println!("{name}: {title}: {} in place of {expected}", seen[index]);
                differences += 1;
            }
        }
    }
    println!("{} executors, {} behaviours, {differences} differences", rows.len(), BEHAVIOURS.len());
    if differences == 0 && !rows.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn text(rows: &[(&str, Vec<String>)]) -> String {
    let mut out = String::from("| executor |");
    BEHAVIOURS.iter().for_each(|(title, _)| _ = write!(out, " {title} |"));
    let _ = writeln!(out, "\n|{}", " --- |".repeat(BEHAVIOURS.len() + 1));
    for (name, seen) in rows {
        let _ = writeln!(out, "| {name} | {} |", seen.join(" | "));
    }
    out
}
