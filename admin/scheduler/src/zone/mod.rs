//! Time zones: names, offsets and clock changes by the IANA time zone database.
//!
//! A process computes with one edition of the database from its start to its end ([`zone_data`]). [`Zone`] answers the
//! questions of the schedules and is a time zone of chrono; only this folder names jiff, which reads the data.

mod chrono_zone;
mod folder;
mod source;
mod zone_data;
mod zone_name;

pub use chrono_zone::ZoneOffset;
pub use source::{ZoneDataError, ZoneSource};
pub use zone_data::{SYSTEM_FOLDER, UnknownZone, ZoneData, load_zone_data, zone_data};
pub use zone_name::Zone;
