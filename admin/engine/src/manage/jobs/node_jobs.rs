//! The jobs of workflows: a request may name them by their keys, a stored workflow names them by id.

use std::borrow::Cow;

use carillon_scheduler::workflow::NodeJob;
use carillon_scheduler::{FieldError, JobDraft};
use foldhash::HashMap;

use crate::engine::Engine;
use crate::manage::error::Error;

/// The ids of jobs that drafts name by key, by app and key.
#[derive(Default)]
pub(super) struct NodeJobs(HashMap<(String, String), i64>);

impl NodeJobs {
    pub async fn new(engine: &Engine, drafts: &[JobDraft]) -> Result<Self, Error> {
        let store = &engine.cx.store;
        let mut ids = HashMap::default();
        for (app, key) in drafts.iter().flat_map(named) {
            if ids.contains_key(&(app.clone(), key.clone())) {
                continue;
            }
            if let Some(found) = store.apps().by_name(&app).await?
                && let Some(id) = store.jobs().id_with_key(found.id, &key).await?
            {
                ids.insert((app, key), id);
            }
        }
        Ok(Self(ids))
    }

    /// The draft with its jobs by id.
    ///
    /// # Errors
    /// One for each node whose job does not exist.
    pub fn resolve<'a>(&self, draft: &'a JobDraft) -> Result<Cow<'a, JobDraft>, Vec<FieldError>> {
        if named(draft).next().is_none() {
            return Ok(Cow::Borrowed(draft));
        }
        let (mut resolved, mut errors) = (draft.clone(), vec![]);
        for (name, node) in resolved.workflow.iter_mut().flat_map(|workflow| &mut workflow.nodes) {
            let Some(named) = app_and_key(&node.job, draft) else { continue };
            match self.0.get(&named) {
                Some(id) => node.job = NodeJob::Id(*id),
                None => {
                    let (app, key) = named;
                    let message = format!("there is no job with the key {key:?} in app {app}");
                    errors.push(FieldError::new(format!("workflow.nodes.{name}.job"), message));
                }
            }
        }
        if errors.is_empty() { Ok(Cow::Owned(resolved)) } else { Err(errors) }
    }
}

/// App and key of the jobs that a draft names by key.
fn named(draft: &JobDraft) -> impl Iterator<Item = (String, String)> {
    let nodes = draft.workflow.iter().flat_map(|workflow| &workflow.nodes);
    nodes.filter_map(|(_, node)| app_and_key(&node.job, draft))
}

/// None: the job is named by its id.
fn app_and_key(job: &NodeJob, draft: &JobDraft) -> Option<(String, String)> {
    let (app, key) = job.app_and_key()?;
    Some((app.unwrap_or(&draft.app).to_owned(), key.to_owned()))
}
