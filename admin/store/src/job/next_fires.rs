//! The next fire of a job as people mean it. The planning cursor (`job_clock`) is ahead of it: what the engine has planned
//! is claimed as runs, and the cursor stands behind the last of them.
//!
//! Only rows ahead of now are looked at, by the key that begins with the instant. There are as many of them as jobs fire
//! within the look-ahead, however many jobs and runs there are.

use std::collections::HashMap;

use carillon_scheduler::Millis;

use crate::db::dialect;
use crate::db::row::Columns;
use crate::job::stored_job::Job;
use crate::{Result, Store};

/// A job and the next instant at which it fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextFire {
    pub job_id: i64,
    pub name: String,
    pub app: String,
    pub next_fire_at: Millis,
}

/// First attempts of a schedule that have not ended.
const AHEAD: &str = "fire_no > ? AND cause = 0 AND attempt = 1 AND state < 9";
/// Claimed runs among which the next fires of all jobs are looked for. A quick job has several of them.
const LOOKED_AT: i64 = 400;

impl Store {
    /// Puts the next fire in the place of the planning cursor. For jobs that are shown; never for one that is changed.
    pub async fn show_next_fires(&self, jobs: &mut [Job], now: Millis) -> Result<()> {
        let enabled = jobs.iter().filter(|job| job.draft.enabled);
        let ids: Vec<i64> = enabled.map(|job| job.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let (list, value) = dialect::id_list(self.backend, &ids);
        let text = format!("SELECT job_id, MIN(fire_no) FROM run WHERE {AHEAD} AND job_id IN ({list}) GROUP BY job_id");
        let mut claimed: HashMap<i64, Millis> = HashMap::new();
        for row in self.all(&self.read, &text, vec![now.into(), value]).await? {
            let mut columns = Columns::of(&row);
            claimed.insert(columns.next()?, columns.next()?);
        }
        for job in jobs {
            let claimed = claimed.get(&job.id).copied();
            job.next_fire_at = [claimed, job.next_fire_at].into_iter().flatten().min();
        }
        Ok(())
    }

    /// What fires next, of all jobs.
    pub async fn next_fires(&self, shards: i32, count: usize, now: Millis) -> Result<Vec<NextFire>> {
        let mut all = vec![];
        let claimed = format!(
            "SELECT c.job_id, j.name, a.name, c.fire_no FROM (SELECT job_id, fire_no FROM run WHERE {AHEAD} \
             ORDER BY fire_no, job_id LIMIT ?) AS c JOIN job j ON j.id = c.job_id JOIN app a ON a.id = j.app_id"
        );
        self.add_fires(&mut all, &claimed, vec![now.into(), LOOKED_AT.into()]).await?;
        let planned = "SELECT c.job_id, j.name, a.name, c.next_fire_at FROM (SELECT job_id, next_fire_at FROM job_clock \
                       WHERE shard = ? ORDER BY next_fire_at, job_id LIMIT ?) AS c JOIN job j ON j.id = c.job_id \
                       JOIN app a ON a.id = j.app_id";
        for shard in 0..shards {
            self.add_fires(&mut all, planned, vec![shard.into(), (count as i64).into()]).await?;
        }
        // The first fire of each job.
        all.sort_by_key(|fire| (fire.job_id, fire.next_fire_at));
        all.dedup_by_key(|fire| fire.job_id);
        all.sort_by_key(|fire| (fire.next_fire_at, fire.job_id));
        all.truncate(count);
        Ok(all)
    }

    async fn add_fires(&self, all: &mut Vec<NextFire>, text: &str, values: Vec<sea_orm::Value>) -> Result<()> {
        for row in self.all(&self.read, text, values).await? {
            let mut columns = Columns::of(&row);
            all.push(NextFire {
                job_id: columns.next()?,
                name: columns.next()?,
                app: columns.next()?,
                next_fire_at: columns.next()?,
            });
        }
        Ok(())
    }
}
