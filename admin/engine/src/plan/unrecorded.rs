//! A broken product for the fault suite, which must notice it: cursors move at once, and an instant is recorded only when
//! it is to be sent. What dies in between takes its instants with it.

use std::time::Duration;

use crate::plan::scanner::Scanner;
use carillon_store as store;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::claim::{HeldLease, JobClaim};

impl Scanner {
    pub(crate) async fn claim_unrecorded(&self, holder: &HeldLease<'_>, claims: &[JobClaim]) -> store::Result<usize> {
        let moved: Vec<JobClaim> = claims.iter().map(without_fires).collect();
        let now = self.cx.clock.now();
        let changed = self.cx.store.claim(holder, &moved, now).await?;
        for claim in claims {
            if changed.contains(&claim.due.job_id) {
                continue;
            }
            for (run_id, at) in &claim.fires {
                tokio::spawn(self.record_then_send(holder, claim, *run_id, *at));
            }
        }
        Ok(claims.len() - changed.len())
    }

    fn record_then_send(
        &self,
        holder: &HeldLease<'_>,
        claim: &JobClaim,
        run_id: i64,
        at: i64,
    ) -> impl Future<Output = ()> + use<> {
        let (cx, queue, claim) = (self.cx.clone(), self.queue.clone(), claim.clone());
        let (shard, epoch, ttl_ms) = (holder.shard, holder.epoch, holder.ttl_ms);
        async move {
            let pause = (at - cx.clock.now()).max(0).unsigned_abs();
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let holder = HeldLease { shard, epoch, node: &cx.node, ttl_ms };
            let job_id = claim.due.job_id;
            let alone = JobClaim { fires: vec![(run_id, at)], skipped: vec![], ..claim };
            if cx.store.record_late(&holder, alone).await.is_ok() {
                queue.insert(waiting(run_id, job_id, shard, epoch, at), at);
            }
        }
    }
}

fn without_fires(claim: &JobClaim) -> JobClaim {
    JobClaim { fires: vec![], ..claim.clone() }
}

fn waiting(run_id: i64, job_id: i64, shard: i32, epoch: i64, at: i64) -> ClaimedRun {
    ClaimedRun {
        run_id,
        job_id,
        shard,
        epoch,
        cause: carillon_scheduler::Cause::Schedule,
        fire_no: at,
        part: 0,
        parts: 1,
        attempt: 1,
        scheduled_at: at,
        due_at: at,
        bound_to: None,
        overlaps: false,
    }
}
