//! Windows of the week in which a rule sends nothing. An alert that begins in such a window is sent at its end, unless the alert has ended by then.

use carillon_scheduler::{FieldError, Millis, Weekday, Zone};
use carillon_store::alert::rules::Silence;
use chrono::{DateTime, Datelike, Duration, MappedLocalTime, NaiveDateTime, NaiveTime, TimeZone};

/// When the silence ends; None: there is none now.
pub fn silent_until(silences: &[Silence], now: Millis) -> Option<Millis> {
    silences.iter().filter_map(|silence| end_of(silence, now)).max()
}

fn end_of(silence: &Silence, now: Millis) -> Option<Millis> {
    let zone: Zone = silence.zone.parse().ok()?;
    let (from, to) = (time(&silence.from)?, time(&silence.to)?);
    let today = DateTime::from_timestamp_millis(now)?.with_timezone(&zone).date_naive();
    // A window that began yesterday may last until today.
    [today, today.pred_opt()?].into_iter().find_map(|day| {
        if !silence.weekdays.contains(&Weekday::from(day.weekday())) {
            return None;
        }
        let last_day = if to > from { day } else { day + Duration::days(1) };
        let begin = instant(zone, day.and_time(from), MappedLocalTime::earliest)?;
        let end = instant(zone, last_day.and_time(to), MappedLocalTime::latest)?;
        (begin..end).contains(&now).then_some(end)
    })
}

/// When the clocks of a zone show a time. In place of a time that a clock change leaves out, the first one that exists in steps of a
/// quarter of an hour: 02:10 becomes 03:10. Of a time that comes twice `pick` takes one.
fn instant(
    zone: Zone,
    local: NaiveDateTime,
    pick: impl Fn(MappedLocalTime<DateTime<Zone>>) -> Option<DateTime<Zone>>,
) -> Option<Millis> {
    let mut quarters = (0..=96).map(|quarter| local + Duration::minutes(15 * quarter));
    Some(quarters.find_map(|local| pick(zone.from_local_datetime(&local)))?.timestamp_millis())
}

fn time(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text, "%H:%M").ok()
}

/// What is wrong with a window.
pub fn check(silence: &Silence, place: usize) -> Vec<FieldError> {
    let field = |name: &str| format!("silences[{place}].{name}");
    let mut errors = vec![];
    if silence.weekdays.is_empty() {
        errors.push(FieldError::new(field("weekdays"), "name at least one day, such as SAT"));
    }
    for (name, text) in [("from", &silence.from), ("to", &silence.to)] {
        if time(text).is_none() {
            errors.push(FieldError::new(
                field(name),
                format!("`{text:.16}` is not a time of day; write HH:MM, such as 22:00"),
            ));
        }
    }
    if silence.zone.parse::<Zone>().is_err() {
        let message = format!("`{:.64}` is not a time zone; write a name such as Europe/Berlin or UTC", silence.zone);
        errors.push(FieldError::new(field("zone"), message));
    }
    errors
}

/// A window as people write it: `SAT,SUN 22:00-06:00 Europe/Berlin`, `MON-FRI 00:00-08:00 UTC`.
///
/// # Errors
/// What is wrong, with an example.
pub fn parse(line: &str) -> Result<Silence, String> {
    let example = "write days, times and a zone, such as MON-FRI 22:00-06:00 Europe/Berlin";
    let words: Vec<&str> = line.split_whitespace().collect();
    let [days, times, zone] = words[..] else {
        return Err(format!("`{line:.64}`: {example}"));
    };
    let (from, to) = times.split_once('-').ok_or_else(|| format!("`{times:.32}`: {example}"))?;
    let silence =
        Silence { weekdays: weekdays(days)?, from: from.to_owned(), to: to.to_owned(), zone: zone.to_owned() };
    match check(&silence, 0).into_iter().next() {
        None => Ok(silence),
        Some(error) => Err(error.message),
    }
}

/// As [`parse`] reads it.
pub fn text(silence: &Silence) -> String {
    let days: Vec<&str> = silence.weekdays.iter().map(|day| day.as_str()).collect();
    format!("{} {}-{} {}", days.join(","), silence.from, silence.to, silence.zone)
}

fn weekdays(text: &str) -> Result<Vec<Weekday>, String> {
    let day = |word: &str| word.to_uppercase().parse::<Weekday>().map_err(|error| error.to_string());
    let mut days = vec![];
    for part in text.split(',').filter(|part| !part.is_empty()) {
        match part.split_once('-') {
            None => days.push(day(part)?),
            Some((first, last)) => {
                let (first, last) = (day(first)?.code(), day(last)?.code());
                let count = (last - first).rem_euclid(7);
                days.extend((0..=count).filter_map(|step| Weekday::from_code((first - 1 + step) % 7 + 1)));
            }
        }
    }
    Ok(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
    }

    #[test]
    fn a_window_lasts_until_its_end_also_over_midnight() {
        let night = [parse("MON-FRI 22:00-06:00 Europe/Berlin").unwrap()];
        assert_eq!(text(&night[0]), "MON,TUE,WED,THU,FRI 22:00-06:00 Europe/Berlin");
        // 2026-11-23 is a Monday; Berlin is an hour ahead of UTC.
        assert_eq!(silent_until(&night, at("2026-11-23T20:59:00Z")), None);
        assert_eq!(silent_until(&night, at("2026-11-23T21:00:00Z")), Some(at("2026-11-24T05:00:00Z")));
        assert_eq!(silent_until(&night, at("2026-11-24T04:59:59Z")), Some(at("2026-11-24T05:00:00Z")));
        assert_eq!(silent_until(&night, at("2026-11-24T05:00:00Z")), None);
        assert_eq!(silent_until(&night, at("2026-11-28T04:00:00Z")), Some(at("2026-11-28T05:00:00Z")), "since Friday");
        assert_eq!(silent_until(&night, at("2026-11-29T04:00:00Z")), None, "not since Saturday");
        assert_eq!(weekdays("SAT-MON").unwrap(), [Weekday::Sat, Weekday::Sun, Weekday::Mon]);
    }

    #[test]
    fn a_window_ends_once_also_where_clocks_change() {
        let night = [parse("SUN 00:00-02:30 Europe/Berlin").unwrap()];
        // From 02:00 to 03:00: its end is left out.
        let end = at("2026-03-29T01:00:00Z");
        assert_eq!(silent_until(&night, at("2026-03-29T00:59:30Z")), Some(end));
        assert_eq!(silent_until(&night, end), None);
        // From 03:00 to 02:00: its end comes twice.
        let end = at("2026-10-25T01:30:00Z");
        for now in ["2026-10-24T22:00:00Z", "2026-10-25T00:15:00Z", "2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z"] {
            assert_eq!(silent_until(&night, at(now)), Some(end), "{now}");
        }
        assert_eq!(silent_until(&night, end), None);
    }

    #[test]
    fn a_window_that_would_begin_in_a_left_out_hour_begins_as_long_after_it() {
        let morning = [parse("SUN 02:10-04:00 Europe/Berlin").unwrap()];
        // 03:05 and 03:10 in Berlin.
        assert_eq!(silent_until(&morning, at("2026-03-29T01:05:00Z")), None);
        assert_eq!(silent_until(&morning, at("2026-03-29T01:10:00Z")), Some(at("2026-03-29T02:00:00Z")));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, said) in [
            ("MON", "write days, times and a zone"),
            ("MON 22-06 UTC", "`22` is not a time of day"),
            ("MON 22:00-06:00 Mars/Phobos", "`Mars/Phobos` is not a time zone"),
            ("FOO 22:00-06:00 UTC", "FOO"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
