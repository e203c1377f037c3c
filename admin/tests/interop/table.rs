//! The table of the document, and what differs from it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::behaviours::BEHAVIOURS;

const BEGIN: &str = "<!-- written by `make interop` -->\n";
const END: &str = "<!-- end -->\n";

/// What was seen of an executor.
pub struct Row {
    /// In the table.
    pub order: usize,
    pub name: &'static str,
    /// Titles of behaviours, each with what was seen, in the table's order.
    pub seen: Vec<(&'static str, String)>,
}

/// One line for each executor, one column for each behaviour. Only what was seen is compared.
pub fn compare(rows: &[Row]) -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/executors.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("the document has a table");
    let (known, after) = rest.split_once(END).expect("the table ends");
    if std::env::var_os("UPDATE_TABLE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", text(rows))).unwrap();
        return ExitCode::SUCCESS;
    }
    let (mut compared, mut differences) = (0, 0);
    for Row { name, seen, .. } in rows {
        let line = known.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
        let expected: Vec<&str> = line.trim_matches('|').split('|').skip(1).map(str::trim).collect();
        for (title, found) in seen {
            let column = BEHAVIOURS.iter().position(|(known, _)| known == title);
            let expected = column.and_then(|column| expected.get(column)).copied().unwrap_or("nothing");
            if expected != found {
                println!("{name}: {title}: {found} in place of {expected}");
                differences += 1;
            }
            compared += 1;
        }
    }
    println!("{} executors, {compared} behaviours, {differences} differences", rows.len());
    if differences == 0 && compared > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn text(rows: &[Row]) -> String {
    let mut out = String::from("| executor |");
    BEHAVIOURS.iter().for_each(|(title, _)| _ = write!(out, " {title} |"));
    let _ = writeln!(out, "\n|{}", " --- |".repeat(BEHAVIOURS.len() + 1));
    for Row { name, seen, .. } in rows {
        assert_eq!(seen.len(), BEHAVIOURS.len(), "the table is written by a run that looks at everything");
        let cells: Vec<&str> = seen.iter().map(|(_, found)| found.as_str()).collect();
        let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
    }
    out
}
