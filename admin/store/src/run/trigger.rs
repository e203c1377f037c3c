//! Fires without a schedule: run now, API, and later children and backfill.

use carillon_scheduler::{Cause, Millis};
use sea_orm::Value;

use crate::db::ids;
use crate::{Result, Store, Transaction};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct NewFire {
    pub job_id: i64,
    pub cause: Cause,
    pub params: Option<String>,
    pub address: Option<String>,
    pub idempotency_key: Option<String>,
}

/// The run of a fire, new or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    pub run_id: i64,
    pub shard: i32,
    /// False: an earlier request with the same key had made it.
    pub is_new: bool,
}

impl Store {
    /// Records the run, `claimed` under epoch 0: the holder of its shard adopts it. None: there is no such job.
    pub async fn insert_fire(&self, fire: &NewFire, now: Millis) -> Result<Option<Fired>> {
        let run_id = self.take_id(&ids::RUN).await?;
        let mut tries = 0;
        loop {
            match self.try_insert_fire(fire, run_id, now).await {
                // The same key at the same moment: the other one has made it.
                Err(error) if (error.is_unique_violation() || error.is_lock_conflict()) && tries < 3 => {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    async fn try_insert_fire(&self, fire: &NewFire, run_id: i64, now: Millis) -> Result<Option<Fired>> {
        let tx = self.begin_change().await?;
        // Locked, or a deletion at the same moment would not see the run and leave it behind.
        let text = format!("SELECT shard FROM job WHERE id = ?{}", self.for_update());
        let Some(row) = self.one(&tx, &text, vec![fire.job_id.into()]).await? else {
            return Ok(None);
        };
        let shard = row.try_get_by_index(0)?;
        let key = fire.idempotency_key.as_ref().map(|key| format!("fire:{}:{key}", fire.job_id));
        if let Some(key) = &key {
            if let Some(run_id) = self.remembered(&tx, key).await? {
                return Ok(Some(Fired { run_id, shard, is_new: false }));
            }
            let text = "INSERT INTO idempotency (request_key, object_id, created_at) VALUES (?, ?, ?)";
            self.execute(&tx, text, vec![key.as_str().into(), run_id.into(), now.into()]).await?;
        }
        self.insert_fired_run(&tx, fire, run_id, now).await?;
        tx.commit().await?;
        Ok(Some(Fired { run_id, shard, is_new: true }))
    }

    async fn remembered(&self, tx: &Transaction, key: &str) -> Result<Option<i64>> {
        let text = "SELECT object_id FROM idempotency WHERE request_key = ?";
        Ok(self.one(tx, text, vec![key.into()]).await?.map(|row| row.try_get_by_index(0)).transpose()?)
    }

    async fn insert_fired_run(&self, tx: &Transaction, fire: &NewFire, run_id: i64, now: Millis) -> Result<()> {
        // The fire's number is its first run's own id, so it can never collide with an instant of another cause.
        let text = "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, parent) \
                    SELECT ?, id, app_id, shard, ?, ?, 0, 1, 1, ?, ?, 0, 0, 0, parent FROM job WHERE id = ?";
        let values: Vec<Value> =
            vec![run_id.into(), fire.cause.code().into(), run_id.into(), now.into(), now.into(), fire.job_id.into()];
        self.execute(tx, text, values).await?;
        if fire.params.is_some() || fire.address.is_some() {
            let text = "INSERT INTO run_input (run_id, params, address) VALUES (?, ?, ?)";
            self.execute(tx, text, vec![run_id.into(), fire.params.clone().into(), fire.address.clone().into()])
                .await?;
        }
        Ok(())
    }
}
