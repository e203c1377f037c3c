//! Apps: groups of executors under one name.

use foldhash::HashMap;

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::Value;
use serde_json::json;

use crate::app::declared::words::DeclarationSetting;
use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::sql::rows::WordOrDefault;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::people::grants::VisibleApps;
use crate::views::AppStore;

row_struct! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct App {
        pub id: i64,
        /// What executors register under; unique.
        pub name: String,
        /// For people.
        pub title: String,
        pub created_at: Millis,
        /// The token of all apps is not accepted from its executors, and not sent to them.
        pub own_tokens_only: bool,
        /// Its executors that announce nothing, as those in Java, run scripts of every type.
        pub runs_scripts: bool,
        /// The turns of its runs where runs of several apps wait for a limit; 1 unless set.
        pub weight: i32,
        /// What becomes of the jobs that its programs declare.
        pub declarations: DeclarationSetting as WordOrDefault,
    }
}

impl App {
    /// One that nothing is set of.
    pub fn new(id: i64, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            title: String::new(),
            created_at: 0,
            own_tokens_only: false,
            runs_scripts: false,
            weight: 1,
            declarations: DeclarationSetting::default(),
        }
    }
}

pub(in crate::app) const COLUMNS: &str =
    "id, name, title, created_at, own_tokens_only, runs_scripts, weight, declarations";

impl AppStore<'_> {
    /// The visible apps, by name.
    pub async fn list(self, visible: &VisibleApps) -> Result<Vec<App>> {
        let text = format!("SELECT {COLUMNS} FROM app WHERE {} ORDER BY name", visible.condition("id"));
        self.all(&self.read, &text, vec![]).await
    }

    /// By their ids.
    pub async fn names(self) -> Result<HashMap<i64, String>> {
        Ok(self.tuples(&self.engine_reads, "SELECT id, name FROM app", vec![]).await?.into_iter().collect())
    }

    pub async fn get(self, id: i64) -> Result<Option<App>> {
        self.app_where("id = ?", id.into()).await
    }

    pub async fn by_name(self, name: &str) -> Result<Option<App>> {
        self.app_where("name = ?", name.into()).await
    }

    async fn app_where(self, condition: &str, value: Value) -> Result<Option<App>> {
        let text = format!("SELECT {COLUMNS} FROM app WHERE {condition}");
        self.one(&self.read, &text, vec![value]).await
    }

    /// A new app. It accepts its own tokens alone if any app has one: where teams have tokens of their own, the one of all apps opens no
    /// new app. The caller has checked `name` (`validate_app_name`) and `title` (at most 64 characters).
    ///
    /// # Errors
    /// `Taken`, if there is an app of this name, or one that had it.
    pub async fn create(self, name: &str, title: &str, now: Millis, actor: &Actor) -> Result<App> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        self.refuse_former_name(&tx, name, None).await?;
        let any: Option<i64> = self.tuple(&tx, "SELECT id FROM executor_token LIMIT 1", vec![]).await?;
        let own_tokens_only = any.is_some();
        let app = App { title: title.to_owned(), created_at: now, own_tokens_only, ..App::new(id, name) };
        let row = named![id, name, title, created_at: now, own_tokens_only];
        let inserted = self.insert_row(&tx, "app", row).await;
        inserted.map_err(|error| error.or_taken(UniqueKey::AppName, name))?;
        let mut detail = json!({"after": {"name": name, "title": title}});
        if own_tokens_only {
            detail["after"]["own_tokens_only"] = true.into();
        }
        audit.commit(tx, AuditAction::Create, AuditObject::app(app.id), detail).await?;
        Ok(app)
    }

    /// Sets whether the app's executors that announce nothing run scripts.
    ///
    /// # Errors
    /// `Missing`
    pub async fn set_runs_scripts(self, id: i64, runs_scripts: bool, now: Millis, actor: &Actor) -> Result<App> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!("SELECT {COLUMNS} FROM app WHERE id = ?{{for_update}}");
        let old: Option<App> = self.one(&tx, &text, values![id]).await?;
        let old = old.ok_or_else(|| Error::Missing(format!("app {id}")))?;
        if old.runs_scripts == runs_scripts {
            return Ok(old);
        }
        self.execute(&tx, "UPDATE app SET runs_scripts = ? WHERE id = ?", values![runs_scripts, id]).await?;
        let detail = json!({"before": {"runs_scripts": old.runs_scripts}, "after": {"runs_scripts": runs_scripts}});
        audit.commit(tx, AuditAction::Update, AuditObject::app(id), detail).await?;
        Ok(App { runs_scripts, ..old })
    }

    /// Sets the turns of the app's runs where runs of several apps wait for a limit.
    ///
    /// # Errors
    /// `Missing`
    pub async fn set_weight(self, id: i64, weight: i32, now: Millis, actor: &Actor) -> Result<App> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!("SELECT {COLUMNS} FROM app WHERE id = ?{{for_update}}");
        let old: Option<App> = self.one(&tx, &text, values![id]).await?;
        let old = old.ok_or_else(|| Error::Missing(format!("app {id}")))?;
        if old.weight == weight {
            return Ok(old);
        }
        self.execute(&tx, "UPDATE app SET weight = ? WHERE id = ?", values![weight, id]).await?;
        let detail = json!({"before": {"weight": old.weight}, "after": {"weight": weight}});
        audit.commit(tx, AuditAction::Update, AuditObject::app(id), detail).await?;
        Ok(App { weight, ..old })
    }

    /// The names of the apps whose executors that announce nothing run scripts. For the engine.
    pub async fn that_run_scripts(self) -> Result<Vec<String>> {
        self.tuples(&self.engine_reads, "SELECT name FROM app WHERE runs_scripts = TRUE", vec![]).await
    }

    /// The weights of apps that have another than 1. For the engine.
    pub async fn weights(self) -> Result<Vec<(i64, i32)>> {
        self.tuples(&self.engine_reads, "SELECT id, weight FROM app WHERE weight <> 1", vec![]).await
    }

    /// The app that a job belongs to.
    pub async fn app_of_job(self, job_id: i64) -> Result<Option<i64>> {
        self.tuple(&self.read, "SELECT app_id FROM job WHERE id = ?", values![job_id]).await
    }

    /// A run keeps its app when its job is deleted. The number of a delayed trigger stands for its run.
    pub async fn app_of_run(self, run_id: i64) -> Result<Option<i64>> {
        let text = "SELECT app_id FROM run WHERE id = ?";
        match self.tuple(&self.read, text, values![run_id]).await? {
            None => self.delayed().app_of(run_id).await,
            found => Ok(found),
        }
    }

    pub async fn app_of_backfill(self, id: i64) -> Result<Option<i64>> {
        let text = "SELECT j.app_id FROM backfill b JOIN job j ON j.id = b.job_id WHERE b.id = ?";
        self.tuple(&self.read, text, values![id]).await
    }
}
