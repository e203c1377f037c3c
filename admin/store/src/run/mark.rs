//! The second committed write: `claimed` → `sending`, before the first byte of a request; and the ways on from there.

use foldhash::HashSet;

use carillon_scheduler::Millis;
use sea_orm::ConnectionTrait;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{ListColumn, long, short, text};
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::views::RunStore;

/// A run and the executor that shall get it.
#[derive(Clone, Debug)]
pub struct MarkRequest<'a> {
    pub run_id: i64,
    pub epoch: i64,
    pub address: &'a str,
    pub boot_id: Option<&'a str>,
    /// Which journal the executor keeps, if it has announced one.
    pub journal_id: Option<&'a str>,
    /// The set of executors that it could have gone to.
    pub candidates_id: i64,
    /// The code of the route, or [`KEEP_ADDRESS`].
    pub route_code: i16,
    /// The revision of the definition that the run was routed with, and that its request will carry.
    pub revision: i64,
    /// The app that this definition names: a run may be older than its job's move to another app.
    pub app_id: i64,
}

/// The code of a run whose executor was given with its fire: no route has chosen it.
pub const KEEP_ADDRESS: i16 = -1;

/// In place of the boot id of an executor: the run is a request to a service, which no executor has. None may announce it.
pub const HTTP_REQUEST: &str = "http";

/// Whether a run with this boot id was sent to the service of an HTTP job.
pub(crate) fn is_http_request(boot_id: Option<&str>) -> bool {
    boot_id == Some(HTTP_REQUEST)
}

const LIST: &[ListColumn] = &[
    long("id"),
    long("epoch"),
    text("address", "VARCHAR(255)"),
    text("boot_id", "VARCHAR(64)").nullable(),
    long("candidates_id"),
    short("route_code"),
    long("revision"),
    long("app_id"),
    text("journal_id", "VARCHAR(64)").nullable(),
];

macro_rules! mark {
    ($($more:expr),*) => {
        Bulk::update_runs(
            LIST,
            &[
                ("state", "{state.sending}"),
                ("mark_token", ":token"),
                ("marked_at", ":now"),
                ("owner", ":node"),
                ("sends", "run.sends + 1"),
                ("address", "u.address"),
                ("boot_id", "u.boot_id"),
                ("candidates_id", "u.candidates_id"),
                ("route_code", "u.route_code"),
                ("revision", "u.revision"),
                ("app_id", "u.app_id"),
                ("journal_id", "u.journal_id"),
                $($more),*
            ],
            "{+run.state} = {state.claimed} AND run.epoch = u.epoch",
        )
    };
}

/// MariaDB would not use the primary key by itself: it reads a small table as a whole, and waits for every lock on its way.
pub(crate) static MARK: Bulk = mark!();

/// The same of runs that take slots of limits in its transaction: they do not wait for any any more.
pub(crate) static MARK_LIMITED: Bulk = mark!(("reason", "NULL"), ("follow", "run.follow | {follow.slots}"));

/// In the order of the list.
pub(crate) type MarkRow<'a> = (i64, i64, &'a str, Option<&'a str>, i64, i16, i64, i64, Option<&'a str>);

impl<'a> MarkRequest<'a> {
    pub(crate) fn row(&self) -> MarkRow<'a> {
        let (address, route) = (self.address, self.route_code);
        let (run, set) = (self.run_id, self.candidates_id);
        (run, self.epoch, address, self.boot_id, set, route, self.revision, self.app_id, self.journal_id)
    }
}

impl RunStore<'_> {
    /// Allows the sending of these runs and answers those that were won. `token` is new for each call: it distinguishes ours from
    /// another node's, and repairs an answer that was lost. After an error some may be marked all the same: `unmark` them.
    pub async fn mark<'a>(
        self,
        marks: &[MarkRequest<'a>],
        token: i64,
        node: &str,
        now: Millis,
    ) -> Result<HashSet<i64>> {
        let mut rows: Vec<_> = marks.iter().map(MarkRequest::row).collect();
        rows.sort_unstable();
        let values = named![token, now, node];
        let attempt = || self.bulk(&self.write, &MARK, &values, &rows);
        let mut done = retry::on_conflict(attempt).await;
        // Nothing is written, or the answer was lost. A repetition finds what the first try has marked no longer
        // `claimed`, and the token shows it as ours.
        if done.as_ref().is_err_and(Error::is_transient) {
            done = attempt().await;
        }
        let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
        match done? == ids.len() as u64 {
            true => Ok(ids.into_iter().collect()),
            // What carries the token is ours to send, the rest is untouched.
            false => self.marked_with(&self.write, &ids, token).await,
        }
    }

    pub(crate) async fn marked_with(self, db: &impl ConnectionTrait, ids: &[i64], token: i64) -> Result<HashSet<i64>> {
        let text = "SELECT id FROM run WHERE id IN ({ids}) AND mark_token = ? AND state = {state.sending}";
        Ok(self.tuples(db, text, values![self.ids(ids), token]).await?.into_iter().collect())
    }

    /// The next address of a run whose request could not be written to the one before. False: it is no longer ours, or its
    /// job was edited since the mark, so the executor was chosen by a definition that is not in force any more.
    pub async fn redirect_run(
        self,
        run_id: i64,
        token: i64,
        address: &str,
        boot_id: Option<&str>,
        journal_id: Option<&str>,
    ) -> Result<bool> {
        let text = "UPDATE run SET address = ?, boot_id = ?, journal_id = ? WHERE id = ? AND mark_token = ? AND state = {state.sending} \
                    AND EXISTS (SELECT 1 FROM job WHERE job.id = run.job_id AND job.revision = run.revision)";
        let values = values![address, boot_id, journal_id, run_id, token];
        Ok(self.execute(&self.write, text, values).await? == 1)
    }
}
