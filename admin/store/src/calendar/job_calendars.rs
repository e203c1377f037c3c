//! Which versions of calendars a job's revision is planned with. They are pinned by each write of the job, so that a plan
//! depends on the revision alone; when a calendar changes, every job that uses it is written again.

use std::sync::Arc;

use carillon_scheduler::{Calendar, FieldError, Millis};
use foldhash::{HashMap, HashMapExt as _};
use sea_orm::{ConnectionTrait, Value};

use crate::audit::actor::Actor;
use crate::calendar::pinned::{Calendars, VersionKey};
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::Conditions;
use crate::error::{Error, Result};
use crate::job::stored_job::Job;
use crate::views::CalendarStore;

/// In place of one that was changed by hand into something unreadable. No job names it, so those that name the other cannot be planned, and
/// say so; all others can.
fn unreadable() -> Arc<Calendar> {
    Arc::new(Calendar {
        name: String::new(),
        title: String::new(),
        weekdays: Default::default(),
        days: Default::default(),
        extra: Default::default(),
    })
}

const WRITTEN: &str = "job_id, calendar_id, version";

impl CalendarStore<'_> {
    /// The calendars of these names as they are now; those that do not exist are left out.
    pub async fn named(self, names: &[String]) -> Result<Calendars> {
        let mut conditions = Conditions::default();
        conditions.among("name", names.iter().map(String::as_str));
        if names.is_empty() {
            return Ok(Calendars::default());
        }
        let (filter, values) = conditions.finish();
        let text = format!("SELECT id, version FROM calendar{filter} ORDER BY id");
        self.calendars_at(&self.read, &text, values).await
    }

    async fn calendars_at(self, db: &impl ConnectionTrait, keys: &str, values: Vec<Value>) -> Result<Calendars> {
        let mut found = Calendars::default();
        for key in self.tuples(db, keys, values).await? {
            found.push(key, self.calendar_version(db, key).await?);
        }
        Ok(found)
    }

    /// The calendars of each of these jobs, in the versions that their revisions use. Jobs without any are left out.
    pub(crate) async fn calendars_of(
        self,
        db: &impl ConnectionTrait,
        job_ids: &[i64],
    ) -> Result<HashMap<i64, Calendars>> {
        let mut found: HashMap<i64, Calendars> = HashMap::new();
        if job_ids.is_empty() {
            return Ok(found);
        }
        let text = format!("SELECT {WRITTEN} FROM job_calendar WHERE job_id IN ({{ids}}) ORDER BY job_id, calendar_id");
        for (job_id, id, version) in self.tuples(db, &text, values![self.ids(job_ids)]).await? {
            let key = (id, version);
            let calendar = self.calendar_version(db, key).await?;
            found.entry(job_id).or_default().push(key, calendar);
        }
        Ok(found)
    }

    pub(crate) async fn calendar_version(self, db: &impl ConnectionTrait, key: VersionKey) -> Result<Arc<Calendar>> {
        if let Some(known) = self.calendars.get(key) {
            return Ok(known);
        }
        let text = "SELECT definition FROM calendar_version WHERE calendar_id = ? AND version = ?";
        let text: Option<String> = self.tuple(db, text, values![key.0, key.1]).await?;
        let calendar = text.and_then(|text| serde_json::from_str(&text).ok());
        let calendar = calendar.map_or_else(unreadable, Arc::new);
        self.calendars.keep(key, &calendar);
        Ok(calendar)
    }

    /// Holds these calendars until the end of the transaction: none of them can be deleted meanwhile.
    async fn hold_calendars(self, tx: &Transaction, keys: impl Iterator<Item = VersionKey>) -> Result<()> {
        let mut ids: Vec<i64> = keys.map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let mut conditions = Conditions::default();
        let wanted = ids.len();
        conditions.among("id", ids);
        let (filter, values) = conditions.finish();
        let text = format!("SELECT id FROM calendar{filter} ORDER BY id{{for_update}}");
        if self.tuples::<i64>(tx, &text, values).await?.len() < wanted {
            let message = "a calendar that it names has just been deleted";
            return Err(Error::Invalid(FieldError::new("schedule.calendars", message)));
        }
        Ok(())
    }

    /// Writes which versions new jobs use.
    pub(crate) async fn insert_calendars(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        let keys = jobs.iter().flat_map(|job| job.calendars.keys.iter().copied());
        self.hold_calendars(tx, keys).await?;
        let rows: Vec<Vec<Value>> = jobs
            .iter()
            .flat_map(|job| job.calendars.keys.iter().map(|key| (job.id, key)))
            .map(|(job_id, (id, version))| values![job_id, *id, *version])
            .collect();
        self.insert_rows(tx, "job_calendar", WRITTEN, rows).await
    }

    /// The same for a job that used others, or none.
    pub(crate) async fn write_calendars(self, tx: &Transaction, old: &Job, new: &Job) -> Result<()> {
        if old.calendars.keys == new.calendars.keys {
            return Ok(());
        }
        self.drop_calendars(tx, old).await?;
        self.insert_calendars(tx, std::slice::from_ref(new)).await
    }

    pub(crate) async fn drop_calendars(self, tx: &Transaction, old: &Job) -> Result<()> {
        if !old.calendars.keys.is_empty() {
            let text = "DELETE FROM job_calendar WHERE job_id = ?";
            self.execute(tx, text, values![old.id]).await?;
        }
        Ok(())
    }

    /// The calendars of a job as they are now; None: it uses just those.
    pub(crate) async fn newer_calendars(self, tx: &Transaction, job: &Job) -> Result<Option<Calendars>> {
        if job.calendars.keys.is_empty() {
            return Ok(None);
        }
        let mut conditions = Conditions::default();
        conditions.among("id", job.calendars.keys.iter().map(|(id, _)| *id));
        let (filter, values) = conditions.finish();
        let text = format!("SELECT id, version FROM calendar{filter} ORDER BY id{{for_update}}");
        let present = self.calendars_at(tx, &text, values).await?;
        Ok((present.keys != job.calendars.keys).then_some(present))
    }

    /// The version of each calendar.
    pub async fn calendar_versions_now(self) -> Result<Vec<VersionKey>> {
        let text = "SELECT id, version FROM calendar ORDER BY id";
        self.tuples(&self.engine_reads, text, vec![]).await
    }

    /// Up to `limit` jobs above `after` that are planned with a version of a calendar that is not its newest.
    pub async fn jobs_behind_calendars(self, after: i64, limit: u32) -> Result<Vec<i64>> {
        let text = "SELECT DISTINCT u.job_id FROM calendar c JOIN job_calendar u ON u.calendar_id = c.id \
                    WHERE u.version <> c.version AND u.job_id > ? ORDER BY u.job_id LIMIT ?";
        let values = values![after, i64::from(limit)];
        self.tuples(&self.engine_reads, text, values).await
    }

    /// Plans a job again with the newest versions of its calendars, by the transaction of an edit that changes nothing
    /// else: runs ahead are replaced, the revision grows. Nothing happens if it uses them already.
    ///
    /// # Errors
    /// `Missing`.
    pub async fn follow_calendars(self, job_id: i64, now: Millis, actor: &Actor) -> Result<Job> {
        self.jobs().change_for_calendars(job_id, now, actor).await
    }
}
