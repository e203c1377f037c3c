//! The limits themselves.

use carillon_scheduler::{AuditAction, AuditObjectKind, LimitDraft, Millis};
use serde_json::{Value, json};

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditObject, difference};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::rows::ZeroIsNone;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::views::LimitStore;

/// Limits of one app, and shared ones.
pub const MOST_LIMITS: usize = 200;

row_struct! {
    /// A limit as it is now.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LimitRule {
        pub id: i64,
        /// None: it is shared by all apps.
        pub app_id: Option<i64> as ZeroIsNone,
        pub name: String,
        /// How many runs may be at work together, for each value of its key.
        pub max_runs: i32,
        /// The path of a member of the parameters; empty: it has no key.
        pub key_path: String,
        /// It holds for all jobs of its app.
        pub all_jobs: bool,
        pub description: String,
        /// 1, 2 …: grows with each change.
        pub version: i64,
        pub created_at: Millis,
        pub updated_at: Millis,
    }
}

const COLUMNS: &str = "id, app_id, name, max_runs, key_path, all_jobs, description, version, created_at, updated_at";

/// Its rows are locked before its slots are looked at.
pub(crate) const LOCK_RULE: &str = "SELECT id FROM limit_rule WHERE id = ?{for_update}";

impl LimitRule {
    fn audited(&self) -> AuditObject {
        AuditObject::new(AuditObjectKind::Limit, self.id).in_app(self.app_id)
    }

    fn members(&self) -> Value {
        json!({
            "name": self.name, "max": self.max_runs, "key": self.key_path, "all_jobs": self.all_jobs, "description": self.description,
        })
    }

    /// The limit that a checked draft makes of this one. Name and app stay.
    fn changed_to(&self, draft: &LimitDraft, now: Millis) -> Self {
        Self {
            max_runs: draft.max,
            key_path: draft.key.clone(),
            all_jobs: draft.all_jobs,
            description: draft.description.trim().to_owned(),
            version: self.version + 1,
            updated_at: now,
            ..self.clone()
        }
    }
}

impl LimitStore<'_> {
    /// All limits, by app and name; those that are shared first.
    pub async fn list(self) -> Result<Vec<LimitRule>> {
        let text = format!("SELECT {COLUMNS} FROM limit_rule ORDER BY app_id, name");
        self.all(&self.read, &text, vec![]).await
    }

    /// The same for the engine.
    pub async fn in_force(self) -> Result<Vec<LimitRule>> {
        let text = format!("SELECT {COLUMNS} FROM limit_rule ORDER BY id");
        self.all(&self.engine_reads, &text, vec![]).await
    }

    pub async fn get(self, id: i64) -> Result<Option<LimitRule>> {
        let text = format!("SELECT {COLUMNS} FROM limit_rule WHERE id = ?");
        self.one(&self.read, &text, values![id]).await
    }

    /// A new limit, which the caller has checked. `app_id`: of the app that the draft names.
    ///
    /// # Errors
    /// `Taken`: the app has one of this name. `InUse`: it has [`MOST_LIMITS`] of them. `Missing`: the app is gone.
    pub async fn create(
        self,
        draft: &LimitDraft,
        app_id: Option<i64>,
        now: Millis,
        actor: &Actor,
    ) -> Result<LimitRule> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        if let Some(app_id) = app_id {
            self.apps().hold_app(&tx, app_id).await?;
        }
        let text = "SELECT COUNT(*) FROM limit_rule WHERE app_id = ?";
        let count: Option<i64> = self.tuple(&tx, text, values![app_id.unwrap_or(0)]).await?;
        if count.unwrap_or(0) >= MOST_LIMITS as i64 {
            return Err(Error::InUse(format!("there are {MOST_LIMITS} such limits already; delete one first")));
        }
        let rule = LimitRule {
            id,
            app_id,
            name: draft.name.clone(),
            max_runs: draft.max,
            key_path: draft.key.clone(),
            all_jobs: draft.all_jobs,
            description: draft.description.trim().to_owned(),
            version: 1,
            created_at: now,
            updated_at: now,
        };
        let row = named![
            id,
            app_id: app_id.unwrap_or(0),
            name: rule.name.as_str(),
            max_runs: rule.max_runs,
            key_path: rule.key_path.as_str(),
            all_jobs: rule.all_jobs,
            description: rule.description.as_str(),
            version: 1i64,
            created_at: now,
            updated_at: now
        ];
        let inserted = self.insert_row(&tx, "limit_rule", row).await;
        inserted.map_err(|error| error.or_taken(UniqueKey::LimitName, &rule.name))?;
        audit.commit(tx, AuditAction::Create, rule.audited(), json!({"after": rule.members()})).await?;
        Ok(rule)
    }

    /// Gives a limit other members; nothing happens if it has them already. Runs at work keep their slots also where fewer are left.
    ///
    /// # Errors
    /// `Missing`; `Changed`, if it is not at `expected_version` any more.
    pub async fn update(
        self,
        id: i64,
        draft: &LimitDraft,
        expected_version: Option<i64>,
        now: Millis,
        actor: &Actor,
    ) -> Result<LimitRule> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let old = self.lock(&tx, id).await?;
        if expected_version.is_some_and(|expected| expected != old.version) {
            return Err(Error::Changed(format!("the limit {:?} has version {} by now", old.name, old.version)));
        }
        let new = old.changed_to(draft, now);
        if new.members() == old.members() {
            return Ok(old);
        }
        let set = named![
            max_runs: new.max_runs,
            key_path: new.key_path.as_str(),
            all_jobs: new.all_jobs,
            description: new.description.as_str(),
            version: new.version,
            updated_at: now
        ];
        self.update_columns(&tx, "limit_rule", set, (" WHERE id = ?", values![id])).await?;
        let detail = difference(&old.members(), &new.members());
        audit.commit(tx, AuditAction::Update, new.audited(), detail).await?;
        Ok(new)
    }

    /// Deletes a limit with its slots.
    ///
    /// # Errors
    /// `Missing`; `InUse`, with the first of the jobs that name it.
    pub async fn delete(self, id: i64, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let old = self.lock(&tx, id).await?;
        let users = self.users_in(&tx, &old).await?;
        if !users.is_empty() {
            let first: Vec<String> = users.iter().take(5).map(|(id, name)| format!("{id} ({name})")).collect();
            let more = if users.len() > first.len() { " …" } else { "" };
            let (name, jobs) = (&old.name, first.join(", ") + more);
            let message = format!("the limit {name:?} is used by jobs: {jobs}");
            return Err(Error::InUse(message));
        }
        for text in ["DELETE FROM limit_slot WHERE limit_id = ?", "DELETE FROM limit_rule WHERE id = ?"] {
            self.execute(&tx, text, values![id]).await?;
        }
        audit.commit(tx, AuditAction::Delete, old.audited(), json!({"before": old.members()})).await
    }

    /// The limit, its row locked: nothing takes a slot of it meanwhile, and no job begins to use it.
    async fn lock(self, tx: &Transaction, id: i64) -> Result<LimitRule> {
        let missing = || Error::Missing(format!("limit {id}"));
        self.tuple::<i64>(tx, LOCK_RULE, values![id]).await?.ok_or_else(missing)?;
        let text = format!("SELECT {COLUMNS} FROM limit_rule WHERE id = ?");
        self.one(tx, &text, values![id]).await?.ok_or_else(missing)
    }
}
