//! Apps: groups of executors under one name.

use carillon_scheduler::Millis;
use sea_orm::{QueryResult, Value};
use serde_json::json;

use crate::audit::{Actor, AuditEntry};
use crate::db::ids;
use crate::db::row::Columns;
use crate::{Error, Result, Store};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    pub id: i64,
    /// What executors register under; unique.
    pub name: String,
    /// For people.
    pub title: String,
    pub created_at: Millis,
}

const COLUMNS: &str = "id, name, title, created_at";

impl Store {
    /// All apps, by name.
    pub async fn apps(&self) -> Result<Vec<App>> {
        let text = format!("SELECT {COLUMNS} FROM app ORDER BY name");
        self.all(&self.read, &text, vec![]).await?.iter().map(read).collect()
    }

    pub async fn app(&self, id: i64) -> Result<Option<App>> {
        self.app_where("id = ?", id.into()).await
    }

    pub async fn app_by_name(&self, name: &str) -> Result<Option<App>> {
        self.app_where("name = ?", name.into()).await
    }

    async fn app_where(&self, condition: &str, value: Value) -> Result<Option<App>> {
        let text = format!("SELECT {COLUMNS} FROM app WHERE {condition}");
        self.one(&self.read, &text, vec![value]).await?.map(|row| read(&row)).transpose()
    }

    /// A new app. The caller has checked `name` (`validate_app_name`) and `title` (at most 64 characters).
    ///
    /// # Errors
    /// `Taken`, if there is an app of this name.
    pub async fn create_app(&self, name: &str, title: &str, now: Millis, actor: &Actor) -> Result<App> {
        let ids = self.take_ids(&ids::ROW, 2).await?;
        let app = App { id: ids[0], name: name.to_owned(), title: title.to_owned(), created_at: now };
        let tx = self.begin_change().await?;
        let text = format!("INSERT INTO app ({COLUMNS}) VALUES (?, ?, ?, ?)");
        let values = vec![app.id.into(), name.into(), title.into(), now.into()];
        match self.execute(&tx, &text, values).await {
            Err(error) if error.is_unique_violation() => {
                return Err(Error::Taken(format!("the app name {name:?}")));
            }
            other => other?,
        };
        let detail = json!({"after": {"name": name, "title": title}});
        let entry = AuditEntry::new(actor, now, "create", ("app", app.id), detail);
        self.audit(&tx, &[entry], &ids[1..]).await?;
        tx.commit().await?;
        Ok(app)
    }
}

fn read(row: &QueryResult) -> Result<App> {
    let mut columns = Columns::of(row);
    Ok(App { id: columns.next()?, name: columns.next()?, title: columns.next()?, created_at: columns.next()? })
}
