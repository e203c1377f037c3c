//! One round over the jobs of the declaration that counts for an app.

use std::collections::{BTreeMap, BTreeSet};

use carillon_engine::{Engine, Error};
use carillon_protocol::{self as wire, DeclarePolicy};
use carillon_scheduler::{JobDraft, Millis};
use carillon_store as store;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::{Actor, App, DeclaredState, Grants, Job, Role};
use serde_json::{Map, Value};

use crate::code;
use crate::compare::{Finding, Sides, compare};
use crate::order;

/// Characters of the place in the source, and of the reason of a refusal, that are kept.
const PLACE_CHARS: usize = 255;
const PROBLEM_CHARS: usize = 1_000;
/// Characters of the name of an actor, as the audit and pauses keep it.
const ACTOR_CHARS: usize = 64;

/// A round over one app.
pub struct Reconciler<'a> {
    pub engine: &'a Engine,
    pub app: &'a App,
    pub declaration: &'a wire::Declaration,
    /// The app's setting allows changes.
    pub may_write: bool,
    pub actor: Actor,
    pub now: Millis,
    /// What is stored of the app's declared jobs, by key.
    pub rows: BTreeMap<String, DeclaredJob>,
    /// Jobs that were made or changed.
    pub written: usize,
}

/// Why a round ends early, or a job fails.
pub enum Stop {
    /// The database does not answer; the next round goes on.
    Store(store::Error),
    /// What is wrong with the job.
    Refused(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => Self::Store(error),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        Self::Store(error)
    }
}

/// What has become of a job, before it is stored.
struct Outcome {
    job_id: Option<i64>,
    state: DeclaredState,
    base: Map<String, Value>,
    findings: Vec<Finding>,
    problem: String,
}

impl Outcome {
    fn without_job(state: DeclaredState) -> Self {
        Self { job_id: None, state, base: Map::new(), findings: vec![], problem: String::new() }
    }
}

/// The actor of the audit: it may edit the jobs of the app, and nothing else.
pub fn actor(build: &str, address: &str, app: &App) -> Actor {
    let name = cut(&format!("declared by build {build}"), ACTOR_CHARS);
    Actor::new(name, address, Grants::for_app(app.id, Role::Editor))
}

impl Reconciler<'_> {
    /// Goes through all jobs of the declaration. False: the code of some was refused.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn round(&mut self) -> store::Result<bool> {
        let ids: Vec<i64> = self.rows.values().filter_map(|row| row.job_id).collect();
        let jobs = self.engine.cx.store.jobs().with_ids(&ids).await?;
        let jobs: BTreeMap<i64, Job> = jobs.into_iter().map(|job| (job.id, job)).collect();
        let (mut is_complete, declaration) = (true, self.declaration);
        for declared in order::in_order(&declaration.jobs) {
            let was = self.former_row(declared);
            let row = self.rows.get(was.as_deref().unwrap_or(&declared.key)).cloned();
            let job = row.as_ref().and_then(|row| row.job_id).and_then(|id| jobs.get(&id));
            let outcome = match self.job(declared, row.as_ref(), job).await {
                Ok(outcome) => outcome,
                Err(Stop::Store(error)) => return Err(error),
                Err(Stop::Refused(problem)) => Outcome {
                    job_id: row.as_ref().and_then(|row| row.job_id),
                    base: row.as_ref().map(base).unwrap_or_default(),
                    problem,
                    ..Outcome::without_job(DeclaredState::Failed)
                },
            };
            is_complete &= outcome.state != DeclaredState::Failed;
            self.store(declared, row, outcome).await?;
        }
        Ok(is_complete)
    }

    /// The key of the row from which a renamed job is continued, also where a build takes its new name back. None: it is not renamed, or
    /// was so already.
    fn former_row(&self, declared: &wire::DeclaredJob) -> Option<String> {
        if self.rows.contains_key(&declared.key) {
            return None;
        }
        let keys = self.keys();
        let is_former = |row: &&DeclaredJob| {
            let is_renamed = declared.was.as_ref() == Some(&row.job_key) || row.was == declared.key;
            is_renamed && !keys.contains(row.job_key.as_str())
        };
        self.rows.values().find(is_former).map(|row| row.job_key.clone())
    }

    async fn job(
        &mut self,
        declared: &wire::DeclaredJob,
        row: Option<&DeclaredJob>,
        job: Option<&Job>,
    ) -> Result<Outcome, Stop> {
        let given = self.given(declared).await?;
        match (row.and_then(|row| row.job_id), job) {
            (Some(_), Some(job)) => self.compared(job, &given, row.map(base).unwrap_or_default()).await,
            // It was deleted here.
            (Some(_), None) if self.declaration.policy != DeclarePolicy::Enforce => {
                Ok(Outcome { job_id: row.and_then(|row| row.job_id), ..Outcome::without_job(DeclaredState::Deleted) })
            }
            (Some(_), None) => self.created(declared, &given).await,
            (None, _) => match self.existing(declared, &given).await? {
                Some(job) => self.taken_over(&job, &given).await,
                None => self.created(declared, &given).await,
            },
        }
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
        let base = code::members(&job.draft);
        Ok(Outcome { job_id: Some(job.id), base, ..Outcome::without_job(DeclaredState::Applied) })
    }

    /// A job that was made here, or by an earlier round that was cut off.
    async fn taken_over(&mut self, job: &Job, given: &Map<String, Value>) -> Result<Outcome, Stop> {
        let wanted = code::normal(&job.draft, given).map_err(Stop::Refused)?;
        let here = code::members(&job.draft);
        let is_same = wanted.iter().all(|(member, value)| here.get(member) == Some(value));
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
        self.compared(job, given, base).await
    }

    /// A job of the code.
    async fn compared(
        &mut self,
        job: &Job,
        given: &Map<String, Value>,
        base: Map<String, Value>,
    ) -> Result<Outcome, Stop> {
        let outcome = |state| Outcome { job_id: Some(job.id), base: base.clone(), ..Outcome::without_job(state) };
        if !job.draft.set.is_empty() {
            return Ok(outcome(DeclaredState::OfFiles));
        }
        if job.app_id != self.app.id {
            let problem = format!("the job belongs to the app {} now", job.draft.app);
            return Ok(Outcome { problem, ..outcome(DeclaredState::Deleted) });
        }
        let wanted = code::normal(&job.draft, given).map_err(Stop::Refused)?;
        let now = code::members(&job.draft);
        let sides = Sides { base: &base, code: &wanted, now: &now };
        let comparison = compare(self.declaration.policy, self.may_write, sides, self.now);
        if !comparison.write.is_empty() {
            let draft = code::with_members(&job.draft, &comparison.write).map_err(Stop::Refused)?;
            match self.engine.jobs().update(job.id, &draft, Some(job.revision), &self.actor).await {
                Ok(_) => self.written += 1,
                // Changed meanwhile: the next round compares again.
                Err(Error::Changed(_) | Error::Missing(_)) => return Ok(outcome(DeclaredState::Pending)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Outcome { base: comparison.base, findings: comparison.findings, ..outcome(comparison.state) })
    }

    /// Stores what has become of a job, if that is new.
    async fn store(
        &mut self,
        declared: &wire::DeclaredJob,
        old: Option<DeclaredJob>,
        outcome: Outcome,
    ) -> store::Result<()> {
        let Outcome { job_id, state, base, mut findings, problem } = outcome;
        for finding in &mut findings {
            let known = old.iter().flat_map(findings_of).find(|known| known.member == finding.member);
            finding.since = known.map_or(finding.since, |known| known.since);
        }
        let policy = serde_json::to_value(self.declaration.policy).unwrap_or_default();
        let row = DeclaredJob {
            job_key: declared.key.clone(),
            was: declared.was.clone().unwrap_or_default(),
            job_id,
            state,
            build: cut(&self.declaration.build, PLACE_CHARS),
            policy: policy.as_str().unwrap_or_default().to_owned(),
            place: cut(&format!("{}:{}", declared.file, declared.line), PLACE_CHARS),
            code: Value::from(declared.members.clone()).to_string(),
            base: Value::from(base).to_string(),
            report: serde_json::to_string(&findings).unwrap_or_default(),
            problem: cut(&problem, PROBLEM_CHARS),
            changed_at: old.as_ref().filter(|old| old.state == state).map_or(self.now, |old| old.changed_at),
            orphan_at: None,
        };
        if old.as_ref() != Some(&row) {
            let was = old.map_or_else(|| row.job_key.clone(), |old| old.job_key);
            self.engine.cx.store.declarations().write_job(self.app.id, &was, &row).await?;
            self.rows.remove(&was);
            self.rows.insert(row.job_key.clone(), row);
        }
        Ok(())
    }

    /// The keys of the declaration.
    pub fn keys(&self) -> BTreeSet<&str> {
        self.declaration.jobs.iter().map(|job| job.key.as_str()).collect()
    }
}

fn base(row: &DeclaredJob) -> Map<String, Value> {
    serde_json::from_str(&row.base).unwrap_or_default()
}

/// The members that differ, as they are stored.
pub fn findings_of(row: &DeclaredJob) -> Vec<Finding> {
    serde_json::from_str(&row.report).unwrap_or_default()
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
