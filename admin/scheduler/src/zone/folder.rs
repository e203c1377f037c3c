//! A folder of compiled zones, as packages of systems have it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use md5::{Digest as _, Md5};

use super::source::ZoneDataError;
use super::zone_name::{Entry, Zone};

/// How each file of a zone begins.
const MAGIC: &[u8] = b"TZif";
/// No name has more parts: `America/Argentina/Buenos_Aires`.
const MAX_DEPTH: usize = 3;
/// Not zones: copies of all zones, two of them with leap seconds, and aliases for the machine's own zone.
const NOT_ZONES: &[&str] = &["posix", "right", "localtime", "posixrules", "Factory"];

/// The zones of the folder.
pub(super) fn zones(folder: &Path) -> Result<BTreeMap<&'static str, Zone>, ZoneDataError> {
    let mut zones = BTreeMap::new();
    read(folder, "", 1, &mut zones)?;
    match zones.is_empty() {
        true => Err(ZoneDataError::Empty(folder.to_owned())),
        false => Ok(zones),
    }
}

fn read(
    folder: &Path,
    prefix: &str,
    depth: usize,
    zones: &mut BTreeMap<&'static str, Zone>,
) -> Result<(), ZoneDataError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error| ZoneDataError::Unreadable { path, error }
    };
    for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| !NOT_ZONES.contains(name))
        else {
            continue;
        };
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            if depth < MAX_DEPTH {
                read(&path, &format!("{name}/"), depth + 1, zones)?;
            }
            continue;
        }
        let data = fs::read(&path).map_err(unreadable(&path))?;
        if data.starts_with(MAGIC) {
            let zone = checked(name, data, path)?;
            zones.insert(zone.name(), zone);
        }
    }
    Ok(())
}

fn checked(name: String, data: Vec<u8>, path: PathBuf) -> Result<Zone, ZoneDataError> {
    match TimeZone::tzif(&name, &data) {
        Ok(_) => Ok(Zone::keep(Entry::new(name.leak(), data.leak()))),
        Err(error) => Err(ZoneDataError::Damaged { path, reason: error.to_string() }),
    }
}

/// The version of the folder's data, such as `2026f`.
pub(super) fn version(folder: &Path) -> Option<String> {
    let source = || first_line(&folder.join("tzdata.zi"))?.strip_prefix("# version ").map(str::to_owned);
    let version = source().or_else(|| first_line(&folder.join("+VERSION")))?;
    let version = version.trim();
    let is_version = version.len() <= 16 && version.get(..4)?.bytes().all(|byte| byte.is_ascii_digit());
    is_version.then(|| version.to_owned())
}

fn first_line(file: &Path) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.lines().next()?.to_owned())
}

/// In place of a version: `md5-` and eight digits that change with the data.
pub(super) fn digest(zones: &BTreeMap<&'static str, Zone>) -> String {
    let mut digest = Md5::new();
    for (name, zone) in zones {
        digest.update(name);
        digest.update(zone.data());
    }
    let hex: String = digest.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("md5-{hex}")
}
