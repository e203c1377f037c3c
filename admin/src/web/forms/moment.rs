//! Fields for a moment, in the viewer's zone.

use carillon_scheduler::{Millis, Zone};
use chrono::{DateTime, NaiveDateTime};

use crate::web::forms::form::Form;

/// Without an offset, in the formats of a browser's field and in those that people write.
const FORMATS: [&str; 4] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"];

fn local(text: &str) -> Option<NaiveDateTime> {
    FORMATS.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
}

/// A time of a field. A local time that the zone repeats is the first of the two; one that it skips is None.
pub fn parse(text: &str, zone: Zone) -> Option<Millis> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_millis());
    }
    Some(local(text)?.and_local_timezone(zone).earliest()?.timestamp_millis())
}

/// A time in the viewer's zone, in the format of a browser's field; empty: None. A time with an offset is taken as it is.
pub fn moment(form: &mut Form, name: &str, zone: Zone) -> Option<Millis> {
    let text = form.value(name).trim().to_owned();
    let found = parse(&text, zone);
    match local(&text) {
        _ if text.is_empty() || found.is_some() => {}
        Some(local) => form.add_error(name, format!("{local} does not exist in {}: the clocks skip it", zone.name())),
        None => form.add_error(name, format!("`{text:.64}` is no time; write it as 2026-01-31 18:30")),
    }
    found
}

/// In the format of a browser's field.
pub fn written(at: Millis, zone: Zone) -> String {
    let utc = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let format = match at.rem_euclid(1000) {
        0 => "%Y-%m-%dT%H:%M:%S",
        _ => "%Y-%m-%dT%H:%M:%S%.3f",
    };
    utc.with_timezone(&zone).format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_in_the_viewers_zone() {
        let read = |text: &str| {
            let mut form = Form::default().with("at", text);
            let at = moment(&mut form, "at", "Europe/Berlin".parse().unwrap());
            at.map_or_else(|| form.error("at").unwrap_or("").to_owned(), |at| at.to_string())
        };
        assert_eq!(read("2026-01-15T01:00"), "1768435200000");
        assert_eq!(read("2026-01-15 01:00:00"), "1768435200000");
        assert_eq!(read("2026-01-15T00:00:00Z"), "1768435200000");
        assert_eq!(read("2026-01-15T01:00:00.125"), "1768435200125");
        assert_eq!(read(""), "");
        assert!(read("tomorrow").contains("`tomorrow` is no time"));
        assert!(read("2026-03-29T02:30").contains("does not exist in Europe/Berlin"));
    }

    #[test]
    fn a_local_time_is_read_in_the_viewers_zone() {
        let berlin = "Europe/Berlin".parse().unwrap();
        assert_eq!(parse("1970-01-01T01:00", berlin), Some(0));
        assert_eq!(parse("2026-03-29T02:30", berlin), None, "the clocks skip it");
        assert_eq!(parse("yesterday", berlin), None);
    }
}
