use std::ops::RangeInclusive;

use super::{FieldError, JobDraft, JobSpec};
use crate::Millis;
use crate::route::{LabelError, Labels, RouteStrategy};
use crate::schedule::{Facts, Schedule, ScheduleDraft};

const NAME_CHARS: usize = 64;
const HANDLER_CHARS: usize = 255;
const PARAMS_BYTES: usize = 65_536;
const THRESHOLD_SECONDS: RangeInclusive<i64> = 1..=86_400;
const MISFIRE_LIMIT: RangeInclusive<i64> = 1..=1_000;
const WINDOW_SECONDS: RangeInclusive<i64> = 1..=86_400;
const OVERLAP_QUEUE: RangeInclusive<i64> = 1..=1_000;
const TIMEOUT_SECONDS: RangeInclusive<i64> = 0..=604_800;
const RETRIES: RangeInclusive<i64> = 0..=100;
const CHILDREN: usize = 100;
const FLAG_AFTER_SECONDS: RangeInclusive<i64> = 0..=86_400;
/// The wire's `jobId` is a 32-bit integer in Java.
const JOB_IDS: RangeInclusive<i64> = 1..=i32::MAX as i64;

impl JobDraft {
    /// Checks every member. `now` is the present: a schedule that never fires after it is refused, unless it is the one
    /// that the job had `before`, which may be over.
    ///
    /// # Errors
    /// One for each member that is wrong, in the order of the members.
    pub fn validate(
        &self,
        facts: &Facts<'_>,
        before: Option<&ScheduleDraft>,
        now: Millis,
    ) -> Result<JobSpec, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut check = |field: &str, result: Result<(), String>| {
            errors.extend(result.err().map(|message| FieldError::new(field, message)));
        };
        check("app", validate_app_name(&self.app));
        check("name", line(&self.name, NAME_CHARS));
        check("handler", line(&self.handler, HANDLER_CHARS));
        check("params", params(&self.params));
        let schedule = self.schedule(facts, before, now).map_err(|error| errors.push(error));
        let mut check = |field: &str, result: Result<(), String>| {
            errors.extend(result.err().map(|message| FieldError::new(field, message)));
        };
        let (threshold, window) = (self.misfire_threshold_seconds, self.misfire_window_seconds);
        check("misfire_threshold_seconds", number(threshold, THRESHOLD_SECONDS, " seconds"));
        check("misfire_limit", number(self.misfire_limit.into(), MISFIRE_LIMIT, ""));
        check("misfire_window_seconds", number(window, WINDOW_SECONDS, " seconds"));
        check("route_labels", self.labels().map(drop));
        check("overlap_queue", number(self.overlap_queue.into(), OVERLAP_QUEUE, " runs"));
        let timeout = i64::from(self.timeout_seconds);
        check("timeout_seconds", number(timeout, TIMEOUT_SECONDS, " seconds (0: no limit)"));
        check("retries", number(self.retries.into(), RETRIES, ""));
        check("retry_delay", self.retry_delay.validate());
        check("children", children(&self.children));
        let flag = i64::from(self.flag_after_seconds);
        check("flag_after_seconds", number(flag, FLAG_AFTER_SECONDS, " seconds (0: as the server says)"));
        match schedule {
            Ok(schedule) if errors.is_empty() => Ok(self.spec(schedule)),
            _ => Err(errors),
        }
    }

    fn labels(&self) -> Result<Labels, String> {
        let labels: Labels = self.route_labels.parse().map_err(|error: LabelError| error.to_string())?;
        if self.route == RouteStrategy::Label && labels.is_empty() {
            return Err("the route `label` needs one at least, such as zone=eu".to_owned());
        }
        Ok(labels)
    }

    fn schedule(&self, facts: &Facts<'_>, before: Option<&ScheduleDraft>, now: Millis) -> Result<Schedule, FieldError> {
        let schedule = Schedule::parse(&self.schedule, facts)?;
        // What has run its course stays as it is, so that the rest of its job can still be edited.
        if before != Some(&schedule.draft())
            && let Some(error) = schedule.never_fires(now)
        {
            return Err(error);
        }
        Ok(schedule)
    }

    fn spec(&self, schedule: Schedule) -> JobSpec {
        JobSpec {
            name: self.name.trim().to_owned(),
            handler: self.handler.trim().to_owned(),
            params: self.params.clone(),
            schedule,
            catch_up: self.catch_up,
            misfire: self.misfire,
            misfire_threshold_ms: self.misfire_threshold_seconds * 1_000,
            misfire_limit: self.misfire_limit.unsigned_abs(),
            misfire_window_ms: self.misfire_window_seconds * 1_000,
            route: self.route,
            route_labels: self.labels().unwrap_or_default(),
            overlap: self.overlap,
            overlap_queue: self.overlap_queue.unsigned_abs(),
            block: self.block,
            timeout_seconds: self.timeout_seconds,
            retries: self.retries,
            retry_delay: self.retry_delay.clone(),
            children: self.children.clone(),
            flag_after_seconds: self.flag_after_seconds,
            enabled: self.enabled,
        }
    }
}

/// Checks the name of an app: 4 to 64 letters, digits, `-`, `_` and `.`, the first a letter or a digit (xxl-job takes
/// 4 to 64 of anything but angle brackets; these travel in URLs and logs).
///
/// # Errors
/// Says what would be right.
pub fn validate_app_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !(4..=64).contains(&name.chars().count()) {
        return Err(format!("an app name has 4 to 64 characters, this has {}", name.chars().count()));
    }
    if let Some(wrong) = name.chars().find(|&c| !allowed(c)) {
        return Err(format!("{wrong:?} is not allowed; an app name has letters, digits, `-`, `_` and `.`"));
    }
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err("an app name begins with a letter or a digit".to_owned());
    }
    Ok(())
}

/// One line of text; blanks around it do not count.
fn line(text: &str, max: usize) -> Result<(), String> {
    match text.trim().chars().count() {
        0 => Err(format!("must not be empty; 1 to {max} characters")),
        count if count > max => Err(format!("has {count} characters; at most {max} are allowed")),
        _ if text.trim().chars().any(char::is_control) => Err("must be one line without control characters".to_owned()),
        _ => Ok(()),
    }
}

fn params(text: &str) -> Result<(), String> {
    if text.len() > PARAMS_BYTES {
        return Err(format!("has {} bytes; at most {PARAMS_BYTES} (64 KiB) are allowed", text.len()));
    }
    if text.contains('\0') {
        return Err("must not contain the character NUL".to_owned());
    }
    Ok(())
}

/// Whether there are such jobs, and whether they lead back here, is a matter of the store.
fn children(ids: &[i64]) -> Result<(), String> {
    if ids.len() > CHILDREN {
        return Err(format!("has {} jobs; at most {CHILDREN} are allowed", ids.len()));
    }
    for (index, id) in ids.iter().enumerate() {
        if !JOB_IDS.contains(id) {
            return Err(format!("{id} is not the id of a job"));
        }
        if ids[..index].contains(id) {
            return Err(format!("names job {id} twice"));
        }
    }
    Ok(())
}

fn number(value: i64, range: RangeInclusive<i64>, unit: &str) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("{value} is not allowed; {} to {}{unit}", range.start(), range.end()))
}

#[cfg(test)]
mod tests;
