//! Names of time zones that are not quite right.

use carillon_scheduler::{Zone, zone_data};

/// The zone that was probably meant by a text that is no zone: another case, a city alone, an offset such as `GMT+8` or `GMT+08:00`.
pub fn suggestion(text: &str) -> Option<&'static str> {
    let text = text.trim().replace(' ', "_");
    // First: `Etc/GMT+8` ends with `GMT+8` and means the opposite.
    if let Some(zone) = offset(&text) {
        return Some(zone);
    }
    let ends_with = |zone: &Zone| zone.name().rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&text));
    let mut zones = zone_data().zones();
    let same = zones.find(|zone| zone.name().eq_ignore_ascii_case(&text));
    same.or_else(|| zone_data().zones().find(ends_with)).map(Zone::current_name)
}

/// The names of `Etc` count the other way round: `Etc/GMT-8` is eight hours ahead of UTC.
fn offset(text: &str) -> Option<&'static str> {
    let upper = text.to_ascii_uppercase();
    let hours = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT"))?;
    let hours: i32 = hours.strip_suffix(":00").unwrap_or(hours).parse().ok()?;
    let name = match -hours {
        0 => "UTC".to_owned(),
        hours => format!("Etc/GMT{hours:+}"),
    };
    name.parse().ok().map(Zone::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_suggested_for_what_people_write() {
        let cases = [
            ("asia/shanghai", Some("Asia/Shanghai")),
            ("Shanghai", Some("Asia/Shanghai")),
            ("new york", Some("America/New_York")),
            ("Kiev", Some("Europe/Kyiv")),
            ("GMT+8", Some("Etc/GMT-8")),
            ("utc-03", Some("Etc/GMT+3")),
            ("GMT+08:00", Some("Etc/GMT-8")),
            ("GMT+05:30", None),
            ("GMT+99", None),
            ("Mars/Phobos", None),
            ("", None),
        ];
        for (text, zone) in cases {
            assert_eq!(suggestion(text), zone, "{text}");
        }
    }
}
