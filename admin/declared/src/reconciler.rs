//! One round over the jobs of the declaration that counts for an app.

use std::collections::{BTreeMap, BTreeSet};

use carillon_engine::{Engine, Error};
use carillon_protocol as wire;
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::db::sql::text::printable;
use carillon_store::{Actor, App, DeclaredState, Grants, Job, Role};
use serde_json::{Map, Value};

use crate::compare::Finding;
use crate::order;

/// Characters of the place in the source, and of the reason of a refusal, that are kept.
pub const PLACE_CHARS: usize = 255;
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
    /// The jobs of the app that have a key.
    pub keys: BTreeMap<String, i64>,
    /// Jobs that code may start, as far as this round has looked.
    pub allowed: BTreeSet<i64>,
    /// Jobs that were made or changed.
    pub written: usize,
    /// The next round has something to do, though nothing changes.
    pub is_open: bool,
}

/// Why a round ends early, or a job fails.
pub enum Stop {
    /// The database does not answer; the next round goes on.
    Store(store::Error),
    /// What is wrong with the job.
    Refused(String),
    /// The job was changed meanwhile; the next round compares again.
    Changed,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        // Another round would end the same way.
        match error.is_bad_value() {
            true => Self::Refused("it has a value that the database does not take".to_owned()),
            false => Self::Store(error),
        }
    }
}

/// What has become of a job, before it is stored.
pub struct Outcome {
    pub job_id: Option<i64>,
    pub state: DeclaredState,
    pub base: Map<String, Value>,
    pub findings: Vec<Finding>,
    pub problem: String,
}

impl Outcome {
    pub fn without_job(state: DeclaredState) -> Self {
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
                Err(Stop::Changed) => {
                    (is_complete, self.is_open) = (false, true);
                    continue;
                }
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
        let keys = self.declared_keys();
        let is_former = |row: &&DeclaredJob| {
            let is_renamed = declared.was.as_ref() == Some(&row.job_key) || row.was == declared.key;
            is_renamed && !keys.contains(row.job_key.as_str())
        };
        self.rows.values().find(is_former).map(|row| row.job_key.clone())
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
        // What the code named before it was refused is still in force.
        let kept = old.as_ref().filter(|_| state == DeclaredState::Failed).map(|old| old.code.clone());
        let policy = serde_json::to_value(self.declaration.policy).unwrap_or_default();
        let row = DeclaredJob {
            job_key: declared.key.clone(),
            was: declared.was.clone().unwrap_or_default(),
            job_id,
            state,
            build: cut(&self.declaration.build, PLACE_CHARS),
            policy: policy.as_str().unwrap_or_default().to_owned(),
            place: cut(&format!("{}:{}", declared.file, declared.line), PLACE_CHARS),
            code: kept.unwrap_or_else(|| Value::from(declared.members.clone()).to_string()),
            base: Value::from(base).to_string(),
            report: serde_json::to_string(&findings).unwrap_or_default(),
            problem: printable(&cut(&problem, PROBLEM_CHARS)),
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
    pub fn declared_keys(&self) -> BTreeSet<&str> {
        self.declaration.jobs.iter().map(|job| job.key.as_str()).collect()
    }
}

pub fn base(row: &DeclaredJob) -> Map<String, Value> {
    serde_json::from_str(&row.base).unwrap_or_default()
}

/// The members that differ, as they are stored.
pub fn findings_of(row: &DeclaredJob) -> Vec<Finding> {
    serde_json::from_str(&row.report).unwrap_or_default()
}

pub fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
