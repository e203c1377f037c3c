//! Instants as xxl-job writes and reads them: local ones in the zone of the reports, which stands for that of its JVM.

use carillon_scheduler::{Millis, Zone};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

const LOCAL: &str = "%Y-%m-%d %H:%M:%S";

/// `2025-07-04T15:00:00.000+00:00`
pub fn iso(at: Millis) -> String {
    utc(at).format("%Y-%m-%dT%H:%M:%S%.3f+00:00").to_string()
}

/// `2025-07-04 15:00:00`
pub fn local(at: Millis, zone: Zone) -> String {
    let offset = i64::from(zone.offset_at(at.div_euclid(1000)));
    utc(at + offset * 1000).format(LOCAL).to_string()
}

fn utc(at: Millis) -> NaiveDateTime {
    DateTime::from_timestamp_millis(at).unwrap_or_default().naive_utc()
}

/// The instant of a local time, or of the first second of a day; of a repeated hour, the first pass. None: it is none.
pub fn instant(text: &str, zone: Zone) -> Option<Millis> {
    let text = text.trim();
    let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN);
    let time = NaiveDateTime::parse_from_str(text, LOCAL).ok();
    let time = time.or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(midnight))?;
    let second = match zone.offsets_of(time).earliest() {
        Some(offset) => time.and_utc().timestamp() - i64::from(offset),
        None => zone.gap_end(time)?,
    };
    Some(second * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_times_go_both_ways() {
        let zone: Zone = "Asia/Shanghai".parse().unwrap();
        assert_eq!(local(1_760_000_040_400, zone), "2025-10-09 16:54:00");
        assert_eq!(instant("2025-10-09 16:54:00", zone), Some(1_760_000_040_000));
        assert_eq!(instant("1970-01-02", Zone::UTC), Some(86_400_000));
        assert_eq!(instant("tomorrow", Zone::UTC), None);
        assert_eq!(iso(1_760_000_040_400), "2025-10-09T08:54:00.400+00:00");
    }
}
