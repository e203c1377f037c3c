//! The table of the walls.

use super::names::{Name, names};
use super::tree::Source;

/// A crate and the places in `admin/src`, folders or files, that may name it.
const CRATES: &[(&str, &[&str])] = &[
    ("sea_orm", &["store"]),
    ("sea_orm_migration", &["store"]),
    ("sqlx", &["store"]),
    ("carillon_migrations", &["store"]),
    ("redis", &["lease/redis"]),
    ("actix_web", &["web"]),
    ("askama", &["web"]),
    ("askama_web", &["web"]),
    ("reqwest", &["alarm", "executor"]),
    ("lettre", &["alarm"]),
    ("carillon_protocol", &["executor", "web"]),
    // The demonstration is a worker too: it runs an executor of ours beside the server.
    ("carillon_executor", &["cli"]),
    ("anyhow", &["cli", "main.rs", "main_failpoints.rs"]),
];

/// A room of `admin/src` and the other rooms that it may know.
const ROOMS: &[(&str, &[&str])] = &[
    ("config", &[]),
    ("failpoint", &[]),
    ("metrics", &[]),
    ("runtime", &[]),
    ("store", &["failpoint"]),
    ("lease", &[]),
    ("executor", &[]),
    ("alarm", &[]),
    ("pipeline", &["config", "failpoint", "metrics", "runtime", "store", "lease", "executor", "alarm"]),
    ("web", &["config", "metrics", "pipeline", "store"]),
];

/// They wire the rooms, and may know all of them. `cli` and `main.rs` are the program, not the library.
const WIRING: &[&str] = &["lib", "server", "main", "main_failpoints", "cli"];

const CLOCKS: &[&str] = &["SystemTime", "Utc", "Local"];

/// Names that say nothing about what is inside.
const EMPTY: &[&str] = &["util", "common", "helper", "manager", "core", "misc", "base"];

/// Every breach in one file of `admin/src`, as `admin/src/path:line: what`.
pub fn breaches(source: &Source) -> Vec<String> {
    let room = source.path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    let known = WIRING.contains(&room) || ROOMS.iter().any(|(name, _)| *name == room);
    let stranger = (!known)
        .then(|| format!("admin/src/{}: `{room}` is no room of the table in tests/it/walls/rules.rs", source.path));
    let all = names(source);
    let named = all.iter().flat_map(|name| {
        let said = [outside_its_wall(source, name), unknown_room(room, name), system_time(name)];
        said.into_iter().flatten().map(|what| format!("admin/src/{}:{}: {what}", source.path, name.line))
    });
    stranger.into_iter().chain(named).collect()
}

fn outside_its_wall(source: &Source, name: &Name) -> Option<String> {
    let (krate, places) = CRATES.iter().find(|(krate, _)| *krate == name.segments[0])?;
    let inside = places.iter().any(|place| {
        source.path == *place || source.path.strip_prefix(place).is_some_and(|rest| rest.starts_with(['/', '.']))
    });
    (!inside).then(|| format!("`{krate}` is named only in {}", places.join(", ")))
}

fn unknown_room(room: &str, name: &Name) -> Option<String> {
    let (_, may_know) = ROOMS.iter().find(|(known, _)| *known == room)?;
    let other = (name.segments[0] == "crate").then(|| name.segments.get(1))??;
    let forbidden =
        ROOMS.iter().any(|(known, _)| known == other) && other != room && !may_know.contains(&other.as_str());
    forbidden.then(|| format!("`{room}` must not know `{other}`"))
}

/// clippy.toml says the same; this also holds where somebody has silenced clippy.
fn system_time(name: &Name) -> Option<String> {
    let reads = name.segments.windows(2).any(|pair| CLOCKS.contains(&pair[0].as_str()) && pair[1] == "now");
    reads.then(|| format!("`{}`: take `now` from the Clock", name.segments.join("::")))
}

/// What is wrong with a path whose file or folder is called `utils`, `lease_manager` and the like.
pub fn empty_name(path: &str) -> Option<String> {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let words = stem.split(['/', '_', '-', '.']).map(|word| word.strip_suffix('s').unwrap_or(word));
    let empty = words.clone().find(|word| EMPTY.contains(word))?;
    Some(format!("{path}: a name with `{empty}` does not say what is inside"))
}
