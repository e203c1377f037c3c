//! What people and programs are shown of declarations.

use carillon_engine::Error;
use carillon_scheduler::Millis;
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::{App, DeclarationSetting, DeclaredState, Job};
use serde_json::{Map, Value};

use crate::applier::Declarations;
use crate::compare::Finding;
use crate::reconciler::findings_of;

/// The declarations of an app.
#[derive(Clone, Debug)]
pub struct AppDeclarations {
    pub setting: DeclarationSetting,
    /// Those that live executors announce; the first one that was not refused counts.
    pub live: Vec<Declaration>,
    /// By key.
    pub jobs: Vec<DeclaredJobView>,
}

/// A declared job.
#[derive(Clone, Debug)]
pub struct DeclaredJobView {
    pub key: String,
    /// None: there is no job for it.
    pub job_id: Option<i64>,
    pub state: DeclaredState,
    /// The build that declares it, or the last one that did.
    pub build: String,
    /// warn, adopt, enforce.
    pub policy: String,
    /// File and line.
    pub place: String,
    /// The members that the code names.
    pub members: Vec<String>,
    /// The members that are not as the code says.
    pub findings: Vec<Finding>,
    /// Why the code was refused; empty: it was not.
    pub problem: String,
    /// Since when it is in this state.
    pub since: Millis,
}

impl DeclaredJobView {
    /// The members that an edit cannot change for long: the code says them, and is enforced.
    pub fn enforced(&self, setting: DeclarationSetting) -> &[String] {
        let is_enforced = self.policy == "enforce" && setting == DeclarationSetting::Apply;
        match is_enforced && matches!(self.state, DeclaredState::Applied | DeclaredState::Pending) {
            true => &self.members,
            false => &[],
        }
    }

    /// Whether a person has something to decide about it.
    pub fn has_drift(&self) -> bool {
        self.state != DeclaredState::Applied
    }
}

impl From<DeclaredJob> for DeclaredJobView {
    fn from(row: DeclaredJob) -> Self {
        let code: Map<String, Value> = serde_json::from_str(&row.code).unwrap_or_default();
        let findings = findings_of(&row);
        let DeclaredJob { job_key: key, job_id, state, build, policy, place, problem, changed_at: since, .. } = row;
        let members = code.into_iter().map(|(member, _)| member).collect();
        Self { key, job_id, state, build, policy, place, members, findings, problem, since }
    }
}

impl AppDeclarations {
    /// The declaration that counts.
    pub fn counts(&self, declaration: &Declaration) -> bool {
        self.live.iter().find(|it| it.problem.is_empty()).is_some_and(|first| first.digest == declaration.digest)
    }
}

impl Declarations {
    /// # Errors
    /// The database does not answer.
    pub async fn of_app(&self, app: &App) -> Result<AppDeclarations, Error> {
        let declarations = self.engine.cx.store.declarations();
        let live = declarations.live(app, self.engine.cx.clock.now()).await?;
        let jobs = declarations.jobs_of(app.id).await?.into_iter().map(DeclaredJobView::from).collect();
        Ok(AppDeclarations { setting: app.declarations, live, jobs })
    }

    /// What programs of its app declare of a job; None: nothing.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn of_job(&self, job: &Job) -> Result<Option<DeclaredJobView>, Error> {
        Ok(self.engine.cx.store.declarations().of_job(job.app_id, job.id).await?.map(DeclaredJobView::from))
    }
}
