//! Runs that their executors have: those whose executor is gone or new, that are over their time, or that are being killed.

use carillon_scheduler::Millis;

use crate::db::row::Columns;
use crate::{Result, Store};

/// A run in `running` that needs a look.
#[derive(Clone, Debug)]
pub struct Watched {
    pub run_id: i64,
    pub job_id: i64,
    /// None: the app is gone.
    pub app: Option<String>,
    pub address: Option<String>,
    /// Of the process that it was sent to.
    pub boot_id: Option<String>,
    /// The wire's `logDateTime`.
    pub due_at: Millis,
    pub sent_at: Millis,
    /// 0: none.
    pub timeout_ms: i64,
    /// What is registered at its address; None: nothing.
    pub registered: Option<Registered>,
}

/// The registration at a run's address.
#[derive(Clone, Debug)]
pub struct Registered {
    pub expires_at: Millis,
    pub boot_id: Option<String>,
    /// Since when it is there without a break.
    pub registered_at: Millis,
}

impl Watched {
    /// Its address has another process by now.
    pub fn has_restarted(&self) -> bool {
        let now = self.registered.as_ref().and_then(|it| it.boot_id.as_ref());
        match (&self.boot_id, now) {
            (Some(then), Some(now)) => then != now,
            _ => false,
        }
    }

    /// When its time is over, if it has a limit.
    pub fn ends_by(&self) -> Option<Millis> {
        (self.timeout_ms > 0).then_some(self.sent_at + self.timeout_ms)
    }
}

/// How far one look goes; the next one begins behind it.
const PAGE: i64 = 500;

/// What a look at a shard asks for.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub shard: i32,
    /// Executors whose lease was over by then.
    pub silent_since: Millis,
    /// Runs whose time was over by then.
    pub over_since: Millis,
}

pub(crate) const COLUMNS: &str = "run.id, run.job_id, app.name, run.address, run.boot_id, run.due_at, COALESCE(run.sent_at, run.marked_at), \
     COALESCE(job.timeout_seconds, 0), e.expires_at, e.boot_id, COALESCE(e.registered_at, 0)";
pub(crate) const NEIGHBOURS: &str = "LEFT JOIN app ON app.id = run.app_id LEFT JOIN job ON job.id = run.job_id \
     LEFT JOIN executor e ON e.app = app.name AND e.address = run.address";

pub(crate) const AGREED: &str =
    "SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_agreed_at < ? ORDER BY id LIMIT 500";

pub(crate) const NOT_AGREED: &str = "SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_asked_at < ? \
     AND kill_agreed_at IS NULL ORDER BY id LIMIT 500";

impl Store {
    /// Runs of a shard that need a look, by id, behind `after`; None: there are no more behind them.
    pub async fn watched(&self, look: Look, after: i64) -> Result<(Vec<Watched>, Option<i64>)> {
        let text = format!(
            "SELECT {COLUMNS} FROM run {NEIGHBOURS} WHERE run.shard = ? AND run.state = 2 AND run.state < 9 AND run.id > ? \
             AND (e.expires_at IS NULL OR e.expires_at < ? OR e.boot_id <> run.boot_id \
             OR (job.timeout_seconds > 0 AND COALESCE(run.sent_at, run.marked_at) + job.timeout_seconds * 1000 < ?)) \
             ORDER BY run.id LIMIT ?"
        );
        let values =
            vec![look.shard.into(), after.into(), look.silent_since.into(), look.over_since.into(), PAGE.into()];
        let rows = self.all(self.hot_reads(), &text, values).await?;
        let found: Vec<Watched> = rows.iter().map(|row| read(&mut Columns::of(row))).collect::<Result<_>>()?;
        let next = found.last().map(|run| run.run_id);
        let full = found.len() as i64 == PAGE;
        Ok((found, next.filter(|_| full)))
    }

    /// Runs of any shard that another process at this address has taken.
    pub async fn of_earlier_boots(&self, address: &str, boot_id: &str) -> Result<Vec<Watched>> {
        let text = format!(
            "SELECT {COLUMNS} FROM shard_lease JOIN run ON run.shard = shard_lease.shard AND run.state = 2 AND run.state < 9 {NEIGHBOURS} \
             WHERE run.address = ? AND run.boot_id <> ? ORDER BY run.id"
        );
        let values = vec![address.into(), boot_id.into()];
        let rows = self.all(self.hot_reads(), &text, values).await?;
        rows.iter().map(|row| read(&mut Columns::of(row))).collect()
    }

    /// The process that has a run after all: it was started between the choice and the request.
    pub async fn note_boot(&self, run_id: i64, boot_id: &str) -> Result<()> {
        let text = "UPDATE run SET boot_id = ? WHERE id = ? AND state IN (1, 2)";
        self.execute(&self.write, text, vec![boot_id.into(), run_id.into()]).await?;
        Ok(())
    }

    /// When the last other run of the same job ended at the same address, of those that were there at the same time: a
    /// run may have waited behind it. Looks at the runs that were made shortly before.
    pub async fn last_end_beside(&self, run: &Watched) -> Result<Option<Millis>> {
        let text = "SELECT MAX(finished_at) FROM run WHERE id > ? AND id < ? AND job_id = ? AND address = ? AND finished_at > ? AND state > 8";
        let values = vec![
            (run.run_id - 20_000).into(),
            run.run_id.into(),
            run.job_id.into(),
            run.address.clone().into(),
            run.sent_at.into(),
        ];
        let row = self.one(self.hot_reads(), text, values).await?;
        Ok(row.map(|row| row.try_get_by_index(0)).transpose()?.flatten())
    }

    /// The executor has said yes to a kill.
    pub async fn note_kill_agreed(&self, run_id: i64, now: Millis) -> Result<()> {
        let text = "UPDATE run SET kill_agreed_at = ? WHERE id = ? AND kill_asked_at IS NOT NULL AND state IN (1, 2)";
        self.execute(&self.write, text, vec![now.into(), run_id.into()]).await?;
        Ok(())
    }

    /// Runs whose executor agreed to a kill before `agreed_before` and whose end has not been reported.
    pub async fn unconfirmed_kills(&self, shard: i32, agreed_before: Millis) -> Result<Vec<i64>> {
        self.ids(AGREED, shard, agreed_before).await
    }

    /// Runs whose end was wished for before `asked_before` and whose executor was not asked, or did not answer.
    pub async fn unasked_kills(&self, shard: i32, asked_before: Millis) -> Result<Vec<i64>> {
        self.ids(NOT_AGREED, shard, asked_before).await
    }

    async fn ids(&self, text: &str, shard: i32, before: Millis) -> Result<Vec<i64>> {
        let values = vec![shard.into(), before.into()];
        self.ids_of(self.hot_reads(), text, values).await
    }
}

/// The columns of [`COLUMNS`].
pub(crate) fn read(columns: &mut Columns<'_>) -> Result<Watched> {
    let run_id = columns.next()?;
    let job_id = columns.next()?;
    let (app, address, boot_id) = (columns.next()?, columns.next()?, columns.next()?);
    let due_at = columns.next()?;
    let sent_at: Option<Millis> = columns.next()?;
    let timeout: i32 = columns.next()?;
    let expires_at: Option<Millis> = columns.next()?;
    let registered_boot = columns.next()?;
    let registered_at = columns.next()?;
    Ok(Watched {
        run_id,
        job_id,
        app,
        address,
        boot_id,
        due_at,
        sent_at: sent_at.unwrap_or(due_at),
        timeout_ms: i64::from(timeout) * 1000,
        registered: expires_at.map(|expires_at| Registered { expires_at, boot_id: registered_boot, registered_at }),
    })
}
