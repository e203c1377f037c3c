//! Child jobs that an actor may not name: their runs start by themselves, with a text of the parent as their parameters.

use foldhash::{HashMap, HashMapExt as _};

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_scheduler::{FieldError, JobDraft};
use carillon_store::{Actor, AuditObject, Job};

use crate::engine::Engine;
use crate::manage::error::Error;

/// By job, its app and what is wrong with it as a child.
pub(super) struct ForbiddenChildren(HashMap<i64, (i64, String)>);

impl ForbiddenChildren {
    /// A child that the job has already may stay, also where others have named it.
    pub async fn new(engine: &Engine, drafts: &[JobDraft], before: Option<&Job>, by: &Actor) -> Result<Self, Error> {
        let is_kept = |id: &&i64| before.is_some_and(|job| job.draft.children.contains(id));
        let mut ids: Vec<i64> =
            drafts.iter().flat_map(|draft| &draft.children).filter(|id| !is_kept(id)).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let apps = if ids.is_empty() { HashMap::new() } else { engine.cx.store.apps_of(&ids).await? };
        let wrong = |(job, app): (i64, i64)| match policy::decide(by, Action::Operate, Object::App(app)) {
            Decision::Allowed => None,
            Decision::Forbidden => {
                Some((job, (app, format!("job {job} belongs to an app of which you are no operator"))))
            }
            // As if it did not exist.
            Decision::Hidden => Some((job, (app, format!("there is no job {job}")))),
        };
        Ok(Self(apps.into_iter().filter_map(wrong).collect()))
    }

    pub fn errors(&self, draft: &JobDraft) -> impl Iterator<Item = FieldError> {
        let wrong = draft.children.iter().filter_map(|id| self.0.get(id));
        wrong.map(|(_, message)| FieldError::new("children", message.clone()))
    }

    pub fn objects(&self) -> impl Iterator<Item = AuditObject> {
        self.0.iter().map(|(job, (app, _))| AuditObject::job(*job, *app))
    }
}
