//! Runs on request that are not due yet: delayed triggers.

use carillon_accounts::policy::Action;
use carillon_protocol::normal_address;
use carillon_scheduler::job::limits::check_params;
use carillon_scheduler::{FieldError, Millis, Parts, Traceparent, check_priority, hex_digest};
use carillon_store::Page;
use carillon_store::run::trigger::delayed::insert::{
    DelayedRequest, MAX_TRIGGERS, NewDelayed, RecordedTriggers, RequestKey,
};
use carillon_store::{Actor, ScheduledFilter, ScheduledKey, ScheduledRun};
use foldhash::{HashMap, HashMapExt as _};
use serde_json::json;

use crate::manage::entry_points::Jobs;
use crate::manage::error::Error;

/// The longest delay: about five years.
pub const MAX_DELAY_SECONDS: i64 = 5 * 366 * 86_400;

/// Runs that are due within this time count as runs by hand.
const SOON_MS: Millis = 60_000;

/// When a run is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueTime {
    /// At this moment; one that has passed means now.
    At(Millis),
    InSeconds(i64),
    /// Both were given, so none is meant.
    Both,
}

/// A run that is not due yet.
#[derive(Clone, Debug)]
pub struct DelayedRun {
    pub due: DueTime,
    /// Reached later than this after its time, it does not run any more. None: it runs however late it is.
    pub expires_after_seconds: Option<i64>,
    /// None: the job's own.
    pub params: Option<String>,
    /// None: the job's own.
    pub parts: Option<Parts>,
    /// The executor that is to run it, which must be registered for the job's app.
    pub address: Option<String>,
    /// In place of the priority that the job has, in seconds.
    pub priority: Option<i32>,
}

/// Runs of one job that are not due yet.
#[derive(Clone, Debug)]
pub struct RunLaterRequest {
    pub job_id: i64,
    pub runs: Vec<DelayedRun>,
    /// A repeated request with the same key finds the runs of the first one.
    pub idempotency_key: Option<String>,
    /// The trace context of the request, which its runs continue.
    pub traceparent: Option<Traceparent>,
    /// The request is for a list of runs: faults name the item.
    pub is_list: bool,
}

impl DueTime {
    /// # Errors
    /// It is too far ahead, or no time at all, or two.
    pub fn resolve(self, now: Millis) -> Result<Millis, FieldError> {
        match self {
            Self::At(at) if at > now + MAX_DELAY_SECONDS * 1000 => {
                Err(FieldError::new("at", "must be at most five years ahead"))
            }
            Self::At(at) => Ok(at.max(now)),
            Self::InSeconds(seconds) if (0..=MAX_DELAY_SECONDS).contains(&seconds) => Ok(now + seconds * 1000),
            Self::Both => {
                Err(FieldError::new("at", "must be left out, or `delay_seconds` must: one of them says when"))
            }
            Self::InSeconds(_) => Err(FieldError::new(
                "delay_seconds",
                format!("must be 0 to {MAX_DELAY_SECONDS}, which is about five years"),
            )),
        }
    }
}

impl DelayedRun {
    /// The run as it is recorded, and all that is wrong without a look at the job.
    fn check(&self, now: Millis) -> (NewDelayed, Vec<FieldError>) {
        let mut faults = vec![];
        let due_at = self.due.resolve(now).map_err(|fault| faults.push(fault)).unwrap_or(now);
        if self.expires_after_seconds.is_some_and(|seconds| !(1..=MAX_DELAY_SECONDS).contains(&seconds)) {
            faults.push(FieldError::new("expires_after_seconds", format!("must be 1 to {MAX_DELAY_SECONDS}")));
        }
        if let Some(Err(message)) = self.params.as_deref().map(check_params) {
            faults.push(FieldError::new("params", message));
        }
        if let Some(Err(message)) = self.priority.map(check_priority) {
            faults.push(FieldError::new("priority", message));
        }
        let item = NewDelayed {
            due_at,
            expires_at: self.expires_after_seconds.map(|seconds| due_at.saturating_add(seconds.saturating_mul(1000))),
            params: self.params.clone(),
            parts: self.parts.clone(),
            address: self.address.as_deref().map(normal_address),
            priority: self.priority,
        };
        (item, faults)
    }
}

impl RunLaterRequest {
    /// Of what is asked for: a delay is compared as such, not the moment that it leads to.
    fn digest(&self) -> String {
        let run = |run: &DelayedRun| {
            let due = match run.due {
                DueTime::At(at) => json!({"at": at}),
                DueTime::InSeconds(seconds) => json!({"in": seconds}),
                DueTime::Both => json!(null),
            };
            let mut asked = vec![due, json!(run.expires_after_seconds), json!(run.params), json!(run.parts)];
            asked.push(json!(run.address));
            // Left out by requests of before.
            asked.extend(run.priority.map(|priority| json!(priority)));
            json!(asked)
        };
        let runs: Vec<_> = self.runs.iter().map(run).collect();
        hex_digest(json!(runs).to_string())
    }
}

impl Jobs<'_> {
    /// Records runs of a job, enabled or not, that are due later. They wait outside of the runs, and are there when this returns.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Invalid`: all faults of all runs, or the address; `Changed`: the key is that of another request
    pub async fn run_later(&self, request: RunLaterRequest, by: &Actor) -> Result<RecordedTriggers, Error> {
        let job = self.engine.require_for_job(by, Action::Operate, request.job_id).await?;
        let digest = request.digest();
        if let Some(key) = &request.idempotency_key {
            // Before all checks: what was recorded stays so, whatever has changed since.
            let key = RequestKey { job_id: request.job_id, is_list: request.is_list, key, digest: &digest };
            if let Some(before) = self.engine.cx.store.delayed().recorded_before(&key).await? {
                return Ok(before);
            }
        }
        let now = self.engine.cx.clock.now();
        if !(1..=MAX_TRIGGERS).contains(&request.runs.len()) {
            return Err(Error::field("runs", format!("must have 1 to {MAX_TRIGGERS} items")));
        }
        let items = self.checked(&request, now).await?;
        // What is due soon is counted as runs by hand are: a second of delay is no way around their limit.
        let soon = items.iter().filter(|item| item.due_at <= now + SOON_MS).count();
        self.engine.costly.count_runs(soon.max(1), by)?;
        let RunLaterRequest { job_id, idempotency_key, traceparent, is_list, .. } = request;
        let traceparent = traceparent.map(|it| it.to_string());
        let new = DelayedRequest { job, items, idempotency_key, digest, traceparent, is_list };
        let recorded = self.engine.cx.store.delayed().insert(&new, now, by).await?;
        let recorded = recorded.ok_or_else(|| Error::missing("job", job_id))?;
        self.engine.delayed_changed(recorded.shard, new.items.iter().map(|item| item.due_at));
        Ok(recorded)
    }

    /// The runs as they are recorded.
    ///
    /// # Errors
    /// `Invalid`: all faults of all runs
    async fn checked(&self, request: &RunLaterRequest, now: Millis) -> Result<Vec<NewDelayed>, Error> {
        let (mut items, mut faults) = (Vec::with_capacity(request.runs.len()), vec![]);
        // Few addresses, however many runs.
        let mut addresses = HashMap::new();
        for (place, run) in request.runs.iter().enumerate() {
            let (item, mut wrong) = run.check(now);
            self.check_against_job(request.job_id, &item, &mut addresses, &mut wrong).await?;
            match request.is_list {
                true => faults.extend(wrong.into_iter().map(|fault| of_item(place, fault))),
                false => faults.extend(wrong),
            }
            items.push(item);
        }
        match faults.is_empty() {
            true => Ok(items),
            false => Err(Error::Invalid(faults)),
        }
    }

    async fn check_against_job(
        &self,
        job_id: i64,
        item: &NewDelayed,
        addresses: &mut HashMap<String, Vec<FieldError>>,
        faults: &mut Vec<FieldError>,
    ) -> Result<(), Error> {
        if let Some(parts) = &item.parts {
            faults.extend(faults_of(self.check_parts(job_id, parts, item.params.is_some()).await)?);
        }
        let Some(address) = &item.address else { return Ok(()) };
        if !addresses.contains_key(address) {
            let wrong = faults_of(self.must_be_registered(job_id, address).await)?;
            addresses.insert(address.clone(), wrong);
        }
        faults.extend(addresses.get(address).into_iter().flatten().cloned());
        Ok(())
    }

    /// A page of the runs of a job that are scheduled, the earliest first.
    ///
    /// # Errors
    /// `Missing`
    pub async fn scheduled_runs(&self, filter: &ScheduledFilter) -> Result<Page<ScheduledRun, ScheduledKey>, Error> {
        self.get(filter.job_id).await?;
        Ok(self.engine.cx.store.delayed().list(filter).await?)
    }
}

/// What a check has found to be wrong.
fn faults_of(checked: Result<(), Error>) -> Result<Vec<FieldError>, Error> {
    match checked {
        Ok(()) => Ok(vec![]),
        Err(Error::Invalid(faults)) => Ok(faults),
        Err(error) => Err(error),
    }
}

fn of_item(place: usize, fault: FieldError) -> FieldError {
    FieldError::new(format!("runs[{place}].{}", fault.field), fault.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_has_passed_means_now_and_one_too_far_ahead_is_refused() {
        let now = 1_760_000_000_000;
        let longest = MAX_DELAY_SECONDS;
        for (due, resolved) in [
            (DueTime::At(now - 5_000), Some(now)),
            (DueTime::At(now + 5_000), Some(now + 5_000)),
            (DueTime::At(now + longest * 1000), Some(now + longest * 1000)),
            (DueTime::At(now + longest * 1000 + 1), None),
            (DueTime::At(i64::MAX), None),
            (DueTime::InSeconds(0), Some(now)),
            (DueTime::InSeconds(longest), Some(now + longest * 1000)),
            (DueTime::InSeconds(longest + 1), None),
            (DueTime::InSeconds(-1), None),
            (DueTime::Both, None),
        ] {
            assert_eq!(due.resolve(now).ok(), resolved, "{due:?}");
        }
    }

    #[test]
    fn all_faults_of_a_run_are_found() {
        let run = DelayedRun {
            due: DueTime::InSeconds(-1),
            expires_after_seconds: Some(0),
            params: Some("x".repeat(65_537)),
            parts: None,
            address: None,
            priority: None,
        };
        let (_, faults) = run.check(0);
        let fields: Vec<&str> = faults.iter().map(|fault| &*fault.field).collect();
        assert_eq!(fields, ["delay_seconds", "expires_after_seconds", "params"]);
    }
}
