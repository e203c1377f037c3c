//! The files that are looked at.

use std::fs;
use std::path::{Path, PathBuf};

/// A text and its path below the folder that is looked at.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }
}

/// The Rust files of `admin/src`, by their path in it.
pub fn admin() -> Vec<Source> {
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &["rs"])
}

/// The text files of the repository with one of these endings, or all when none is named.
pub fn repository(endings: &[&str]) -> Vec<Source> {
    below(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap(), endings)
}

fn below(root: &Path, endings: &[&str]) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() || !is_ours(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if endings.is_empty() || endings.iter().any(|ending| path.extension().is_some_and(|e| e == *ending))
            {
                sources.extend(read(root, path));
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

/// Not what git, cargo (which marks its target folders) or a running server puts here.
fn is_ours(path: &Path) -> bool {
    !path.ends_with(".git") && !path.ends_with("carillon-data") && !path.join("CACHEDIR.TAG").exists()
}

/// `None` for what is no text: a font, a picture.
fn read(root: &Path, path: PathBuf) -> Option<Source> {
    let text = String::from_utf8(fs::read(&path).unwrap()).ok()?;
    let path = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
    Some(Source { path, text })
}
