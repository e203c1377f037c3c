//! Nodes with nothing but the rights that `docs/security.md` names under "Least privilege".

mod databases;
mod locks;
mod process;

const DOCUMENT: &str = include_str!("../../../../docs/security.md");

/// The lines that follow this one in the document, to the end of their block.
fn documented(heading: &str) -> Vec<&'static str> {
    let block = DOCUMENT.split_once(&format!("\n{heading}\n"));
    let block = block.unwrap_or_else(|| panic!("security.md has no line `{heading}`")).1;
    block.lines().take_while(|line| !line.starts_with("```")).collect()
}
