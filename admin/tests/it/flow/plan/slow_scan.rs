//! A scan that takes longer than a lease lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock, ManualClock, Millis, ScheduleDraft};

use crate::flow::node::{Node, START};
use crate::services::{Kind, on};

/// On a machine so slow that each look at the clock, of which each job costs one, takes a while.
struct Plodding {
    clock: Arc<ManualClock>,
    ms: AtomicU64,
}

impl Clock for Plodding {
    fn now(&self) -> Millis {
        let ms = self.ms.load(Ordering::Relaxed);
        self.clock.advance(Duration::from_millis(ms));
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }
}

/// There: a pause for each timer, so that 720 of them outlived the lock of their slice and the slice itself.
// covers: 6.8, 6.17
#[test]
fn two_thousand_timers_that_outlast_two_leases_keep_theirs() {
    const TIMERS: usize = 2_000;
    on(Kind::Sqlite, async |db| {
        let mut config = db.config();
        config.shards = Some(1);
        let clock = Arc::new(ManualClock::new(START));
        let seen = Arc::new(Plodding { clock: clock.clone(), ms: AtomicU64::new(0) });
        let node = Node::under(config, clock.clone(), seen.clone()).await;
        let at = START + 1_000;
        let once = |draft: &mut carillon_scheduler::JobDraft| {
            draft.schedule = ScheduleDraft::once(at);
        };
        node.create_jobs(TIMERS, once).await;
        node.renew_leases().await;
        seen.ms.store(10, Ordering::Relaxed);
        // Only the claims themselves renew the lease meanwhile.
        node.services.scanners.all()[0].step().await;
        seen.ms.store(0, Ordering::Relaxed);
        let took = clock.now() - START;
        assert!(took > 20_000, "two leases: {took} ms");
        let open = node.store.runs().open_runs(64).await.unwrap();
        let recorded: i64 = open.iter().map(|(_, count)| count).sum();
        assert_eq!(recorded, TIMERS as i64, "all of them in one round");
        let lease = node.store.leases().list().await.unwrap().remove(0);
        assert_eq!(lease.epoch, 1);
        assert!(lease.expires_at > clock.now(), "no peer would get it");
        node.renew_leases().await;
        assert_eq!(node.engine.shards_held(), [0], "trusted as long");
        assert!(node.metrics().contains("carillon_fence_hits_total 0"));
    });
}
