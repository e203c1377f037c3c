//! From the keys and names that code uses to the jobs of the app.

use std::collections::BTreeMap;

use carillon_protocol as wire;
use carillon_store as store;
use carillon_store::Job;
use serde_json::{Map, Value};

use crate::reconciler::{Reconciler, Stop};
use crate::{code, order};

impl Reconciler<'_> {
    /// The members that the code names, with ids in place of keys.
    pub async fn given(&self, declared: &wire::DeclaredJob) -> Result<Map<String, Value>, Stop> {
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
    pub async fn existing(
        &self,
        declared: &wire::DeclaredJob,
        given: &Map<String, Value>,
    ) -> Result<Option<Job>, Stop> {
        let store = &self.engine.cx.store;
        for key in [Some(&declared.key), declared.was.as_ref()].into_iter().flatten() {
            if let Some(id) = store.jobs().id_with_key(self.app.id, key).await? {
                return Ok(Some(self.engine.jobs().get(id).await?));
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
