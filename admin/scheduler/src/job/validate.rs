//! From a [`JobDraft`] to a [`JobSpec`], or an error for each wrong member.

use super::block::BlockStrategy;
use super::draft::JobDraft;
use super::http::HttpDraft;
use super::labels::{NOTES, check_description, check_key, check_tags};
use super::limits::{self, check_params};
use super::script::ScriptDraft;
use super::secret_params::names_secrets;
use super::spec::JobSpec;
use crate::checks::{check_line, check_number};
use crate::field_error::FieldError;
use crate::route::{LabelError, Labels, RouteStrategy};
use crate::run::limit::name::validate_limit_name;
use crate::run::overlap::Overlap;
use crate::schedule::{KindDraft, Schedule, ScheduleContext, ScheduleDraft};
use crate::time::Millis;

impl JobDraft {
    /// Checks every member. A schedule that never fires after `now` is refused, unless it is the one that the job had
    /// `before`, so that the other members of an exhausted job can still be edited.
    ///
    /// # Errors
    /// One for each member that is wrong, in the order of the members.
    pub fn validate(
        &self,
        context: &ScheduleContext<'_>,
        before: Option<&ScheduleDraft>,
        now: Millis,
    ) -> Result<JobSpec, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut check = |field: &str, result: Result<(), String>| {
            errors.extend(result.err().map(|message| FieldError::new(field, message)));
        };
        check("app", validate_app_name(&self.app));
        check("name", check_line(&self.name, 1..=limits::NAME_CHARS));
        check("handler", self.one_kind());
        errors.extend(self.script.iter().flat_map(ScriptDraft::validate));
        errors.extend(self.workflow.iter().flat_map(|workflow| workflow.graph().err().unwrap_or_default()));
        errors.extend(self.http.iter().flat_map(HttpDraft::validate));
        let mut check = |field: &str, result: Result<(), String>| {
            errors.extend(result.err().map(|message| FieldError::new(field, message)));
        };
        check("key", check_key(&self.key));
        check("set", check_key(&self.set));
        check("description", check_description(&self.description));
        NOTES.iter().for_each(|note| check(note.member, note.check(self)));
        check("tags", check_tags(&self.tags));
        check("params", check_params(&self.params));
        check("parts", self.check_parts());
        errors.extend(self.secret_faults());
        let schedule = self.schedule(context, before, now).map_err(|error| {
            let other = self.other_schedule_fault(context, &error);
            errors.extend([Some(error), other].into_iter().flatten());
        });
        let mut check = |field: &str, result: Result<(), String>| {
            errors.extend(result.err().map(|message| FieldError::new(field, message)));
        };
        let (threshold, window) = (self.misfire_threshold_seconds, self.misfire_window_seconds);
        check("misfire_threshold_seconds", check_number(threshold, &limits::MISFIRE_THRESHOLD_SECONDS, " seconds"));
        check("misfire_limit", check_number(self.misfire_limit.into(), &limits::MISFIRE_LIMIT, ""));
        check("misfire_window_seconds", check_number(window, &limits::MISFIRE_WINDOW_SECONDS, " seconds"));
        check("route", self.check_route());
        check("route_labels", self.labels().map(drop));
        check("overlap_queue", check_number(self.overlap_queue.into(), &limits::OVERLAP_QUEUE, " runs"));
        check("max_concurrent", self.check_max_concurrent());
        check("limits", self.check_limits());
        check("priority", check_priority(self.priority));
        let timeout = i64::from(self.timeout_seconds);
        check("timeout_seconds", check_number(timeout, &limits::TIMEOUT_SECONDS, " seconds (0: no limit)"));
        check("retries", check_number(self.retries.into(), &limits::RETRIES, ""));
        check("retry_delay", self.retry_delay.validate());
        check("children", children(&self.children));
        let flag = i64::from(self.flag_after_seconds);
        check(
            "flag_after_seconds",
            check_number(flag, &limits::FLAG_AFTER_SECONDS, " seconds (0: as the server says)"),
        );
        let start = i64::from(self.start_within_seconds);
        check("start_within_seconds", check_number(start, &limits::START_WITHIN_SECONDS, " seconds (0: none)"));
        let failures = i64::from(self.pause_after_failures);
        check("pause_after_failures", check_number(failures, &limits::PAUSE_AFTER_FAILURES, " failures (0: never)"));
        errors.extend(self.durability_faults());
        if self.is_best_effort() && names_secrets(&self.params) {
            let message = "cannot name a secret: they are given to the executor once, with the loop";
            errors.push(FieldError::new("params", message));
        }
        match schedule {
            Ok(schedule) if errors.is_empty() => Ok(self.spec(schedule)),
            _ => Err(errors),
        }
    }

    /// A job has a handler, a script, a graph or a request.
    fn one_kind(&self) -> Result<(), String> {
        let given = [
            self.script.is_some().then_some("`script`"),
            self.workflow.is_some().then_some("`workflow`"),
            self.http.is_some().then_some("`http`"),
        ];
        let mut given = given.into_iter().flatten();
        let other = match (given.next(), given.next()) {
            (None, _) => return check_line(&self.handler, 1..=limits::HANDLER_CHARS),
            (Some(other), None) => other,
            (Some(_), Some(_)) => {
                return Err("a job has a handler, a script, a workflow or an HTTP request, not two of them".to_owned());
            }
        };
        match self.handler.trim().is_empty() {
            true => Ok(()),
            false => Err(format!(
                "must be empty where {other} is given: a job has a handler, a script, a workflow or an HTTP request"
            )),
        }
    }

    fn check_max_concurrent(&self) -> Result<(), String> {
        check_number(self.max_concurrent.into(), &limits::MAX_CONCURRENT, " fires")?;
        match self.max_concurrent > 1 && self.overlap == Overlap::Allow {
            true => {
                Err("needs the rule for overlaps `skip`, `wait` or `cancel`: with `allow` any number is open"
                    .to_owned())
            }
            false => Ok(()),
        }
    }

    /// The store checks that they exist.
    fn check_limits(&self) -> Result<(), String> {
        if self.limits.len() > limits::LIMITS {
            return Err(format!("has {} names; at most {} are allowed", self.limits.len(), limits::LIMITS));
        }
        if self.workflow.is_some() && !self.limits.is_empty() {
            return Err("must be empty: a workflow takes no slot, its nodes do".to_owned());
        }
        for (index, name) in self.limits.iter().enumerate() {
            validate_limit_name(name)?;
            if self.limits[..index].contains(name) {
                return Err(format!("has {name:?} twice"));
            }
        }
        Ok(())
    }

    fn check_route(&self) -> Result<(), String> {
        match self.http.is_some() && self.route == RouteStrategy::Broadcast {
            true => Err("cannot be `broadcast`: an HTTP job has no executors, its request goes to its URL".to_owned()),
            false => Ok(()),
        }
    }

    fn check_parts(&self) -> Result<(), String> {
        self.parts.check()?;
        if self.parts.is_one() {
            return Ok(());
        }
        if self.workflow.is_some() {
            return Err("must be 1: a workflow is not split, its nodes may be".to_owned());
        }
        if self.parts.texts().is_some() && !self.params.is_empty() {
            return Err("is a list, so `params` must be empty: each part gets its own text".to_owned());
        }
        match self.http.is_some() {
            // No executor applies a block strategy to a request, and the route has its own rule.
            true => Ok(()),
            false => check_split(self.route, self.block),
        }
    }

    fn labels(&self) -> Result<Labels, String> {
        if self.http.is_some() && !self.route_labels.trim().is_empty() {
            return Err("must be empty: an HTTP job has no executors, its request goes to its URL".to_owned());
        }
        let labels: Labels = self.route_labels.parse().map_err(|error: LabelError| error.to_string())?;
        if self.route == RouteStrategy::Label && labels.is_empty() {
            return Err("the route `label` needs one at least, such as zone=eu".to_owned());
        }
        Ok(labels)
    }

    fn schedule(
        &self,
        context: &ScheduleContext<'_>,
        before: Option<&ScheduleDraft>,
        now: Millis,
    ) -> Result<Schedule, FieldError> {
        let schedule = Schedule::parse(&self.schedule, context)?;
        if before != Some(&schedule.draft())
            && let Some(error) = schedule.never_fires(now)
        {
            return Err(error);
        }
        Ok(schedule)
    }

    /// A schedule is read up to its first fault. Where that is the zone or the expression, the other one may be wrong too.
    fn other_schedule_fault(&self, context: &ScheduleContext<'_>, first: &FieldError) -> Option<FieldError> {
        let mut draft = self.schedule.clone();
        match (&mut draft.kind, first.field.as_str()) {
            (KindDraft::Cron(cron) | KindDraft::UnixCron(cron), "schedule.timezone") => {
                cron.timezone = "UTC".to_owned()
            }
            (KindDraft::Daily(daily), "schedule.timezone") => daily.timezone = "UTC".to_owned(),
            (KindDraft::Cron(cron), "schedule.expression") => cron.expression = "0 0 0 * * ?".to_owned(),
            (KindDraft::UnixCron(cron), "schedule.expression") => cron.expression = "0 0 * * *".to_owned(),
            _ => return None,
        }
        Schedule::parse(&draft, context).err().filter(|other| other.field != first.field)
    }

    fn spec(&self, schedule: Schedule) -> JobSpec {
        JobSpec {
            name: self.name.trim().to_owned(),
            handler: self.handler.trim().to_owned(),
            schedule,
            route_labels: self.labels().unwrap_or_default(),
        }
    }
}

/// Checks that fires of a job with this route and this block strategy can be split into parts.
///
/// # Errors
/// Says what prevents it.
pub fn check_split(route: RouteStrategy, block: BlockStrategy) -> Result<(), String> {
    if route == RouteStrategy::Broadcast {
        return Err("cannot be used with the route `broadcast`, which makes a part for each executor".to_owned());
    }
    match block {
        BlockStrategy::Serial => Ok(()),
        BlockStrategy::DiscardLater => {
            Err("needs the block strategy `serial`: an executor that gets two parts of a fire \
             would discard the later one"
                .to_owned())
        }
        BlockStrategy::CoverEarly => {
            Err("needs the block strategy `serial`: an executor that gets two parts of a fire \
             would end the earlier one"
                .to_owned())
        }
    }
}

/// Checks the priority of a job or a trigger.
///
/// # Errors
/// Says which range it has.
pub fn check_priority(seconds: i32) -> Result<(), String> {
    check_number(seconds.into(), &limits::PRIORITY, " seconds")
}

/// Checks the name of an app: 4 to 64 letters, digits, `-`, `_` and `.`, the first a letter or a digit. (xxl-job allows
/// everything but angle brackets, but the name is used in URLs and logs.)
///
/// # Errors
/// Says which rule is broken.
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

/// The store checks that the jobs exist and that they form no circle.
fn children(ids: &[i64]) -> Result<(), String> {
    if ids.len() > limits::CHILDREN {
        return Err(format!("has {} jobs; at most {} are allowed", ids.len(), limits::CHILDREN));
    }
    for (index, id) in ids.iter().enumerate() {
        if !limits::JOB_IDS.contains(id) {
            return Err(format!("{id} is not the id of a job"));
        }
        if ids[..index].contains(id) {
            return Err(format!("names job {id} twice"));
        }
    }
    Ok(())
}
