//! Fields for a moment, in the viewer's zone. A form carries the zone of its times and the instants that it was filled with: the viewer
//! may change the zone while the form is open, and a local time in a repeated hour names two instants.

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

/// The form's field with the zone in which its times are written.
pub const ZONE: &str = "times_in";

/// The name of the field with the instant that the field `name` was filled with.
pub fn was(name: &str) -> String {
    format!("{name}_was")
}

/// The zone of the form's times; that of the viewer, if the form has none.
pub fn zone_of(form: &Form, viewer: Zone) -> Zone {
    form.value(ZONE).parse().unwrap_or(viewer)
}

impl Form {
    /// The name of the zone of its times.
    pub fn zone_name(&self, viewer: &Zone) -> &'static str {
        zone_of(self, *viewer).name()
    }

    /// The instant that the field was filled with, as text.
    pub fn was(&self, name: &str) -> &str {
        self.value(&was(name))
    }
}

/// Fills a field with an instant, or with nothing.
pub fn fill(form: Form, name: &str, at: Option<Millis>, zone: Zone) -> Form {
    let text = at.map_or_else(String::new, |at| written(at, zone));
    let was_at = at.map_or_else(String::new, |at| at.to_string());
    form.with(ZONE, zone.name()).with(name, text).with(&was(name), was_at)
}

/// A time in the form's zone, in the format of a browser's field; empty: None. A time with an offset is taken as it is. A time that
/// was not changed is the instant that the field was filled with; otherwise a repeated time is the first of the two instants.
pub fn moment(form: &mut Form, name: &str, viewer: Zone) -> Option<Millis> {
    let zone = zone_of(form, viewer);
    let text = form.value(name).trim().to_owned();
    let was_at: Option<Millis> = form.was(name).parse().ok();
    if let Some(at) = was_at
        && Some(local_time(at, zone).naive_local()) == local(&text)
    {
        return Some(at);
    }
    let found = parse(&text, zone);
    match local(&text) {
        _ if text.is_empty() || found.is_some() => {}
        Some(local) => form.add_error(name, format!("{local} does not exist in {}: the clocks skip it", zone.name())),
        None => form.add_error(name, format!("`{text:.64}` is no time; write it as 2026-01-31 18:30")),
    }
    found
}

fn local_time(at: Millis, zone: Zone) -> DateTime<Zone> {
    DateTime::from_timestamp_millis(at).unwrap_or_default().with_timezone(&zone)
}

/// In the format of a browser's field.
pub fn written(at: Millis, zone: Zone) -> String {
    let format = match at.rem_euclid(1000) {
        0 => "%Y-%m-%dT%H:%M:%S",
        _ => "%Y-%m-%dT%H:%M:%S%.3f",
    };
    local_time(at, zone).format(format).to_string()
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

    #[test]
    fn a_moment_that_is_not_changed_stays_in_the_second_pass_of_an_hour() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        // 02:30 comes at 00:30 and at 01:30 UTC.
        let second = DateTime::parse_from_rfc3339("2026-10-25T01:30:00Z").unwrap().timestamp_millis();
        let mut form = fill(Form::default(), "at", Some(second), berlin);
        assert_eq!(form.value("at"), "2026-10-25T02:30:00");
        assert_eq!(moment(&mut form, "at", berlin), Some(second));
        // A browser writes whole minutes without seconds.
        form.set("at", "2026-10-25T02:30");
        assert_eq!(moment(&mut form, "at", berlin), Some(second));
        assert_eq!(
            moment(&mut form, "at", "Asia/Tokyo".parse().unwrap()),
            Some(second),
            "the form was opened in Berlin"
        );
        form.set("at", "2026-10-25T02:31");
        assert_eq!(moment(&mut form, "at", berlin), Some(second - 3_600_000 + 60_000), "another time is the first one");
    }
}
