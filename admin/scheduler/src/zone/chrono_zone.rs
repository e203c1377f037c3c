//! Zones as time zones of chrono.

use std::fmt;

use chrono::{FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone};

use super::zone_name::Zone;

/// How far the clock of a zone is ahead of UTC at a moment. It is written as `UTC+8`, `UTC-3:30` or `UTC`: abbreviations of
/// zones are ambiguous (`CST` is Shanghai, Chicago and Havana).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneOffset {
    zone: Zone,
    offset: FixedOffset,
}

impl ZoneOffset {
    fn new(zone: Zone, seconds: i32) -> Self {
        Self { zone, offset: FixedOffset::east_opt(seconds).unwrap_or_else(|| chrono::Utc.fix()) }
    }
}

impl Offset for ZoneOffset {
    fn fix(&self) -> FixedOffset {
        self.offset
    }
}

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.offset.local_minus_utc();
        let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
        match (minutes / 60, minutes % 60) {
            (0, 0) => f.write_str("UTC"),
            (hours, 0) => write!(f, "UTC{sign}{hours}"),
            (hours, minutes) => write!(f, "UTC{sign}{hours}:{minutes:02}"),
        }
    }
}

impl TimeZone for Zone {
    type Offset = ZoneOffset;

    fn from_offset(offset: &ZoneOffset) -> Self {
        offset.zone
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<ZoneOffset> {
        self.offset_from_local_datetime(&local.and_time(NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<ZoneOffset> {
        self.offsets_of(*local).map(|seconds| ZoneOffset::new(*self, seconds))
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> ZoneOffset {
        self.offset_from_utc_datetime(&utc.and_time(NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ZoneOffset {
        ZoneOffset::new(*self, self.offset_at(utc.and_utc().timestamp()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `CST` would be the abbreviation of two of them.
    #[test]
    fn an_offset_is_written_as_hours_from_utc() {
        let at = chrono::DateTime::from_timestamp(1_768_435_200, 0).unwrap();
        let shown = |zone: &str| at.with_timezone(&zone.parse::<Zone>().unwrap()).format("%Z").to_string();
        let zones = ["Asia/Shanghai", "America/Chicago", "Asia/Kathmandu", "America/St_Johns", "Europe/London", "UTC"];
        assert_eq!(zones.map(shown), ["UTC+8", "UTC-6", "UTC+5:45", "UTC-3:30", "UTC", "UTC"]);
    }
}
