//! Claims what the plans say, in batches: one transaction records the runs and moves the cursors.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Cause, Millis, Plan};

use crate::job_cache::CachedJob;
use crate::plan::scanner::{ScanReport, Scanner};
use carillon_store as store;
use carillon_store::db::ids;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::claim::{DueJob, HeldLease, JobClaim, SkippedRange};

impl Scanner {
    pub(crate) async fn claim(
        &self,
        holder: &HeldLease<'_>,
        batch: &[(DueJob, Arc<CachedJob>, Plan)],
        report: &mut ScanReport,
    ) -> store::Result<usize> {
        let count = batch.iter().map(|(_, _, plan)| plan.fires.len()).sum();
        let mut run_ids = self.cx.store.take_ids(&ids::RUN, count).await?.into_iter();
        let claims: Vec<JobClaim> =
            batch.iter().map(|(due, job, plan)| job_claim(*due, job, plan, &mut run_ids)).collect();
        match self.claim_batch(holder, &claims, report).await {
            Err(error) if error.is_unique_violation() && claims.len() > 1 => {
                let mut done = 0;
                for claim in &claims {
                    done += self.claim_single(holder, claim, report).await?;
                }
                Ok(done)
            }
            Err(error) if error.is_unique_violation() => self.claim_single(holder, &claims[0], report).await,
            other => other,
        }
    }

    async fn claim_single(
        &self,
        holder: &HeldLease<'_>,
        claim: &JobClaim,
        report: &mut ScanReport,
    ) -> store::Result<usize> {
        match self.claim_batch(holder, std::slice::from_ref(claim), report).await {
            Err(error) if error.is_unique_violation() => {
                let reason = "an instant that its cursor has not reached is recorded already";
                self.pause_unplannable(&claim.due, reason, report).await
            }
            other => other,
        }
    }

    #[tracing::instrument(name = "claim", level = "debug", skip_all, fields(shard = self.shard, lease.epoch = holder.epoch))]
    async fn claim_batch(
        &self,
        holder: &HeldLease<'_>,
        claims: &[JobClaim],
        report: &mut ScanReport,
    ) -> store::Result<usize> {
        let claim = |now| self.cx.store.runs().claim(holder, claims, now);
        let changed = self.within_lease(holder, claim).await?;
        let recorded: Vec<&JobClaim> = claims.iter().filter(|claim| !changed.contains(&claim.due.job_id)).collect();
        for claim in &recorded {
            self.failures.clear(claim.due.job_id);
            self.cx.metrics.claimed.inc_by(claim.fires.len() as u64);
            self.cx.metrics.misfired.inc_by(claim.skipped.iter().map(|range| range.count as u64).sum());
            report.claimed += claim.fires.len();
            report.skipped += claim.skipped.len();
        }
        self.enqueue_claimed(holder, &recorded);
        Ok(claims.len() - changed.len())
    }

    /// Writes under the fence, not longer than the lease is trusted. What the database does with it after that is found by reading the
    /// table again.
    pub(crate) async fn within_lease<T, F: Future<Output = store::Result<T>>>(
        &self,
        holder: &HeldLease<'_>,
        write: impl Fn(Millis) -> F,
    ) -> store::Result<T> {
        let asked = self.cx.clock.monotonic();
        let held = self.held.all().remove(&self.shard);
        let left = held.map_or(self.cx.settings.lease_ttl, |held| held.trusted_until.saturating_sub(asked));
        let mut tries = 0;
        let writing = async {
            loop {
                match write(self.cx.clock.now()).await {
                    Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                    other => return other,
                }
                // Two sessions that clashed once would clash again in step.
                let pause = rand::random_range(0..10 << tries);
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        };
        let Ok(done) = tokio::time::timeout(left, writing).await else {
            self.batch.halve();
            return Err(store::Error::Busy);
        };
        let done = done?;
        self.batch.record_duration(self.cx.clock.monotonic() - asked, self.cx.settings.lease_ttl);
        // The write was the lease's heartbeat too.
        self.held.renewed(self.shard, holder.epoch, asked, self.cx.settings.trust());
        Ok(done)
    }

    /// The rows are committed as they stand here, so reading them back is not needed.
    fn enqueue_claimed(&self, holder: &HeldLease<'_>, claims: &[&JobClaim]) {
        let fires =
            claims.iter().flat_map(|claim| claim.fires.iter().map(|(run_id, at)| (claim.due.job_id, *run_id, *at)));
        let run = |(job_id, run_id, at): (i64, i64, Millis)| ClaimedRun {
            run_id,
            job_id,
            shard: holder.shard,
            epoch: holder.epoch,
            cause: Cause::Schedule,
            fire_no: at,
            part: 0,
            parts: 1,
            attempt: 1,
            scheduled_at: at,
            due_at: at,
            bound_to: None,
            asked_parts: None,
            expires_at: None,
            traceparent: None,
            priority: None,
            is_patient: false,
        };
        self.queue.insert_all(fires.map(|fire| (run(fire), fire.2)));
    }
}

fn job_claim(due: DueJob, job: &CachedJob, plan: &Plan, run_ids: &mut impl Iterator<Item = i64>) -> JobClaim {
    let policy = job.rules.as_ref().map_or("", |rules| rules.misfire.as_str());
    JobClaim {
        due,
        // The instants lead: a zip takes one more of its first than of its second.
        fires: plan.fires.iter().zip(run_ids).map(|(at, id)| (id, *at)).collect(),
        skipped: plan
            .skipped
            .iter()
            .map(|range| SkippedRange {
                from_at: range.from_at,
                to_at: range.to_at,
                count: i64::from(range.count),
                policy,
                reason: range.reason.as_str(),
            })
            .collect(),
        next_fire_at: plan.next_fire_at,
        counted: job.is_counted(),
    }
}
