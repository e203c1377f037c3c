//! Local times as the fields of a form have them.

use carillon_scheduler::{Millis, Zone};
use chrono::{NaiveDateTime, TimeZone};

/// A local time of a field. A repeated time is the first of the two; a skipped one is None.
pub fn moment(text: &str, zone: Zone) -> Option<Millis> {
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let local = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text.trim(), format).ok())?;
    zone.from_local_datetime(&local).earliest().map(|time| time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_time_is_read_in_the_viewers_zone() {
        let berlin = "Europe/Berlin".parse().unwrap();
        assert_eq!(moment("1970-01-01T01:00", berlin), Some(0));
        assert_eq!(moment("2026-03-29T02:30", berlin), None, "the clocks skip it");
        assert_eq!(moment("yesterday", berlin), None);
    }
}
