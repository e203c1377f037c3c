//! Jobs that an actor may not name as children, or as nodes of a workflow: their runs start by themselves, with a text of the parent as
//! their parameters.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_scheduler::{FieldError, JobDraft};
use carillon_store::{Actor, AuditObject, Job};

use crate::engine::Engine;
use crate::manage::error::Error;

#[derive(Default)]
pub(super) struct ForbiddenChildren {
    /// By job, its app and what is wrong with it as a child of any job.
    denied: HashMap<i64, (i64, String)>,
    /// The apps of the other children.
    apps: HashMap<i64, i64>,
    names: HashMap<i64, String>,
    /// Pairs of an app and the name of one that may start its jobs.
    starters: HashSet<(i64, String)>,
}

impl ForbiddenChildren {
    /// A child that the job has already may stay, also where others have named it.
    pub async fn new(engine: &Engine, drafts: &[JobDraft], before: Option<&Job>, by: &Actor) -> Result<Self, Error> {
        let kept: BTreeSet<i64> = before.iter().flat_map(|job| named(&job.draft)).map(|(_, id)| id).collect();
        let given: BTreeSet<i64> = drafts.iter().flat_map(named).map(|(_, id)| id).collect();
        let ids: Vec<i64> = given.difference(&kept).copied().collect();
        if ids.is_empty() {
            return Ok(Self::default());
        }
        let store = &engine.cx.store;
        let mut found = Self { names: store.apps().names().await?, ..Self::default() };
        for (job, app) in store.retention().apps_of(&ids).await? {
            match policy::decide(by, Action::Operate, Object::App(app)) {
                Decision::Allowed => {
                    found.apps.insert(job, app);
                }
                Decision::Forbidden => {
                    let why = format!("job {job} belongs to an app of which you are no operator");
                    found.denied.insert(job, (app, why));
                }
                // As if it did not exist.
                Decision::Hidden => {
                    found.denied.insert(job, (app, format!("there is no job {job}")));
                }
            }
        }
        for job in store.jobs().best_effort_among(&ids).await? {
            if let Some(app) = found.apps.get(&job) {
                found.denied.insert(job, (*app, format!("job {job} is a best-effort job, which no other job starts")));
            }
        }
        let apps: Vec<i64> = found.apps.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
        found.starters = store.apps().starters_of(&apps).await?;
        Ok(found)
    }

    pub fn errors(&self, draft: &JobDraft) -> impl Iterator<Item = FieldError> {
        named(draft).filter_map(|(field, id)| {
            let message = match self.denied.get(&id) {
                Some((_, message)) => Some(message.clone()),
                None => self.not_started_by(id, &draft.app),
            };
            Some(FieldError::new(field, message?))
        })
    }

    /// What is wrong with a child if its app does not let the app of its parent start its jobs.
    fn not_started_by(&self, child: i64, parent_app: &str) -> Option<String> {
        let app = self.apps.get(&child)?;
        let name = self.names.get(app)?;
        let is_allowed = name == parent_app || self.starters.contains(&(*app, parent_app.to_owned()));
        let why = || {
            format!(
                "job {child} is of app {name}, which does not let jobs of app {parent_app} start its jobs: its administrators set that on its page"
            )
        };
        (!is_allowed).then(why)
    }

    pub fn objects(&self) -> impl Iterator<Item = AuditObject> {
        self.denied.iter().map(|(job, (app, _))| AuditObject::job(*job, *app))
    }
}

/// The jobs that a draft starts, each with the member that names it.
fn named(draft: &JobDraft) -> impl Iterator<Item = (String, i64)> {
    let children = draft.children.iter().map(|id| ("children".to_owned(), *id));
    let nodes = draft.workflow.iter().flat_map(|workflow| &workflow.nodes);
    let nodes = nodes.filter_map(|(name, node)| Some((format!("workflow.nodes.{name}.job"), node.job.id()?)));
    children.chain(nodes)
}
