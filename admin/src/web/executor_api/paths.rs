//! The paths of the executor protocol.

/// Each resource is served below each of these.
pub const PREFIXES: [&str; 2] = ["", "/xxl-job-admin"];
/// The resources. Those of xxl-job come first.
pub const NAMES: [&str; 8] =
    ["registry", "registryRemove", "callback", "map", "map/results", "map/items", "declare", "loops"];

/// The path below the prefix, as executors sign it.
pub fn below_prefix(path: &str) -> &str {
    let below = PREFIXES.iter().rev().find_map(|prefix| path.strip_prefix(prefix));
    below.unwrap_or(path)
}

/// Whether a path is one of these resources.
pub fn is_path(path: &str) -> bool {
    let below = |prefix: &&str| path.strip_prefix(*prefix)?.strip_prefix("/api/");
    let name = PREFIXES.iter().rev().find_map(below);
    name.is_some_and(|name| NAMES.contains(&name))
}
