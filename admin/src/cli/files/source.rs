//! The files of a set: one file, or those of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use carillon_files::document::{self, FileSet};

use super::report::faulty;

/// The set that a file, or the `.yaml`, `.yml` and `.json` files of a folder, describe.
///
/// # Errors
/// A file cannot be read, a folder has none, or the files have faults.
pub fn read(path: &Path) -> anyhow::Result<FileSet> {
    let paths = if path.is_dir() { of_folder(path)? } else { vec![path.to_owned()] };
    let mut files = vec![];
    for path in paths {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
        files.push((name, text));
    }
    document::read(files.iter().map(|(name, text)| (&**name, &**text))).map_err(|faults| faulty(&faults))
}

/// By name. An empty folder is more likely a mistake than the wish to have no jobs.
fn of_folder(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let is_ours = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        // The schema stands beside the files for editors.
        matches!(ending, Some("yaml" | "yml" | "json")) && !path.to_string_lossy().ends_with(".schema.json")
    };
    let mut paths: Vec<PathBuf> = paths?.into_iter().filter(is_ours).collect();
    if paths.is_empty() {
        bail!("{} has no files that end with .yaml, .yml or .json", folder.display());
    }
    paths.sort_unstable();
    Ok(paths)
}
