//! When a maintenance window is in force: it begins at each instant of its cron expression, in its zone and with that zone's
//! clock changes, and lasts for elapsed minutes.

use std::sync::Arc;

use carillon_scheduler::{FieldError, Millis, Schedule, ScheduleContext, ScheduleDraft};
use carillon_store::app::maintenance_windows::MaintenanceWindow;
use carillon_store::app::pauses::Pause;

const MINUTE_MS: Millis = 60_000;

/// A window with its parsed rule.
#[derive(Debug)]
pub struct Maintenance {
    pub window: MaintenanceWindow,
    schedule: Schedule,
}

impl Maintenance {
    /// # Errors
    /// What is wrong with the expression or the zone.
    pub fn parse(window: MaintenanceWindow) -> Result<Self, FieldError> {
        let draft = ScheduleDraft::cron(window.expression.as_str(), window.timezone.as_str());
        let schedule = Schedule::parse(&draft, &ScheduleContext::from_anchor(0)).map_err(|mut error| {
            error.field = error.field.trim_start_matches("schedule.").to_owned();
            error
        })?;
        Ok(Self { window, schedule })
    }

    /// The next times at which it begins.
    pub fn begins_after(&self, t: Millis) -> impl Iterator<Item = Millis> + '_ {
        std::iter::successors(self.schedule.next_after(t), |&begin| self.schedule.next_after(begin))
    }

    /// Begin and end of the one in force, if there is one, and of those ahead.
    pub fn times(&self, now: Millis) -> impl Iterator<Item = (Millis, Millis)> + '_ {
        let lasts = Millis::from(self.window.minutes) * MINUTE_MS;
        // One that had begun before it was made, or that was ended, is over.
        let over = self.window.ended_at.unwrap_or(self.window.created_at);
        self.begins_after(over.max(now - lasts)).map(move |begin| (begin, begin + lasts))
    }

    /// The one in force or the next one, and the one after it, as pauses.
    pub fn pauses(&self, now: Millis) -> impl Iterator<Item = Pause> + '_ {
        self.times(now).take(2).map(|(starts_at, ends_at)| {
            let MaintenanceWindow { app_id, app, note, author, created_at, .. } = self.window.clone();
            Pause { id: self.window.id, app_id, app, note, author, starts_at, ends_at: Some(ends_at), created_at }
        })
    }
}

/// The rules of these windows; those of before are kept for windows that are the same.
pub fn parse_all(windows: Vec<MaintenanceWindow>, before: &[Arc<Maintenance>]) -> Vec<Arc<Maintenance>> {
    let parse = |window: MaintenanceWindow| {
        if let Some(same) = before.iter().find(|known| known.window == window) {
            return Some(same.clone());
        }
        let id = window.id;
        let parsed = Maintenance::parse(window).map(Arc::new);
        parsed.inspect_err(|error| tracing::error!(window.id = id, %error, "a maintenance window cannot be read")).ok()
    };
    windows.into_iter().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(expression: &str, timezone: &str, minutes: i32) -> Maintenance {
        let (expression, timezone) = (expression.to_owned(), timezone.to_owned());
        let (note, author) = Default::default();
        let window = MaintenanceWindow {
            id: 1,
            app_id: None,
            app: None,
            note,
            author,
            expression,
            timezone,
            minutes,
            ended_at: None,
            created_at: 0,
        };
        Maintenance::parse(window).unwrap()
    }

    fn at(text: &str) -> Millis {
        chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
    }

    #[test]
    fn it_is_in_force_from_its_begin_to_before_its_end() {
        let sundays = window("0 0 2 ? * SUN", "Europe/Berlin", 120);
        let is_in_force = |text: &str| sundays.pauses(at(text)).any(|pause| pause.is_in_force(at(text)));
        for (text, expected) in [
            ("2026-01-11T01:59:59+01:00", false),
            ("2026-01-11T02:00:00+01:00", true),
            ("2026-01-11T03:59:59+01:00", true),
            ("2026-01-11T04:00:00+01:00", false),
            ("2026-01-12T02:30:00+01:00", false),
            // 02:00 does not exist on this day: it begins when the clock has been moved, and lasts two hours.
            ("2026-03-29T01:59:59+01:00", false),
            ("2026-03-29T03:00:00+02:00", true),
            ("2026-03-29T04:59:59+02:00", true),
            ("2026-03-29T05:00:00+02:00", false),
            // 02:00 is there twice: it begins with the first one.
            ("2026-10-25T01:59:59+02:00", false),
            ("2026-10-25T02:00:00+02:00", true),
            ("2026-10-25T02:59:59+01:00", true),
            ("2026-10-25T03:00:00+01:00", false),
        ] {
            assert_eq!(is_in_force(text), expected, "{text}");
        }
    }

    #[test]
    fn one_that_was_ended_is_over_and_the_next_one_comes() {
        let mut daily = window("0 0 2 * * ?", "UTC", 60);
        let now = at("2026-01-11T02:30:00Z");
        assert_eq!(daily.times(now).next(), Some((at("2026-01-11T02:00:00Z"), at("2026-01-11T03:00:00Z"))));
        daily.window.ended_at = Some(now);
        assert_eq!(daily.times(now).next(), Some((at("2026-01-12T02:00:00Z"), at("2026-01-12T03:00:00Z"))));
        daily.window.ended_at = None;
        daily.window.created_at = now;
        assert_eq!(daily.times(now).next().unwrap().0, at("2026-01-12T02:00:00Z"), "it had begun before it was made");
    }

    #[test]
    fn what_is_wrong_with_the_rule_is_named() {
        let window = |expression: &str, timezone: &str| {
            let window = MaintenanceWindow {
                expression: expression.to_owned(),
                timezone: timezone.to_owned(),
                ..window("0 0 2 * * ?", "UTC", 60).window
            };
            Maintenance::parse(window).unwrap_err().field
        };
        assert_eq!(window("0 0 25 * * ?", "UTC"), "expression");
        assert_eq!(window("0 0 2 * * ?", "Mars/Phobos"), "timezone");
    }

    #[test]
    fn a_rule_is_parsed_once() {
        let one = window("0 0 2 * * ?", "UTC", 60).window;
        let known = parse_all(vec![one.clone()], &[]);
        let other = MaintenanceWindow { id: 2, expression: "nonsense".to_owned(), ..one.clone() };
        let again = parse_all(vec![one, other], &known);
        assert!(again.len() == 1 && Arc::ptr_eq(&again[0], &known[0]));
    }
}
