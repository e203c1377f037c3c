//! A broken product for the fault suite, which must notice it: cursors move at once, and an instant is recorded only when
//! it is to be sent. What dies in between takes its instants with it.

use std::time::Duration;

use crate::plan::scanner::Scan;
use crate::store;
use crate::store::run::adopt::Waiting;
use crate::store::run::claim::{Claim, Holder};

impl Scan {
    pub(crate) async fn claim_unrecorded(&self, holder: &Holder<'_>, claims: &[Claim]) -> store::Result<usize> {
        let pipeline = &self.pipeline;
        let moved: Vec<Claim> = claims.iter().map(without_fires).collect();
        let now = pipeline.clock.now();
        let changed = pipeline.store.claim(holder, &moved, now).await?;
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
        holder: &Holder<'_>,
        claim: &Claim,
        run_id: i64,
        at: i64,
    ) -> impl Future<Output = ()> + use<> {
        let (pipeline, claim) = (self.pipeline.clone(), claim.clone());
        let (shard, epoch, ttl_ms) = (holder.shard, holder.epoch, holder.ttl_ms);
        async move {
            let pause = (at - pipeline.clock.now()).max(0).unsigned_abs();
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let holder = Holder { shard, epoch, node: &pipeline.node, ttl_ms };
            let job_id = claim.due.job_id;
            let alone = Claim { fires: vec![(run_id, at)], skipped: vec![], ..claim };
            if pipeline.store.record_late(&holder, alone).await.is_ok() {
                pipeline.put_in_ring(waiting(run_id, job_id, shard, epoch, at), at);
            }
        }
    }
}

fn without_fires(claim: &Claim) -> Claim {
    Claim { fires: vec![], ..claim.clone() }
}

fn waiting(run_id: i64, job_id: i64, shard: i32, epoch: i64, at: i64) -> Waiting {
    Waiting {
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
