//! Another name for an app. The old name goes on as a former name: executors register under it until it is removed.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::{ConnectionTrait, FromQueryResult};
use serde_json::json;

use crate::app::apps::{App, COLUMNS};
use crate::audit::actor::Actor;
use crate::audit::entry::{AuditObject, difference};
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::views::AppStore;

/// A name that an app had.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct FormerName {
    pub name: String,
    pub app_id: i64,
    /// The name of the app now.
    pub app: String,
    /// When the app was given another one.
    pub created_at: Millis,
}

impl AppStore<'_> {
    /// The former names of all apps, by name. For the engine.
    pub async fn former_names(self) -> Result<Vec<FormerName>> {
        let text = "SELECT f.name, f.app_id, app.name AS app, f.created_at FROM app_alias AS f JOIN app ON app.id = f.app_id \
                    ORDER BY f.name";
        self.all(&self.engine_reads, text, vec![]).await
    }

    /// Sets the name and the title. Jobs, tokens and registrations stay with the app.
    ///
    /// # Errors
    /// `Missing`. `Taken`: another app has the name, or had it.
    pub async fn update(self, id: i64, name: &str, title: &str, now: Millis, actor: &Actor) -> Result<App> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!("SELECT {COLUMNS} FROM app WHERE id = ?{{for_update}}");
        let old: Option<App> = self.one(&tx, &text, values![id]).await?;
        let old = old.ok_or_else(|| Error::Missing(format!("app {id}")))?;
        let new = App { name: name.to_owned(), title: title.to_owned(), ..old.clone() };
        if old == new {
            return Ok(old);
        }
        if old.name != new.name {
            self.refuse_former_name(&tx, name, Some(id)).await?;
            self.execute(&tx, "DELETE FROM app_alias WHERE name = ?", values![name]).await?;
        }
        let renamed =
            self.execute(&tx, "UPDATE app SET name = ?, title = ? WHERE id = ?", values![name, title, id]).await;
        renamed.map_err(|error| error.or_taken(UniqueKey::AppName, name))?;
        if old.name != new.name {
            let row = named![name: old.name.as_str(), app_id: id, created_at: now];
            self.insert_row(&tx, "app_alias", row).await?;
            // Executors may have registered under the new name before it was one.
            let text = "DELETE FROM executor WHERE app = ? AND address IN \
                        (SELECT address FROM (SELECT address FROM executor WHERE app = ?) AS kept)";
            self.execute(&tx, text, values![name, old.name.as_str()]).await?;
            for table in ["executor", "executor_setting"] {
                let text = format!("UPDATE {table} SET app = ? WHERE app = ?");
                self.execute(&tx, &text, values![name, old.name.as_str()]).await?;
            }
        }
        let object = |app: &App| json!({"name": app.name, "title": app.title});
        let detail = difference(&object(&old), &object(&new));
        audit.commit(tx, AuditAction::Update, AuditObject::app(id), detail).await?;
        Ok(new)
    }

    /// From now on registrations under this name are those of no app. False: the app has no such former name.
    pub async fn remove_former_name(self, app: &App, name: &str, now: Millis, actor: &Actor) -> Result<bool> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "DELETE FROM app_alias WHERE name = ? AND app_id = ?";
        if self.execute(&tx, text, values![name, app.id]).await? == 0 {
            return Ok(false);
        }
        let detail = json!({"before": {"former_name": name}, "after": {}});
        audit.commit(tx, AuditAction::Update, AuditObject::app(app.id), detail).await?;
        Ok(true)
    }

    /// # Errors
    /// `Taken`: another app than this one had the name, and its executors may still register under it.
    pub(super) async fn refuse_former_name(
        self,
        tx: &impl ConnectionTrait,
        name: &str,
        app_id: Option<i64>,
    ) -> Result<()> {
        let owner: Option<i64> = self.tuple(tx, "SELECT app_id FROM app_alias WHERE name = ?", values![name]).await?;
        match owner.filter(|owner| Some(*owner) != app_id) {
            Some(_) => Err(Error::Taken(format!("{name} (a former name of another app)"))),
            None => Ok(()),
        }
    }
}
