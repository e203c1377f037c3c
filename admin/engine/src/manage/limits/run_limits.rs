//! Limits of how many runs are at work together, as people and programs set them. An app's administrator sets those of the app, one of all
//! apps those that are shared.

use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::LimitDraft;
use carillon_store::app::limits::line::{SlotHolder, WaitingRun};
use carillon_store::{Actor, LimitRule};
use foldhash::HashMap;

use crate::manage::authorize::require;
use crate::manage::entry_points::RunLimits;
use crate::manage::error::Error;

/// Runs of a limit that are shown.
const SHOWN: usize = 100;

/// A limit with the name of its app, and how it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitUse {
    pub rule: LimitRule,
    /// None: it is shared.
    pub app: Option<String>,
    /// Runs that have a slot.
    pub taken: i64,
}

/// Who has slots of a limit, and who waits, as far as the actor sees their apps: at most 100 of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitLine {
    pub holders: Vec<SlotHolder>,
    pub waiting: Vec<WaitingRun>,
}

impl RunLimits<'_> {
    /// The limits that the actor sees: those of its apps, and the shared ones.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn list(&self, by: &Actor) -> Result<Vec<LimitUse>, Error> {
        let store = &self.engine.cx.store;
        let mut rules = store.limits().list().await?;
        rules.retain(|rule| is_visible(rule, by));
        let (names, taken) = (store.apps().names().await?, store.limits().taken_of_each().await?);
        let used = |rule: LimitRule| LimitUse {
            app: rule.app_id.and_then(|id| names.get(&id).cloned()),
            taken: taken.get(&rule.id).copied().unwrap_or(0),
            rule,
        };
        Ok(rules.into_iter().map(used).collect())
    }

    /// # Errors
    /// `Missing`
    pub async fn get(&self, id: i64, by: &Actor) -> Result<LimitUse, Error> {
        let found = self.list(by).await?.into_iter().find(|limit| limit.rule.id == id);
        found.ok_or_else(|| Error::missing("limit", id))
    }

    /// # Errors
    /// The database does not answer.
    pub async fn line(&self, rule: &LimitRule, by: &Actor) -> Result<LimitLine, Error> {
        let limits = self.engine.cx.store.limits();
        let is_seen = |app_id: i64| by.grants.role_for(app_id).is_some();
        let mut holders = limits.holders(rule.id, rule.max_runs.unsigned_abs().max(1_000)).await?;
        holders.retain(|holder| is_seen(holder.app_id));
        holders.truncate(SHOWN);
        let mut waiting = limits.waiting(rule).await?;
        waiting.retain(|run| is_seen(run.app_id));
        waiting.truncate(SHOWN);
        Ok(LimitLine { holders, waiting })
    }

    /// In force on all nodes within two seconds. What is at work then counts from its next mark on.
    ///
    /// # Errors
    /// `Forbidden`, `Invalid`, `Taken`, `InUse` (there are too many)
    pub async fn create(&self, draft: LimitDraft, by: &Actor) -> Result<LimitUse, Error> {
        let app = match &draft.app {
            None => None,
            Some(name) => {
                let app = self.engine.cx.store.apps().by_name(name).await?;
                let app = app.filter(|app| by.grants.role_for(app.id).is_some());
                Some(app.ok_or_else(|| Error::field("app", format!("there is no app {name:?}")))?)
            }
        };
        must_set(app.as_ref().map(|app| app.id), None, by)?;
        draft.validate().map_err(Error::Invalid)?;
        let cx = &self.engine.cx;
        let rule = cx.store.limits().create(&draft, app.as_ref().map(|app| app.id), cx.clock.now(), by).await?;
        self.follow_change().await;
        Ok(LimitUse { rule, app: app.map(|app| app.name), taken: 0 })
    }

    /// Gives a limit other members; its name and app stay. `expected`: the version that the caller has read. Runs at work go on where
    /// there are fewer slots: nothing begins until enough of them have ended.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Invalid`, `Changed`
    pub async fn update(
        &self,
        id: i64,
        draft: LimitDraft,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<LimitUse, Error> {
        let old = self.get(id, by).await?;
        must_set(old.rule.app_id, Some(id), by)?;
        if draft.name != old.rule.name {
            return Err(Error::field("name", "cannot be changed: a limit keeps its name"));
        }
        if draft.app != old.app {
            return Err(Error::field("app", "cannot be changed: a limit keeps its app"));
        }
        draft.validate().map_err(Error::Invalid)?;
        let cx = &self.engine.cx;
        let rule = cx.store.limits().update(id, &draft, expected, cx.clock.now(), by).await?;
        self.follow_change().await;
        Ok(LimitUse { rule, ..old })
    }

    /// # Errors
    /// `Forbidden`; `Missing`; `InUse`, with the first of the jobs that name it
    pub async fn delete(&self, id: i64, by: &Actor) -> Result<(), Error> {
        let old = self.get(id, by).await?;
        must_set(old.rule.app_id, Some(id), by)?;
        self.engine.cx.store.limits().delete(id, self.engine.cx.clock.now(), by).await?;
        self.follow_change().await;
        Ok(())
    }

    /// The jobs that name a limit, as far as the actor sees their apps.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn jobs(&self, rule: &LimitRule, by: &Actor) -> Result<Vec<(i64, String)>, Error> {
        let store = &self.engine.cx.store;
        let jobs = store.limits().users(rule).await?;
        let ids: Vec<i64> = jobs.iter().map(|(id, _)| *id).collect();
        let apps: HashMap<i64, i64> =
            store.jobs().with_ids(&ids).await?.iter().map(|job| (job.id, job.app_id)).collect();
        let is_seen = |(id, _): &(i64, String)| apps.get(id).is_some_and(|app| by.grants.role_for(*app).is_some());
        Ok(jobs.into_iter().filter(is_seen).collect())
    }

    /// A failed read is repeated within a second.
    async fn follow_change(&self) {
        if let Err(error) = self.engine.limit_rules.refresh().await {
            tracing::debug!(%error, "the limits could not be read after a change; the next round reads them");
        }
        self.engine.limits.wake();
    }
}

/// A shared limit is visible to every actor that sees an app.
fn is_visible(rule: &LimitRule, by: &Actor) -> bool {
    rule.app_id.is_none_or(|id| by.grants.role_for(id).is_some())
}

fn must_set(app_id: Option<i64>, id: Option<i64>, by: &Actor) -> Result<(), Error> {
    let object = app_id.map_or(Object::Installation, Object::App);
    require(by, Action::Administer, object, || id.map_or_else(String::new, |id| format!("limit {id}")))
}
