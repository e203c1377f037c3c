//! Runs whose parameters name secrets: their values are read when the runs are due, and leave with the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use carillon_scheduler::{RunEvent, RunReason};
use carillon_store as store;

use crate::dispatch::send_task::{Attempted, SendTask, Sender};
use crate::executor::secrets::{OpenedSecrets, SecretParams, named_secrets, open_secrets};

impl SendTask {
    pub fn names_secrets(&self) -> bool {
        !self.secret_names().is_empty()
    }

    fn secret_names(&self) -> BTreeSet<&str> {
        let routed = &self.marked.routed;
        named_secrets(&routed.run, &routed.decision.job, self.marked.params.as_ref())
    }

    fn app_id(&self) -> i64 {
        self.marked.routed.decision.job.stored.app_id
    }
}

impl Sender {
    /// Those of these runs that have all their secrets. The others fail, or go back if the secrets could not be read.
    pub(super) async fn with_secrets(self: &Arc<Self>, tasks: Vec<SendTask>) -> Vec<SendTask> {
        let mut names: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
        for task in &tasks {
            names.entry(task.app_id()).or_default().extend(task.secret_names());
        }
        let mut opened: BTreeMap<i64, store::Result<OpenedSecrets>> = BTreeMap::new();
        for (app_id, names) in names {
            let found = open_secrets(&self.cx.store, self.client.tokens.keys(), app_id, &names).await;
            opened.insert(app_id, found);
        }
        tasks.into_iter().filter_map(|task| self.with_secrets_of(task, &opened)).collect()
    }

    fn with_secrets_of(
        &self,
        mut task: SendTask,
        opened: &BTreeMap<i64, store::Result<OpenedSecrets>>,
    ) -> Option<SendTask> {
        let secrets = match opened.get(&task.app_id())? {
            Ok(secrets) => secrets,
            Err(error) => {
                let why = format!("its secrets could not be read: {error}");
                match task.put_off(why, false) {
                    Attempted::TryNext(why) => self.fail(&task, why),
                    _ => task.unmark(),
                }
                return None;
            }
        };
        let routed = &task.marked.routed;
        match SecretParams::new(&routed.run, &routed.decision.job, task.marked.params.as_ref(), secrets) {
            Ok(params) => {
                task.marked.secret_params = Some(Arc::new(params));
                Some(task)
            }
            Err(why) => {
                self.fail(&task, why);
                None
            }
        }
    }

    fn fail(&self, task: &SendTask, why: String) {
        let run_id = task.marked.routed.run.run_id;
        self.outcomes.report_internal(run_id, RunEvent::Refused, RunReason::Refused, why);
    }
}
