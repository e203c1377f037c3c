//! Joining addresses.

/// Joins a base address and a path with exactly one slash: `http://h:1/` and `/run` give `http://h:1/run`.
///
/// Java's admin and executor and Go's executor fail on a double slash.
pub fn join_url(base: &str, path: &str) -> String {
    let (base, path) = (base.trim_end_matches('/'), path.trim_start_matches('/'));
    format!("{base}/{path}")
}
