//! The second committed write: `claimed` → `sending`, before the first byte of a request; and the ways on from there.

use std::borrow::Cow;
use std::collections::HashSet;

use carillon_scheduler::Millis;
use sea_orm::Value;

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::failpoint;
use crate::{Result, Store};

/// A run and the executor that shall get it.
#[derive(Clone, Debug)]
pub struct Mark<'a> {
    pub run_id: i64,
    pub epoch: i64,
    pub address: &'a str,
    pub boot_id: Option<&'a str>,
    /// Which journal the executor keeps, if it has announced one.
    pub journal_id: Option<&'a str>,
    /// The set of executors that it could have gone to.
    pub candidates_id: i64,
    /// Of the route, or [`GIVEN`].
    pub route_code: i16,
    /// Of the definition that the run was routed with, and that its request will carry.
    pub revision: i64,
    /// The app that this definition names: a run may be older than its job's move to another app.
    pub app_id: i64,
}

/// The code of a run whose executor was given with its fire: no route has chosen it.
pub const GIVEN: i16 = -1;

/// The state is hidden from the planner (`+ 0`), or it may walk the index of open runs instead of the primary key. MariaDB
/// has to be told to use that key: it reads a small table as a whole, and waits for every lock on its way.
pub(crate) const MARK: Text = Text {
    sqlite: "UPDATE run SET state = 1, mark_token = ?, marked_at = ?, owner = ?, sends = sends + 1, address = u.value->>2, boot_id = u.value->>3, \
             candidates_id = u.value->>4, route_code = u.value->>5, revision = u.value->>6, app_id = u.value->>7, journal_id = u.value->>8 \
             FROM json_each(?) AS u WHERE run.id = u.value->>0 AND +run.state = 0 AND run.epoch = u.value->>1",
    postgres: "UPDATE run SET state = 1, mark_token = ?, marked_at = ?, owner = ?, sends = sends + 1, address = u.a, boot_id = NULLIF(u.b, ''), \
               candidates_id = u.c, route_code = u.r, revision = u.v, app_id = u.p, journal_id = NULLIF(u.j, '') \
               FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::smallint[], ?::bigint[], ?::bigint[], ?::text[]) \
               AS u(id, epoch, a, b, c, r, v, p, j) \
               WHERE run.id = u.id AND run.state + 0 = 0 AND run.epoch = u.epoch",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]', a VARCHAR(255) PATH '$[2]', \
            b VARCHAR(64) PATH '$[3]', c BIGINT PATH '$[4]', r SMALLINT PATH '$[5]', v BIGINT PATH '$[6]', p BIGINT PATH '$[7]', \
            j VARCHAR(64) PATH '$[8]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.state = 1, run.mark_token = ?, run.marked_at = ?, run.owner = ?, run.sends = run.sends + 1, \
            run.address = u.a, run.boot_id = u.b, run.candidates_id = u.c, run.route_code = u.r, \
            run.revision = u.v, run.app_id = u.p, run.journal_id = u.j WHERE run.state = 0 AND run.epoch = u.epoch",
};

/// As if no state and no epoch were compared.
fn unguarded(text: &str) -> String {
    [" AND +run.state = 0", " AND run.state + 0 = 0", " AND run.epoch = u.epoch", " AND run.epoch = u.value->>1"]
        .iter()
        .fold(text.to_owned(), |text, guard| text.replace(guard, ""))
        .replace(" WHERE run.state = 0", "")
}

impl Store {
    /// Allows the sending of these runs and answers those that were won. `token` is new for each call: it tells ours from
    /// another node's, and repairs an answer that was lost. After an error some may be marked all the same: `unmark` them.
    pub async fn mark(&self, marks: &[Mark<'_>], token: i64, node: &str, now: Millis) -> Result<HashSet<i64>> {
        let mut marks: Vec<_> = marks.to_vec();
        marks.sort_unstable_by_key(|mark| mark.run_id);
        let head: [Value; 3] = [token.into(), now.into(), node.into()];
        let list = mark_list(self.backend, &marks);
        let values: Vec<Value> = match self.backend {
            sea_orm::DbBackend::MySql => list.into_iter().chain(head).collect(),
            _ => head.into_iter().chain(list).collect(),
        };
        let text = if failpoint::flag("redis_lock_only") {
            Cow::Owned(unguarded(MARK.of(self.backend)))
        } else {
            Cow::Borrowed(MARK.of(self.backend))
        };
        let mut tries = 0;
        loop {
            let done = self.execute(&self.write, &text, values.clone());
            match done.await {
                Ok(done) if done.rows_affected() == marks.len() as u64 => {
                    return Ok(marks.iter().map(|mark| mark.run_id).collect());
                }
                // What carries the token is ours to send, the rest is untouched.
                Ok(_) => return self.marked_with(&marks, token).await,
                // Nothing is written, or the answer was lost. A repetition finds what the first try has marked no longer
                // `claimed`, and the token shows it as ours.
                Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                Err(error) if error.is_transient() && tries < 1 => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    async fn marked_with(&self, marks: &[Mark<'_>], token: i64) -> Result<HashSet<i64>> {
        let ids: Vec<i64> = marks.iter().map(|mark| mark.run_id).collect();
        let (list, value) = dialect::id_list(self.backend, &ids);
        let text = format!("SELECT id FROM run WHERE id IN ({list}) AND mark_token = ? AND state = 1");
        let rows = self.all(&self.write, &text, vec![value, token.into()]).await?;
        rows.iter().map(|row| Ok(row.try_get_by_index(0)?)).collect()
    }

    /// The next address of a run whose request could not be written to the one before. False: it is no longer ours, or its
    /// job was edited since the mark, so the executor was chosen by a definition that is not in force any more.
    pub async fn redirect(
        &self,
        run_id: i64,
        token: i64,
        address: &str,
        boot_id: Option<&str>,
        journal_id: Option<&str>,
    ) -> Result<bool> {
        let text = "UPDATE run SET address = ?, boot_id = ?, journal_id = ? WHERE id = ? AND mark_token = ? AND state = 1 \
                    AND EXISTS (SELECT 1 FROM job WHERE job.id = run.job_id AND job.revision = run.revision)";
        let values = vec![
            address.into(),
            boot_id.map(str::to_owned).into(),
            journal_id.map(str::to_owned).into(),
            run_id.into(),
            token.into(),
        ];
        Ok(self.execute(&self.write, text, values).await?.rows_affected() == 1)
    }
}

fn mark_list(backend: sea_orm::DbBackend, marks: &[Mark<'_>]) -> Vec<Value> {
    fn column<T>(marks: &[Mark<'_>], of: impl Fn(&Mark<'_>) -> T) -> Value
    where
        Vec<T>: Into<Value>,
    {
        marks.iter().map(of).collect::<Vec<T>>().into()
    }
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    if backend == sea_orm::DbBackend::Postgres {
        return vec![
            column(marks, |mark| mark.run_id),
            column(marks, |mark| mark.epoch),
            column(marks, |mark| mark.address.to_owned()),
            column(marks, |mark| text(mark.boot_id)),
            column(marks, |mark| mark.candidates_id),
            column(marks, |mark| mark.route_code),
            column(marks, |mark| mark.revision),
            column(marks, |mark| mark.app_id),
            column(marks, |mark| text(mark.journal_id)),
        ];
    }
    let rows: Vec<_> = marks
        .iter()
        .map(|mark| {
            let Mark { run_id, epoch, address, boot_id, journal_id, candidates_id, route_code, revision, app_id } =
                *mark;
            (run_id, epoch, address, boot_id, candidates_id, route_code, revision, app_id, journal_id)
        })
        .collect();
    vec![serde_json::to_string(&rows).unwrap_or_default().into()]
}
