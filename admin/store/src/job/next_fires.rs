//! The next fire of a job as people mean it. The planning cursor (`job_clock`) is ahead of it: what the engine has planned
//! is claimed as runs, and the cursor stands behind the last of them.
//!
//! Only rows ahead of now are looked at, by the key that begins with the instant. There are as many of them as jobs fire
//! within the look-ahead, however many jobs and runs there are.

use foldhash::HashMap;

use carillon_scheduler::Millis;
use sea_orm::FromQueryResult;

use crate::error::Result;
use crate::job::stored_job::Job;
use crate::people::grants::VisibleApps;
use crate::views::JobStore;

/// A job and the next instant at which it fires.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct NextFire {
    pub job_id: i64,
    pub name: String,
    pub app: String,
    pub next_fire_at: Millis,
}

/// First attempts of a schedule that have not ended.
pub(crate) const AHEAD: &str = "fire_no > ? AND cause = {cause.schedule} AND attempt = 1 AND state < {state.final}";
/// Claimed runs among which the next fires of all jobs are looked for. A quick job has several of them.
const LOOKED_AT: i64 = 400;

impl JobStore<'_> {
    /// Puts the next fire in the place of the planning cursor. For jobs that are shown; never for one that is changed.
    pub async fn show_next_fires(self, jobs: &mut [Job], now: Millis) -> Result<()> {
        let enabled = jobs.iter().filter(|job| job.draft.enabled);
        let ids: Vec<i64> = enabled.map(|job| job.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let text =
            format!("SELECT job_id, MIN(fire_no) FROM run WHERE {AHEAD} AND job_id IN ({{ids}}) GROUP BY job_id");
        let claimed = self.tuples(&self.read, &text, values![now, self.ids(&ids)]).await?;
        let claimed: HashMap<i64, Millis> = claimed.into_iter().collect();
        for job in jobs {
            let claimed = claimed.get(&job.id).copied();
            job.next_fire_at = [claimed, job.next_fire_at].into_iter().flatten().min();
        }
        Ok(())
    }

    /// What fires next, of the jobs of the visible apps.
    pub async fn next_fires(
        self,
        shards: i32,
        count: usize,
        now: Millis,
        visible: &VisibleApps,
    ) -> Result<Vec<NextFire>> {
        let claimed = format!(
            "SELECT c.job_id, j.name, a.name AS app, c.fire_no AS next_fire_at FROM (SELECT job_id, fire_no FROM run WHERE {AHEAD}{} \
             ORDER BY fire_no, job_id LIMIT ?) AS c JOIN job j ON j.id = c.job_id JOIN app a ON a.id = j.app_id",
            visible.and("app_id")
        );
        let mut all: Vec<NextFire> = self.all(&self.read, &claimed, values![now, LOOKED_AT]).await?;
        let planned = format!(
            "SELECT c.job_id, j.name, a.name AS app, c.next_fire_at FROM (SELECT job_id, next_fire_at FROM job_clock \
                       WHERE shard = ?{} ORDER BY next_fire_at, job_id LIMIT ?) AS c JOIN job j ON j.id = c.job_id \
                       JOIN app a ON a.id = j.app_id",
            visible.and_job("job_id")
        );
        for shard in 0..shards {
            all.extend(self.all::<NextFire>(&self.read, &planned, values![shard, count as i64]).await?);
        }
        // The first fire of each job.
        all.sort_by_key(|fire| (fire.job_id, fire.next_fire_at));
        all.dedup_by_key(|fire| fire.job_id);
        all.sort_by_key(|fire| (fire.next_fire_at, fire.job_id));
        all.truncate(count);
        Ok(all)
    }
}
