//! What the handlers that people copy first do.

use std::fs;
use std::path::{Path, PathBuf};

/// How a program starts another one, or fetches an address.
const FORBIDDEN: &[&str] = &["Command", "std::process", "reqwest", "TcpStream", "hyper"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let nested = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(nested).collect()
}

// covers: S27
#[test]
fn no_sample_handler_runs_a_shell_or_fetches_an_address() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [sources(&root.join("examples")), vec![root.join("../admin/src/cli/demo/workers.rs")]].concat();
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("job(") || text.contains("map_reduce(") || file.ends_with("settings/mod.rs"),
            "{file:?} has no handler"
        );
        let found: Vec<_> = FORBIDDEN.iter().filter(|word| text.contains(**word)).collect();
        assert!(found.is_empty(), "{file:?} has {found:?}");
    }
}
