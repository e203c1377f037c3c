//! Placeholders in parameters: `{{scheduled_at}}`, `{{scheduled_at|FORMAT}}`, `{{scheduled_at|FORMAT|ZONE}}`, `{{run_id}}`, `{{job_id}}`,
//! `{{attempt}}`, `{{part}}` and `{{parts}}`. They are replaced when a run is sent; any other text in braces stays as it is.
//!
//! FORMAT is one of `strftime`, such as `%Y-%m-%d`, or `s` or `ms` for the time since 1970-01-01 UTC; without one it is RFC 3339. ZONE is an
//! IANA name; without one it is that of the job's schedule.
//!
//! Secrets in the parameters of a job are in [`secret_params`](super::secret_params).

use std::borrow::Cow;
use std::fmt::Write as _;

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, FixedOffset, SecondsFormat};

use crate::time::Millis;
use crate::zone::{Zone, zone_data};

/// Maximum number of placeholders in one text.
const MOST: usize = 20;
/// Maximum number of bytes of a format.
const FORMAT_BYTES: usize = 64;
/// Maximum number of bytes of a placeholder.
const PLACEHOLDER_BYTES: usize = 160;
/// Maximum number of bytes that replaces one placeholder.
const VALUE_BYTES: usize = 200;

/// What placeholders stand for.
#[derive(Clone, Copy, Debug)]
pub struct PlaceholderValues {
    /// The instant of the fire, UTC ms.
    pub scheduled_at: Millis,
    /// The zone of the job's schedule.
    pub zone: Zone,
    /// The number of the run.
    pub run_id: i64,
    /// The number of its job.
    pub job_id: i64,
    /// 1, 2 …
    pub attempt: i32,
    /// From 0 on.
    pub part: i32,
    /// 1, the parts of the job, or the executors of a broadcast.
    pub parts: i32,
}

/// How a placeholder writes an instant: `|FORMAT|ZONE` behind its name, each of which may be left out or empty.
#[derive(Debug, PartialEq)]
pub(crate) struct InstantForm<'a> {
    format: Option<&'a str>,
    zone: Option<&'a str>,
}

/// What a run's own placeholder stands for.
#[derive(Debug, PartialEq)]
pub(crate) enum RunPlaceholder<'a> {
    ScheduledAt(InstantForm<'a>),
    RunId,
    JobId,
    Attempt,
    Part,
    Parts,
}

/// A text between placeholders, or one of them with its text.
pub(crate) enum Piece<'a, P> {
    Text(&'a str),
    Placeholder(P, &'a str),
}

/// The pieces of a text, in its order.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_, RunPlaceholder<'_>>> {
    pieces_of(text, PLACEHOLDER_BYTES, run_placeholder)
}

/// The pieces of a text whose placeholders have at most `max` bytes; `parse` reads what is between the braces, and returns `None` if that
/// stays as it is.
pub(crate) fn pieces_of<'a, P>(
    text: &'a str,
    max: usize,
    parse: impl Fn(&'a str) -> Option<P>,
) -> impl Iterator<Item = Piece<'a, P>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let found = rest.match_indices("{{").find_map(|(begin, _)| {
            // Not the whole text again for each brace in it.
            let near = &rest[begin..rest.floor_char_boundary(begin + max)];
            let length = near.find("}}")? + 2;
            let placeholder = parse(&near[2..length - 2])?;
            Some((begin, length, placeholder))
        });
        let (piece, length) = match found {
            None => (Piece::Text(rest), rest.len()),
            Some((0, length, placeholder)) => (Piece::Placeholder(placeholder, &rest[..length]), length),
            Some((begin, ..)) => (Piece::Text(&rest[..begin]), begin),
        };
        rest = &rest[length..];
        Some(piece)
    })
}

/// None: it is no placeholder of ours.
pub(crate) fn run_placeholder(inner: &str) -> Option<RunPlaceholder<'_>> {
    let (name, options) = match inner.split_once('|') {
        Some((name, options)) => (name.trim(), Some(options)),
        None => (inner.trim(), None),
    };
    match (name, options) {
        ("scheduled_at", options) => InstantForm::parse(options.unwrap_or_default()).map(RunPlaceholder::ScheduledAt),
        ("run_id", None) => Some(RunPlaceholder::RunId),
        ("job_id", None) => Some(RunPlaceholder::JobId),
        ("attempt", None) => Some(RunPlaceholder::Attempt),
        ("part", None) => Some(RunPlaceholder::Part),
        ("parts", None) => Some(RunPlaceholder::Parts),
        _ => None,
    }
}

impl<'a> InstantForm<'a> {
    /// Reads `FORMAT|ZONE`. None: there are more than these two.
    pub(crate) fn parse(options: &'a str) -> Option<Self> {
        let mut options = options.split('|').map(str::trim);
        let mut option = || options.next().filter(|text| !text.is_empty());
        let (format, zone) = (option(), option());
        options.next().is_none().then_some(Self { format, zone })
    }

    /// # Errors
    /// Says what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.format.map_or(Ok(()), check_format)?;
        match self.zone.filter(|zone| zone_data().zone(zone).is_none()) {
            Some(zone) => Err(format!("`{zone}` is not a time zone; write an IANA name such as UTC or Asia/Shanghai")),
            None => Ok(()),
        }
    }

    /// The instant; without a zone of its own on the clock of `own`. None: the form is wrong.
    pub(crate) fn text(&self, at: Millis, own: Zone) -> Option<String> {
        instant(at, own, self.format, self.zone)
    }
}

impl RunPlaceholder<'_> {
    /// # Errors
    /// Says what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Self::ScheduledAt(form) = self { form.check() } else { Ok(()) }
    }

    /// What stands in its place in parameters. None: it stays as it is.
    pub(crate) fn param_value(&self, values: &PlaceholderValues) -> Option<String> {
        self.value(values).filter(|value| value.len() <= VALUE_BYTES)
    }

    /// None: its form is wrong.
    pub(crate) fn value(&self, values: &PlaceholderValues) -> Option<String> {
        match self {
            Self::ScheduledAt(form) => form.text(values.scheduled_at, values.zone),
            Self::RunId => Some(values.run_id.to_string()),
            Self::JobId => Some(values.job_id.to_string()),
            Self::Attempt => Some(values.attempt.to_string()),
            Self::Part => Some(values.part.to_string()),
            Self::Parts => Some(values.parts.to_string()),
        }
    }
}

/// Checks the placeholders of a text.
///
/// # Errors
/// Says what is wrong in the first one that is.
pub fn check_placeholders(text: &str) -> Result<(), String> {
    let mut count = 0;
    for piece in pieces(text) {
        let Piece::Placeholder(placeholder, _) = piece else {
            continue;
        };
        count += 1;
        placeholder.check()?;
    }
    match count {
        0..=MOST => Ok(()),
        _ => Err(format!("has {count} placeholders; at most {MOST} are allowed")),
    }
}

fn check_format(format: &str) -> Result<(), String> {
    if format.len() > FORMAT_BYTES {
        return Err(format!("the format has {} bytes; at most {FORMAT_BYTES} are allowed", format.len()));
    }
    let is_wrong = StrftimeItems::new(format).any(|item| item == Item::Error);
    match is_wrong || instant(0, Zone::UTC, Some(format), None).is_none_or(|text| text.len() > VALUE_BYTES) {
        true => Err(format!("`{format}` is no format; write one such as %Y-%m-%d, `s` or `ms`")),
        false => Ok(()),
    }
}

/// The text with all placeholders replaced. One that is wrong stays as it is.
pub fn fill<'a>(text: &'a str, values: &PlaceholderValues) -> Cow<'a, str> {
    replaced(text, |placeholder| placeholder.value(values))
}

/// The text with the instant in place of `{{scheduled_at}}`: what repeats a run is for its instant, and has a number of its own.
pub fn fill_instant(text: &str, scheduled_at: Millis, zone: Zone) -> Cow<'_, str> {
    replaced(text, |placeholder| match placeholder {
        RunPlaceholder::ScheduledAt(form) => form.text(scheduled_at, zone),
        _ => None,
    })
}

/// Whether a text may hold placeholders.
pub fn may_hold_placeholders(text: &str) -> bool {
    text.contains("{{")
}

/// Whether [`fill`] would change a text.
pub fn has_placeholders(text: &str) -> bool {
    may_hold_placeholders(text) && pieces(text).any(|piece| matches!(piece, Piece::Placeholder(..)))
}

/// The most bytes by which [`fill`] makes a text longer.
pub const MOST_FILLED: usize = MOST * VALUE_BYTES;

fn replaced<'a>(text: &'a str, value: impl Fn(&RunPlaceholder<'_>) -> Option<String>) -> Cow<'a, str> {
    if !may_hold_placeholders(text) {
        return Cow::Borrowed(text);
    }
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder(placeholder, written) => {
                match value(&placeholder).filter(|it| it.len() <= VALUE_BYTES) {
                    Some(value) => filled.push_str(&value),
                    None => filled.push_str(written),
                }
            }
        }
    }
    Cow::Owned(filled)
}

fn instant(at: Millis, own: Zone, format: Option<&str>, zone: Option<&str>) -> Option<String> {
    let zone = zone.map_or(Some(own), |name| zone_data().zone(name))?;
    let offset = FixedOffset::east_opt(zone.offset_at(at.div_euclid(1000)))?;
    let local = DateTime::from_timestamp_millis(at)?.with_timezone(&offset);
    match format {
        None => Some(local.to_rfc3339_opts(SecondsFormat::Secs, true)),
        Some("s") => Some(at.div_euclid(1000).to_string()),
        Some("ms") => Some(at.to_string()),
        Some(format) => {
            let mut text = String::new();
            write!(text, "{}", local.format(format)).ok()?;
            Some(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> PlaceholderValues {
        // 2025-10-26 02:30 in Berlin, the second time.
        let (scheduled_at, zone) = (1_761_442_200_000, zone_data().zone("Europe/Berlin").unwrap());
        PlaceholderValues { scheduled_at, zone, run_id: 4711, job_id: 7, attempt: 2, part: 0, parts: 3 }
    }

    #[test]
    fn each_placeholder_has_its_value() {
        for (text, filled) in [
            ("", ""),
            ("plain", "plain"),
            ("{{scheduled_at}}", "2025-10-26T02:30:00+01:00"),
            ("day={{ scheduled_at | %Y-%m-%d }}", "day=2025-10-26"),
            ("{{scheduled_at|%F %H:%M|Asia/Shanghai}}", "2025-10-26 09:30"),
            ("{{scheduled_at||UTC}}", "2025-10-26T01:30:00Z"),
            ("{{scheduled_at|s}} {{scheduled_at|ms}}", "1761442200 1761442200000"),
            ("{{run_id}}/{{job_id}}/{{attempt}} {{part}}/{{parts}}", "4711/7/2 0/3"),
            ("{{{{run_id}}}}", "{{4711}}"),
        ] {
            assert_eq!(fill(text, &values()), filled, "{text}");
            assert_eq!(check_placeholders(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_is_none_of_ours_stays() {
        for text in
            ["{{", "{{}}", "{{ user.name }}", "{{run_id|x}}", "{{scheduled_at|a|b|c}}", "{% raw %}", "}}{{", "{{run_id"]
        {
            assert_eq!(fill(text, &values()), text);
            assert!(!has_placeholders(text));
            assert_eq!(check_placeholders(text), Ok(()));
        }
        assert!(has_placeholders("{{ user.name }} {{run_id}}"));
    }

    #[test]
    fn what_cannot_be_replaced_is_refused_and_stays() {
        for (text, why) in [
            ("{{scheduled_at|%Q}}", "`%Q` is no format; write one such as %Y-%m-%d, `s` or `ms`"),
            (
                "{{scheduled_at|%c%c%c%c%c%c%c%c%c%c}}",
                "`%c%c%c%c%c%c%c%c%c%c` is no format; write one such as %Y-%m-%d, `s` or `ms`",
            ),
            ("{{scheduled_at|%F|Mars}}", "`Mars` is not a time zone; write an IANA name such as UTC or Asia/Shanghai"),
        ] {
            assert_eq!(check_placeholders(text), Err(why.to_owned()));
            assert_eq!(fill(text, &values()), text);
        }
        let long = format!("{{{{scheduled_at|{}}}}}", "x".repeat(65));
        assert!(check_placeholders(&long).unwrap_err().ends_with("the format has 65 bytes; at most 64 are allowed"));
        let many = "{{run_id}}".repeat(21);
        assert_eq!(check_placeholders(&many), Err("has 21 placeholders; at most 20 are allowed".to_owned()));
    }

    #[test]
    fn a_text_of_braces_is_read_once() {
        let braces = "{".repeat(65_000) + "}}";
        assert_eq!(fill(&braces, &values()), braces);
        assert_eq!(fill(&format!("{braces}{{{{run_id}}}}"), &values()), format!("{braces}4711"));
    }

    #[test]
    fn what_repeats_a_run_keeps_its_instant_and_not_its_number() {
        let text = "{{scheduled_at|%F}} {{run_id}} {{attempt}}";
        assert_eq!(fill_instant(text, values().scheduled_at, values().zone), "2025-10-26 {{run_id}} {{attempt}}");
    }
}
