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
enum Stop {
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
    Actor::new(format!("declared by build {build}"), address, Grants::for_app(app.id, Role::Editor))
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

    /// The members that the code names, with ids in place of keys.
    async fn given(&self, declared: &wire::DeclaredJob) -> Result<Map<String, Value>, Stop> {
        let mut given = declared.members.clone();
        given.insert("key".to_owned(), declared.key.as_str().into());
        let mut ids: BTreeMap<&str, i64> = BTreeMap::new();
        for key in order::started(declared) {
            match self.id_of(key).await? {
                Some(id) => drop(ids.insert(key, id)),
                // Nothing is made under the setting `report`, so the others cannot name it yet.
                None if !self.may_write => {
                    given.remove("children");
                    given.remove("workflow");
                    return Ok(given);
                }
                None => return Err(Stop::Refused(format!("there is no job `{key}` in the app {}", self.app.name))),
            }
        }
        let id = |key: &Value| key.as_str().and_then(|key| ids.get(key)).map_or(Value::Null, |id| (*id).into());
        if let Some(Value::Array(children)) = given.get_mut("children") {
            children.iter_mut().for_each(|child| *child = id(child));
        }
        let nodes = given.get_mut("workflow").and_then(|graph| graph.get_mut("nodes"));
        for node in nodes.and_then(Value::as_object_mut).into_iter().flat_map(|nodes| nodes.values_mut()) {
            if let Some(job) = node.get_mut("job") {
                *job = id(job);
            }
        }
        Ok(given)
    }

    async fn id_of(&self, key: &str) -> store::Result<Option<i64>> {
        match self.rows.get(key).and_then(|row| row.job_id) {
            Some(id) => Ok(Some(id)),
            None => self.engine.cx.store.jobs().id_with_key(self.app.id, key).await,
        }
    }

    /// A job that is not of the code: with the key, with the one before, or with the name and the handler.
    async fn existing(&self, declared: &wire::DeclaredJob, given: &Map<String, Value>) -> Result<Option<Job>, Stop> {
        let store = &self.engine.cx.store;
        for key in [Some(&declared.key), declared.was.as_ref()].into_iter().flatten() {
            if let Some(id) = store.jobs().id_with_key(self.app.id, key).await? {
                return Ok(Some(self.engine.jobs().get(id).await?));
            }
        }
        let text = |member: &str| given.get(member).and_then(Value::as_str).unwrap_or_default();
        let (name, handler) = (name(declared, given), text("handler"));
        if handler.is_empty() {
            return Ok(None);
        }
        match store.declarations().job_named(self.app.id, &name, handler).await? {
            Some(id) => Ok(Some(self.engine.jobs().get(id).await?)),
            None => Ok(None),
        }
    }

    async fn created(&mut self, declared: &wire::DeclaredJob, given: &Map<String, Value>) -> Result<Outcome, Stop> {
        let new = JobDraft::new(self.app.name.as_str(), name(declared, given), "");
        let draft = code::with_members(&new, given).map_err(Stop::Refused)?;
        if !self.may_write {
            code::normal(&draft, given).map_err(Stop::Refused)?;
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

/// The name of a new job.
fn name(declared: &wire::DeclaredJob, given: &Map<String, Value>) -> String {
    given.get("name").and_then(Value::as_str).unwrap_or(&declared.key).to_owned()
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
