//! What is said in the end: one JSON line, a table, a time line, and the verdict as the last line.

mod json;
mod svg;
mod table;
mod verdict;

use std::path::Path;

use crate::check::Findings;
use crate::record::History;

/// Writes `report.json`, `report.txt` and `timeline.svg` and prints the first two; whether the run has passed.
pub fn write(history: &History, findings: &Findings, folder: &Path) -> anyhow::Result<bool> {
    let verdict = verdict::judge(history, findings);
    let line = json::line(history, findings, &verdict)?;
    let table = table::text(history, findings);
    std::fs::write(folder.join("report.json"), format!("{line}\n"))?;
    std::fs::write(folder.join("report.txt"), format!("{table}\n{verdict}\n"))?;
    std::fs::write(folder.join("timeline.svg"), svg::draw(history))?;
    println!("{table}");
    println!("{line}");
    println!("{verdict}");
    Ok(verdict.is_passed())
}
