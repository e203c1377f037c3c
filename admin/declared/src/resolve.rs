//! From the keys and names that code uses to the jobs of the app.

use std::collections::BTreeMap;

use carillon_protocol as wire;
use carillon_store::Job;
use serde_json::{Map, Value};

use crate::reconciler::{Reconciler, Stop};
use crate::{code, order};

impl Reconciler<'_> {
    /// The members that the code names, with ids in place of keys.
    pub async fn given(&mut self, declared: &wire::DeclaredJob) -> Result<Map<String, Value>, Stop> {
        let mut given = declared.members.clone();
        given.insert("key".to_owned(), declared.key.as_str().into());
        let mut ids: BTreeMap<&str, i64> = BTreeMap::new();
        for key in order::started(declared) {
            match self.id_of(key) {
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
        self.require_startable(ids.values().copied().collect()).await?;
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

    fn id_of(&self, key: &str) -> Option<i64> {
        self.rows.get(key).and_then(|row| row.job_id).or_else(|| self.keys.get(key).copied())
    }

    /// # Errors
    /// Code may not start one of these jobs.
    async fn require_startable(&mut self, mut ids: Vec<i64>) -> Result<(), Stop> {
        ids.retain(|id| !self.allowed.contains(id));
        if ids.is_empty() {
            return Ok(());
        }
        for job in self.engine.cx.store.jobs().with_ids(&ids).await? {
            self.require_plain(&job)?;
            self.allowed.insert(job.id);
        }
        Ok(())
    }

    /// Code neither takes over nor starts a job with a script or a request, nor a workflow that it has not made: their authors have
    /// other rights than a token of the app.
    pub fn require_plain(&self, job: &Job) -> Result<(), Stop> {
        let is_declared = || self.rows.values().any(|row| row.job_id == Some(job.id));
        let draft = &job.draft;
        let what = match () {
            () if draft.script.is_some() => "has a script",
            () if draft.http.is_some() => "sends a request",
            () if draft.workflow.is_some() && !is_declared() => "is a workflow that is not of the code",
            () => return Ok(()),
        };
        Err(Stop::Refused(format!("job {} {what}, so code can neither declare nor start it", job.id)))
    }

    /// A job that is not of the code: with the key, with the one before, or with the name and the handler.
    pub async fn existing(
        &self,
        declared: &wire::DeclaredJob,
        given: &Map<String, Value>,
    ) -> Result<Option<Job>, Stop> {
        let store = &self.engine.cx.store;
        for key in [Some(&declared.key), declared.was.as_ref()].into_iter().flatten() {
            if let Some(id) = self.keys.get(key) {
                return Ok(Some(self.engine.jobs().get(*id).await?));
            }
        }
        let text = |member: &str| given.get(member).and_then(Value::as_str).unwrap_or_default();
        let (name, handler) = (code::name(declared, given), text("handler"));
        if handler.is_empty() {
            return Ok(None);
        }
        match store.declarations().job_named(self.app.id, &name, handler).await? {
            Some(id) => Ok(Some(self.engine.jobs().get(id).await?)),
            None => Ok(None),
        }
    }
}
