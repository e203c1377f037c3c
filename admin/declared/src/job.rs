//! What becomes of one declared job: it is made, taken over, or compared.

use std::collections::BTreeSet;

use carillon_engine::Error;
use carillon_protocol::{self as wire, DeclarePolicy};
use carillon_scheduler::JobDraft;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::{DeclaredState, Job};
use serde_json::{Map, Value};

use crate::code;
use crate::compare::{Sides, compare};
use crate::reconciler::{Outcome, Reconciler, Stop, base, findings_of};

/// What is noted of an orphan that was paused; the note of its pause follows.
pub const PAUSED: &str = "paused: ";

impl Reconciler<'_> {
    pub async fn job(
        &mut self,
        declared: &wire::DeclaredJob,
        row: Option<&DeclaredJob>,
        job: Option<&Job>,
    ) -> Result<Outcome, Stop> {
        let given = self.given(declared).await?;
        let known = row.and_then(|row| row.job_id);
        if let (Some(row), Some(job)) = (row, job) {
            let resumed = self.resumed(row, job).await?;
            return self.compared(resumed.as_ref().unwrap_or(job), declared, given, Some(row)).await;
        }
        match self.existing(declared, &given).await? {
            Some(job) => self.taken_over(&job, declared, given).await,
            // It was deleted here.
            None if known.is_some() && self.declaration.policy != DeclarePolicy::Enforce => {
                Ok(Outcome { job_id: known, ..Outcome::without_job(DeclaredState::Deleted) })
            }
            None => {
                let outcome = self.created(declared, &given).await?;
                Ok(Outcome { job_id: outcome.job_id.or(known), ..outcome })
            }
        }
    }

    /// A job that was paused because its key was gone goes on, now that the key is back: it is the same pause still.
    async fn resumed(&mut self, row: &DeclaredJob, job: &Job) -> Result<Option<Job>, Stop> {
        let note = row.problem.strip_prefix(PAUSED).filter(|_| row.state == DeclaredState::Orphan);
        let is_same_pause = job.pause.as_ref().is_some_and(|pause| Some(pause.note.as_str()) == note);
        if !is_same_pause || !self.may_write || !self.is_of_code(job) {
            return Ok(None);
        }
        let job = self.engine.jobs().resume(job.id, &self.actor).await?;
        self.written += 1;
        Ok(Some(job))
    }

    /// Whether code may change the job: it is of this app, and no set of files defines it.
    pub fn is_of_code(&self, job: &Job) -> bool {
        job.app_id == self.app.id && job.draft.set.is_empty()
    }

    async fn created(&mut self, declared: &wire::DeclaredJob, given: &Map<String, Value>) -> Result<Outcome, Stop> {
        let new = JobDraft::new(self.app.name.as_str(), code::name(declared, given), "");
        let draft = code::with_members(&new, given).map_err(Stop::Refused)?;
        if !self.may_write {
            // Without the jobs that it starts, which are not there either, it cannot be checked.
            if given.len() > declared.members.len() {
                code::normal(&draft, given).map_err(Stop::Refused)?;
            }
            return Ok(Outcome::without_job(DeclaredState::Pending));
        }
        let job = self.engine.jobs().create(draft, None, &self.actor).await?;
        self.written += 1;
        self.keys.insert(declared.key.clone(), job.id);
        let base = code::members(&job.draft);
        Ok(Outcome { job_id: Some(job.id), base, ..Outcome::without_job(DeclaredState::Applied) })
    }

    /// A job that was made here, or by an earlier round that was cut off.
    async fn taken_over(
        &mut self,
        job: &Job,
        declared: &wire::DeclaredJob,
        given: Map<String, Value>,
    ) -> Result<Outcome, Stop> {
        let wanted = code::normal(&job.draft, &given).map_err(Stop::Refused);
        let here = code::members(&job.draft);
        let is_same = wanted.iter().flatten().all(|(member, value)| here.get(member) == Some(value));
        // A round that was cut off has made the workflow that the code names, node by node.
        if !(is_same && wanted.is_ok() && given.contains_key("workflow")) {
            self.require_plain(job)?;
        }
        let wanted = wanted?;
        if !job.draft.set.is_empty() {
            return Ok(Outcome::without_job(DeclaredState::OfFiles));
        }
        if self.declaration.policy == DeclarePolicy::Warn && !is_same {
            return Ok(Outcome::without_job(DeclaredState::Twin));
        }
        if !self.may_write && !is_same {
            let sides = Sides { base: &here, code: &wanted, now: &here };
            let comparison = compare(self.declaration.policy, false, sides, self.now);
            return Ok(Outcome { findings: comparison.findings, ..Outcome::without_job(DeclaredState::Twin) });
        }
        let mut base = here;
        if self.declaration.policy == DeclarePolicy::Adopt {
            // Its values are kept as if they had been changed here; it gets the key.
            base.extend(wanted.into_iter().filter(|(member, _)| member != "key"));
        }
        self.compared_with(base, job, declared, given).await
    }

    /// A job of the code.
    async fn compared(
        &mut self,
        job: &Job,
        declared: &wire::DeclaredJob,
        mut given: Map<String, Value>,
        row: Option<&DeclaredJob>,
    ) -> Result<Outcome, Stop> {
        let base = row.map(base).unwrap_or_default();
        if self.is_of_code(job) {
            self.require_plain(job)?;
            let defaults = code::members(&JobDraft::new(self.app.name.as_str(), code::name(declared, &given), ""));
            let now = code::members(&job.draft);
            // What the code has ceased to name goes back, unless a person has changed it.
            let former: Vec<String> = row.into_iter().flat_map(named_before).collect();
            for member in former.into_iter().filter(|member| base.get(member) == now.get(member)) {
                let is_named = declared.members.contains_key(&member) || given.contains_key(&member);
                if let (false, Some(default)) = (is_named, defaults.get(&member)) {
                    given.insert(member, default.clone());
                }
            }
        }
        self.compared_with(base, job, declared, given).await
    }

    async fn compared_with(
        &mut self,
        base: Map<String, Value>,
        job: &Job,
        declared: &wire::DeclaredJob,
        given: Map<String, Value>,
    ) -> Result<Outcome, Stop> {
        let outcome = |state| Outcome { job_id: Some(job.id), base: base.clone(), ..Outcome::without_job(state) };
        if !job.draft.set.is_empty() {
            return Ok(outcome(DeclaredState::OfFiles));
        }
        if job.app_id != self.app.id {
            let problem = format!("the job belongs to the app {} now", job.draft.app);
            return Ok(Outcome { problem, ..outcome(DeclaredState::Deleted) });
        }
        let wanted = code::normal(&job.draft, &given).map_err(Stop::Refused)?;
        let now = code::members(&job.draft);
        let sides = Sides { base: &base, code: &wanted, now: &now };
        let comparison = compare(self.declaration.policy, self.may_write, sides, self.now);
        if !comparison.write.is_empty() {
            let draft = code::with_members(&job.draft, &comparison.write).map_err(Stop::Refused)?;
            match self.engine.jobs().update(job.id, &draft, Some(job.revision), &self.actor).await {
                Ok(_) => self.written += 1,
                Err(Error::Changed(_) | Error::Missing(_)) => return Err(Stop::Changed),
                Err(error) => return Err(error.into()),
            }
            if comparison.write.contains_key("key") {
                self.keys.retain(|_, id| *id != job.id);
                self.keys.insert(declared.key.clone(), job.id);
            }
        }
        Ok(Outcome { base: comparison.base, findings: comparison.findings, ..outcome(comparison.state) })
    }
}

/// The members that the code named in the round before, and those that were to go back to their default.
fn named_before(row: &DeclaredJob) -> BTreeSet<String> {
    let code: Map<String, Value> = serde_json::from_str(&row.code).unwrap_or_default();
    let found = findings_of(row).into_iter().map(|finding| finding.member);
    code.into_iter().map(|(member, _)| member).chain(found).collect()
}
