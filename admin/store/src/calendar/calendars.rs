//! Calendars: named, in versions that are never changed. Which version a job uses is in `pinned`.

use std::sync::Arc;

use carillon_scheduler::{AuditAction, AuditObjectKind, Calendar, Millis};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditObject, difference};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::{Conditions, Page};
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::views::CalendarStore;

row_struct! {
    /// A calendar as it is now.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NamedCalendar {
        pub id: i64,
        /// 1, 2 …: grows with each change.
        pub version: i64,
        pub calendar: Arc<Calendar> as Parsed,
        /// How many jobs use it.
        pub jobs: i64,
        pub created_at: Millis,
        pub updated_at: Millis,
    }
}

row_struct! {
    /// One version of a calendar.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CalendarVersion {
        pub version: i64,
        pub calendar: Arc<Calendar> as Parsed,
        pub created_at: Millis,
        pub actor: String,
    }
}

const COLUMNS: &str = "c.id, c.version, c.created_at, c.updated_at, v.definition AS calendar, \
     (SELECT COUNT(*) FROM job_calendar u WHERE u.calendar_id = c.id) AS jobs \
     FROM calendar c JOIN calendar_version v ON v.calendar_id = c.id AND v.version = c.version";

fn audited(id: i64) -> AuditObject {
    AuditObject::new(AuditObjectKind::Calendar, id)
}

impl CalendarStore<'_> {
    /// Calendars by name, from the one after `after` on.
    pub async fn list(self, after: Option<&str>, limit: u32) -> Result<Page<NamedCalendar, String>> {
        let mut conditions = Conditions::default();
        conditions.add_if("c.name > ?", after);
        let (filter, values) = conditions.finish_page(limit);
        let text = format!("SELECT {COLUMNS}{filter} ORDER BY c.name LIMIT ?");
        let found = self.all(&self.read, &text, values).await?;
        Ok(Page::cut(found, limit, |it: &NamedCalendar| it.calendar.name.clone()))
    }

    /// The names of all calendars, in order.
    pub async fn names(self) -> Result<Vec<String>> {
        let text = "SELECT name FROM calendar ORDER BY name";
        self.tuples(&self.read, text, vec![]).await
    }

    pub async fn get(self, name: &str) -> Result<Option<NamedCalendar>> {
        let text = format!("SELECT {COLUMNS} WHERE c.name = ?");
        self.one(&self.read, &text, values![name]).await
    }

    /// The versions of a calendar, newest first.
    pub async fn versions(self, calendar_id: i64, before: Option<i64>, limit: u32) -> Result<Page<CalendarVersion>> {
        let mut conditions = Conditions::default();
        conditions.add("calendar_id = ?", [calendar_id.into()]);
        conditions.add_if("version < ?", before);
        let (filter, values) = conditions.finish_page(limit);
        let text = format!(
            "SELECT version, definition AS calendar, created_at, actor FROM calendar_version{filter} ORDER BY version DESC LIMIT ?"
        );
        let found = self.all(&self.read, &text, values).await?;
        Ok(Page::cut(found, limit, |it: &CalendarVersion| it.version))
    }

    /// A new calendar, which the caller has checked.
    ///
    /// # Errors
    /// `Taken`, if there is one of this name.
    pub async fn create(self, calendar: &Calendar, now: Millis, actor: &Actor) -> Result<NamedCalendar> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let name = calendar.name.as_str();
        let row = named![id, name, version: 1i64, created_at: now, updated_at: now];
        let inserted = self.insert_row(&tx, "calendar", row).await;
        inserted.map_err(|error| error.or_taken(UniqueKey::CalendarName, name))?;
        let made = NamedCalendar {
            id,
            version: 1,
            calendar: Arc::new(calendar.clone()),
            jobs: 0,
            created_at: now,
            updated_at: now,
        };
        self.add_version(&tx, &made, actor).await?;
        let detail = json!({"after": calendar});
        audit.commit(tx, AuditAction::Create, audited(made.id), detail).await?;
        Ok(made)
    }

    /// Gives a calendar another version; nothing happens if it says the same already. The jobs that use it are behind
    /// from then on, until [`CalendarStore::follow_calendars`] is called for each of them.
    ///
    /// # Errors
    /// `Missing`; `Changed`, if it is not at `expected_version` any more.
    pub async fn update(
        self,
        calendar: &Calendar,
        expected_version: Option<i64>,
        now: Millis,
        actor: &Actor,
    ) -> Result<NamedCalendar> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let old = self.lock_calendar(&tx, &calendar.name).await?;
        if expected_version.is_some_and(|expected| expected != old.version) {
            let name = &calendar.name;
            let message = format!("the calendar {name:?} has version {} by now", old.version);
            return Err(Error::Changed(message));
        }
        if *old.calendar == *calendar {
            return Ok(old);
        }
        let new = NamedCalendar {
            version: old.version + 1,
            calendar: Arc::new(calendar.clone()),
            updated_at: now,
            ..old.clone()
        };
        let text = "UPDATE calendar SET version = ?, updated_at = ? WHERE id = ?";
        let values = values![new.version, now, new.id];
        self.execute(&tx, text, values).await?;
        self.add_version(&tx, &new, actor).await?;
        let detail = difference(&json!(*old.calendar), &json!(calendar));
        audit.commit(tx, AuditAction::Update, audited(new.id), detail).await?;
        Ok(new)
    }

    /// Deletes a calendar with its versions.
    ///
    /// # Errors
    /// `Missing`; `InUse`, with the first of the jobs that use it.
    pub async fn delete(self, name: &str, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let old = self.lock_calendar(&tx, name).await?;
        if old.jobs > 0 {
            let users = self.calendar_users(&tx, old.id).await?;
            return Err(Error::InUse(in_use(&old, &users)));
        }
        for text in ["DELETE FROM calendar_version WHERE calendar_id = ?", "DELETE FROM calendar WHERE id = ?"] {
            self.execute(&tx, text, values![old.id]).await?;
        }
        let detail = json!({"before": *old.calendar});
        audit.commit(tx, AuditAction::Delete, audited(old.id), detail).await
    }

    /// The calendar, its row locked: a change that uses it waits.
    async fn lock_calendar(self, tx: &Transaction, name: &str) -> Result<NamedCalendar> {
        let missing = || Error::Missing(format!("the calendar {name:?}"));
        let lock = "SELECT id FROM calendar WHERE name = ?{for_update}";
        self.tuple::<i64>(tx, lock, values![name]).await?.ok_or_else(missing)?;
        let text = format!("SELECT {COLUMNS} WHERE c.name = ?");
        self.one(tx, &text, values![name]).await?.ok_or_else(missing)
    }

    async fn add_version(self, tx: &Transaction, new: &NamedCalendar, actor: &Actor) -> Result<()> {
        let actor: String = actor.name.chars().take(64).collect();
        let definition = json!(*new.calendar).to_string();
        let row = named![calendar_id: new.id, version: new.version, definition, created_at: new.updated_at, actor];
        self.insert_row(tx, "calendar_version", row).await
    }

    /// Ids and names of the first jobs that use a calendar.
    async fn calendar_users(self, tx: &Transaction, calendar_id: i64) -> Result<Vec<(i64, String)>> {
        let text = "SELECT j.id, j.name FROM job_calendar u JOIN job j ON j.id = u.job_id \
                    WHERE u.calendar_id = ? ORDER BY j.id LIMIT 5";
        self.tuples(tx, text, values![calendar_id]).await
    }
}

fn in_use(calendar: &NamedCalendar, users: &[(i64, String)]) -> String {
    let named: Vec<String> = users.iter().map(|(id, name)| format!("{id} ({name})")).collect();
    let more = if calendar.jobs > users.len() as i64 { " …" } else { "" };
    let plural = if calendar.jobs == 1 { "" } else { "s" };
    format!(
        "the calendar {:?} is used by {} job{plural}: {}{more}",
        calendar.calendar.name,
        calendar.jobs,
        named.join(", ")
    )
}

/// A calendar from its text.
pub(crate) struct Parsed(pub Arc<Calendar>);

impl TryGetable for Parsed {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> std::result::Result<Self, TryGetError> {
        let text = String::try_get_by(row, index)?;
        let parsed = serde_json::from_str(&text).map(|calendar| Self(Arc::new(calendar)));
        parsed.map_err(|error| DbErr::Type(format!("a calendar: {error}")).into())
    }
}
