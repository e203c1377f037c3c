//! What a program says about one of its jobs.

use std::panic::Location;
use std::time::Duration;

use carillon_cron::members::{check_key, check_number, check_text, check_word};
use carillon_cron::{CronFields, Dialect, is_zone};
use carillon_protocol::DeclaredJob;
use serde_json::{Map, Value, json};

/// Declares a job: what an admin shall make of it. The attribute [`job`](macro@crate::job) makes one from its members; for handlers that
/// are no functions, [`ExecutorBuilder::job`](crate::ExecutorBuilder::job) takes one in place of a name.
///
/// **Only the members that are named here are declared**; all others are the admin's, as are whether the job is enabled or paused.
/// Wrong members are errors of [`ExecutorBuilder::build`](crate::ExecutorBuilder::build).
///
/// ```
/// use std::time::Duration;
/// use carillon_executor::{Declaration, Executor, JobContext};
///
/// let close = Declaration::new("close-day").cron("0 0 2 * * ?").timezone("Europe/Berlin").timeout(Duration::from_secs(300));
/// let builder = Executor::builder().job(close, |_: JobContext| async { Ok("closed") });
/// ```
#[derive(Clone, Debug)]
pub struct Declaration {
    pub(super) job: DeclaredJob,
    pub(super) after: Option<String>,
    schedule: Map<String, Value>,
    problems: Vec<String>,
}

impl From<&str> for Declaration {
    #[track_caller]
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl Declaration {
    /// A job with this key, which is the name of its handler too.
    #[track_caller]
    pub fn new(key: impl Into<String>) -> Self {
        let location = Location::caller();
        let key = key.into();
        let problem = check_key(&key).err().map(|problem| format!("the key {problem}"));
        let (file, line) = (location.file().to_owned(), location.line());
        let members = Map::from_iter([("handler".to_owned(), key.as_str().into())]);
        let job = DeclaredJob { key, was: None, file, line, members };
        Self { job, after: None, schedule: Map::new(), problems: problem.into_iter().collect() }
    }

    fn with(mut self, member: &str, value: impl Into<Value>, checked: Result<(), String>) -> Self {
        self.problems.extend(checked.err().map(|problem| format!("{member}: {problem}")));
        self.job.members.insert(member.to_owned(), value.into());
        self
    }

    fn with_schedule(mut self, member: &str, value: impl Into<Value>, checked: Result<(), String>) -> Self {
        self.problems.extend(checked.err().map(|problem| format!("{member}: {problem}")));
        self.schedule.insert(member.to_owned(), value.into());
        self
    }

    fn with_kind(mut self, kind: &str) -> Self {
        if let Some(other) = self.schedule.insert("kind".to_owned(), kind.into()) {
            self.problems.push(format!("the job has two schedules, {other} and \"{kind}\"; a job has one"));
        }
        self
    }

    fn with_period(self, kind: &str, period: Duration) -> Self {
        let (seconds, checked) = checked_seconds("seconds", period);
        self.with_kind(kind).with_schedule("seconds", seconds, checked)
    }

    fn with_cron(self, kind: &str, dialect: Dialect, expression: &str) -> Self {
        let checked = CronFields::parse(dialect, expression).map(drop).map_err(|error| error.to_string());
        self.with_kind(kind).with_schedule("expression", expression, checked)
    }

    /// The name of the handler, if it is not the key.
    #[must_use]
    pub fn handler(self, name: &str) -> Self {
        let checked =
            if name.trim().is_empty() { Err("must not be empty".to_owned()) } else { check_text("handler", name) };
        self.with("handler", name, checked)
    }

    /// The name for people; without it a new job has its key as name.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("name", title, check_text("name", title))
    }

    /// The key that the job had in an earlier build: it is renamed, not made a second time. Remove it once no build with the old key is
    /// alive.
    #[must_use]
    pub fn was(mut self, key: &str) -> Self {
        self.problems.extend(check_key(key).err().map(|problem| format!("was: {problem}")));
        self.job.was = Some(key.to_owned());
        self
    }

    /// Runs after each successful fire of this job, which the same program declares.
    #[must_use]
    pub fn after(mut self, key: &str) -> Self {
        self.problems.extend(check_key(key).err().map(|problem| format!("after: {problem}")));
        self.after = Some(key.to_owned());
        self
    }

    /// Fires at the times of a Quartz expression with seconds, such as `0 30 23 ? * MON-FRI`.
    #[must_use]
    pub fn cron(self, expression: &str) -> Self {
        self.with_cron("cron", Dialect::Quartz, expression)
    }

    /// Fires at the times of a Unix expression, such as `30 23 * * 1-5` or `@daily`.
    #[must_use]
    pub fn unix_cron(self, expression: &str) -> Self {
        self.with_cron("unix_cron", Dialect::Unix, expression)
    }

    /// The IANA name of the zone of an expression, such as `Europe/Berlin`. Default: `UTC`.
    #[must_use]
    pub fn timezone(self, name: &str) -> Self {
        let checked = if is_zone(name) { Ok(()) } else { Err(format!("`{name:.64}` is not the name of a time zone")) };
        self.with_schedule("timezone", name, checked)
    }

    /// The policy for changes of the zone's clock: `carillon` (default) or `xxl`.
    #[must_use]
    pub fn clock_changes(self, policy: &str) -> Self {
        self.with_schedule("clock_changes", policy, check_word("clock_changes", policy))
    }

    /// Fires in this period of whole seconds, up to a year; of a job whose durability is `best_effort` also of 50 ms to an hour.
    #[must_use]
    pub fn every(self, period: Duration) -> Self {
        if period.subsec_nanos() == 0 || !period.subsec_nanos().is_multiple_of(1_000_000) {
            return self.with_period("fixed_rate", period);
        }
        let milliseconds = i64::try_from(period.as_millis()).unwrap_or(i64::MAX);
        let checked = check_number("milliseconds", milliseconds);
        self.with_kind("fixed_rate").with_schedule("milliseconds", milliseconds, checked)
    }

    /// Fires this time after the end of the run before, in whole seconds, up to a year.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        self.with_period("fixed_delay", delay)
    }

    /// Moves each instant by an offset within this time, 2 s to a day, the same for all instants of the job.
    #[must_use]
    pub fn spread(self, spread: Duration) -> Self {
        let (seconds, checked) = checked_seconds("spread_seconds", spread);
        self.with_schedule("spread_seconds", seconds, checked)
    }

    /// The calendars of the admin whose days are excluded.
    #[must_use]
    pub fn calendars<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.with_schedule("calendars", texts(names), Ok(()))
    }

    /// What happens to instants on excluded days: `skip` (default) or `next_working_day`.
    #[must_use]
    pub fn on_excluded(self, rule: &str) -> Self {
        self.with_schedule("on_excluded", rule, check_word("on_excluded", rule))
    }

    /// Words to find the job by.
    #[must_use]
    pub fn tags<'a>(self, tags: impl IntoIterator<Item = &'a str>) -> Self {
        self.with("tags", texts(tags), Ok(()))
    }

    /// The limits of the admin that its runs keep, at most 4: of its app, or shared.
    #[must_use]
    pub fn limits<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let checked =
            if names.len() <= 4 { Ok(()) } else { Err(format!("has {} names; at most 4 are allowed", names.len())) };
        self.with("limits", texts(names), checked)
    }

    /// Splits each fire into this number of parts, up to 1,000.
    #[must_use]
    pub fn parts(self, parts: u32) -> Self {
        self.with("parts", parts, check_number("parts", parts.into()))
    }

    /// Splits each fire into a part for each of these texts, which the part has as parameters.
    #[must_use]
    pub fn parts_of<'a>(self, texts_of_parts: impl IntoIterator<Item = &'a str>) -> Self {
        self.with("parts", texts(texts_of_parts), Ok(()))
    }

    /// The times between a failed attempt and the next one; the last counts for all further ones.
    #[must_use]
    pub fn retry_delay(self, delays: impl IntoIterator<Item = Duration>) -> Self {
        let seconds: Vec<u64> = delays.into_iter().map(|delay| delay.as_secs()).collect();
        let is_allowed = (1..=100).contains(&seconds.len()) && seconds.iter().all(|seconds| *seconds <= 604_800);
        let checked = if is_allowed { Ok(()) } else { Err("must be 1 to 100 delays of at most 7 days".to_owned()) };
        self.with("retry_delay", json!({"kind": "fixed", "seconds": seconds}), checked)
    }

    /// A workflow has no handler.
    pub(super) fn with_workflow(mut self, workflow: Value) -> Self {
        self.job.members.remove("handler");
        self.with("workflow", workflow, Ok(()))
    }

    /// The name of the handler; empty: a workflow.
    pub(super) fn handler_name(&self) -> &str {
        self.job.members.get("handler").and_then(Value::as_str).unwrap_or_default()
    }

    /// Where it stands: `src/jobs.rs:12`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.job.file, self.job.line)
    }

    /// # Errors
    /// All that is wrong with the members.
    pub(super) fn checked(mut self) -> Result<Self, String> {
        self.check_schedule();
        if !self.problems.is_empty() {
            return Err(format!("\"{}\" ({}): {}", self.job.key, self.place(), self.problems.join("; ")));
        }
        if !self.schedule.is_empty() {
            let schedule = std::mem::take(&mut self.schedule);
            self.job.members.insert("schedule".to_owned(), schedule.into());
        }
        Ok(self)
    }

    fn check_schedule(&mut self) {
        let text = |member: &str| self.schedule.get(member).and_then(Value::as_str);
        let kind = text("kind");
        if kind.is_none() && !self.schedule.is_empty() {
            let members: Vec<&str> = self.schedule.keys().map(String::as_str).collect();
            self.problems.push(format!("{} without a schedule", members.join(", ")));
        } else if !matches!(kind, Some("cron" | "unix_cron")) && (text("timezone").or(text("clock_changes"))).is_some()
        {
            self.problems.push("timezone and clock_changes need cron or unix_cron".to_owned());
        } else if self.schedule.contains_key("milliseconds")
            && self.job.members.get("durability") != Some(&json!("best_effort"))
        {
            self.problems.push("a period of milliseconds needs the durability `best_effort`".to_owned());
        } else if kind == Some("cron") && text("clock_changes") == Some("xxl") {
            let strict = CronFields::parse_strict(text("expression").unwrap_or_default());
            self.problems.extend(strict.err().map(|error| format!("expression: {error}")));
        }
    }
}

/// Methods that set one member: `name(type) => "member": check`.
macro_rules! members {
    ($($(#[$doc:meta])* $name:ident($value:ident: $type:ty) => $member:literal, $sent:expr, $checked:expr;)+) => {
        impl Declaration {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(self, $value: $type) -> Self {
                self.with($member, $sent, $checked)
            }
        )+}
    };
}

members! {
    /// What the job is for, for people; up to 1,000 characters.
    description(text: &str) => "description", text, check_text("description", text);
    /// Who answers for it; up to 100 characters.
    owner(text: &str) => "owner", text, check_text("owner", text);
    /// The text that its runs get as parameters; for a handler with a type of parameters it is JSON.
    params(text: &str) => "params", text, Ok(());
    /// How much of the fires is recorded: `durable` (each is a run), or `best_effort` (one executor fires the job by itself).
    durability(rule: &str) => "durability", rule, check_word("durability", rule);
    /// How many times a failed run is tried again, up to 100. Default: not at all.
    retries(number: u32) => "retries", number, check_number("retries", number.into());
    /// The time after which a run is cancelled, in whole seconds, up to 7 days; zero: never.
    timeout(limit: Duration) => "timeout_seconds", limit.as_secs(), checked_seconds("timeout_seconds", limit).1;
    /// The policy for instants that were missed: `fire_once`, `skip`, `fire_all` or `fire_within`.
    misfire(policy: &str) => "misfire", policy, check_word("misfire", policy);
    /// The lateness from which an instant counts as missed, in whole seconds, up to a day.
    misfire_threshold(limit: Duration) => "misfire_threshold_seconds", limit.as_secs(), checked_seconds("misfire_threshold_seconds", limit).1;
    /// How many missed instants `fire_all` runs, up to 1,000.
    misfire_limit(number: u32) => "misfire_limit", number, check_number("misfire_limit", number.into());
    /// The age up to which `fire_within` runs a missed instant, in whole seconds, up to a day.
    misfire_window(limit: Duration) => "misfire_window_seconds", limit.as_secs(), checked_seconds("misfire_window_seconds", limit).1;
    /// Which instants that are a little late run: `all` or `latest`.
    catch_up(rule: &str) => "catch_up", rule, check_word("catch_up", rule);
    /// How an executor is chosen: `round_robin`, `broadcast` and others.
    route(strategy: &str) => "route", strategy, check_word("route", strategy);
    /// Only executors with these labels get runs: `zone=eu-1,disk=ssd`.
    route_labels(labels: &str) => "route_labels", labels, Ok(());
    /// What happens while another fire of the job is open: `allow`, `skip`, `wait` or `cancel`.
    overlap(rule: &str) => "overlap", rule, check_word("overlap", rule);
    /// How many runs may wait under `wait`, up to 1,000.
    overlap_queue(number: u32) => "overlap_queue", number, check_number("overlap_queue", number.into());
    /// How many fires of the job may be open at once, up to 1,000; more than one need another rule than `allow`.
    max_concurrent(number: u32) => "max_concurrent", number, check_number("max_concurrent", number.into());
    /// In a line, its runs go before those that have waited for at most this number of seconds longer, up to 3,600; negative: after them.
    priority(seconds: i32) => "priority", seconds, check_number("priority", seconds.into());
    /// What an executor does with a run while another one of the job is there: `serial`, `discard_later` or `cover_early`.
    block(strategy: &str) => "block", strategy, check_word("block", strategy);
    /// After how many failed fires in a row the job is paused, up to 1,000; 0: never.
    pause_after_failures(number: u32) => "pause_after_failures", number, check_number("pause_after_failures", number.into());
    /// The time after which a run that was not sent is flagged, in whole seconds, up to a day.
    flag_after(limit: Duration) => "flag_after_seconds", limit.as_secs(), checked_seconds("flag_after_seconds", limit).1;
    /// The objective of the job: its runs are sent within this time after they were due, in whole seconds, up to a day; 0: none.
    start_within(limit: Duration) => "start_within_seconds", limit.as_secs(), checked_seconds("start_within_seconds", limit).1;
}

fn checked_seconds(member: &str, time: Duration) -> (u64, Result<(), String>) {
    let seconds = time.as_secs();
    let checked = match time.subsec_nanos() {
        0 => check_number(member, i64::try_from(seconds).unwrap_or(i64::MAX)),
        _ => Err(format!("{time:?} is not a number of whole seconds")),
    };
    (seconds, checked)
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    texts.into_iter().collect()
}
