//! A broadcast becomes one part for each of its executors.

use std::iter::once;

use carillon_scheduler::Cause;
use sea_orm::{DbBackend, Value};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::run::adopt::Waiting;
use crate::run::lock::Held;
use crate::{Result, Store};

/// All parts but the first, which is the run itself; what is the same in all of them comes from its row.
pub(crate) const ADD_PARTS: Text = Text {
    sqlite: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, chained, parent) \
             SELECT u.value->>0, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.value->>1, run.parts, run.attempt, run.scheduled_at, run.due_at, \
             0, run.epoch, ?, 0, u.value->>2, run.chained, run.parent FROM json_each(?) AS u CROSS JOIN run ON run.id = ?",
    postgres: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, chained, parent) \
               SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.part, run.parts, run.attempt, run.scheduled_at, run.due_at, \
               0, run.epoch, ?, 0, u.a, run.chained, run.parent FROM unnest(?::bigint[], ?::int[], ?::text[]) AS u(id, part, a) JOIN run ON run.id = ?",
    mysql: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, chained, parent) \
            SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.part, run.parts, run.attempt, run.scheduled_at, run.due_at, \
            0, run.epoch, ?, 0, u.a, run.chained, run.parent FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', part INT PATH '$[1]', \
            a VARCHAR(255) PATH '$[2]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = ?",
};

impl Store {
    /// Fixes the executors of a broadcast: part 0 is bound to the first address, a part is added for each other one. As many
    /// statements for two executors as for a thousand. Empty: the run is no longer ours to expand.
    pub async fn expand(&self, run: &Waiting, addresses: &[String], node: &str) -> Result<Vec<Waiting>> {
        let Some((first, others)) = addresses.split_first() else {
            return Ok(vec![]);
        };
        let ids = self.take_ids(&crate::db::ids::RUN, others.len()).await?;
        let parts = addresses.len() as i32;
        let tx = self.begin().await?;
        // An edit that cancels what waits of this job would not see parts that are added beside it.
        self.lock_jobs(&tx, [run.job_id], Held::Wait).await?;
        let text = "UPDATE run SET parts = ?, address = ? WHERE id = ? AND state = 0 AND epoch = ? AND address IS NULL";
        let values = vec![parts.into(), first.as_str().into(), run.run_id.into(), run.epoch.into()];
        if self.execute(&tx, text, values).await?.rows_affected() == 0 {
            return Ok(vec![]);
        }
        if !others.is_empty() {
            let values = once(node.into()).chain(part_list(self.backend, &ids, others)).chain(once(run.run_id.into()));
            let text = ADD_PARTS.of(self.backend);
            self.execute(&tx, text, values.collect()).await?;
            // Nothing is given with a fire of the schedule.
            if run.cause != Cause::Schedule {
                let (list, value) = dialect::id_list(self.backend, &ids);
                let text = format!(
                    "INSERT INTO run_input (run_id, params, address) WITH part (id) AS ({list}) \
                     SELECT part.id, given.params, NULL FROM part CROSS JOIN run_input AS given WHERE given.run_id = ?"
                );
                self.execute(&tx, &text, vec![value, run.run_id.into()]).await?;
            }
        }
        tx.commit().await?;
        let all_ids = once(run.run_id).chain(ids);
        Ok((0i32..)
            .zip(all_ids.zip(addresses))
            .map(|(part, (run_id, address))| Waiting {
                run_id,
                part,
                parts,
                bound_to: Some(address.clone()),
                ..run.clone()
            })
            .collect())
    }
}

fn part_list(backend: DbBackend, ids: &[i64], addresses: &[String]) -> Vec<Value> {
    let numbers = 1..=ids.len() as i32;
    if backend == DbBackend::Postgres {
        return vec![ids.to_vec().into(), numbers.collect::<Vec<_>>().into(), addresses.to_vec().into()];
    }
    let rows: Vec<_> =
        ids.iter().zip(numbers).zip(addresses).map(|((id, part), address)| (id, part, address)).collect();
    vec![serde_json::to_string(&rows).unwrap_or_default().into()]
}
