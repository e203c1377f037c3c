//! Does what follows from ends of runs: at once for those that this node has settled, later for those of which a node that is gone
//! has left the rows.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::complete::followed_runs::FollowedRuns;
use crate::complete::outcome_queue::OutcomeQueue;
use crate::context::Context;
use crate::dispatch::departures::Departures;
use crate::lease::held_shards::HeldShards;
use crate::manage::run_killer::RunKiller;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Service, Step};
use carillon_store as store;

/// How often it looks for ends from which nothing has followed.
const POLL: Duration = Duration::from_secs(1);
/// When ends are tried again of which another session holds a job.
const HELD_UP: Duration = Duration::from_millis(50);
/// The node that has settled a run has this time, in milliseconds, before another one does what follows.
const OWN_MS: i64 = 1_000;
/// Ends of one transaction.
const BATCH: usize = 250;

pub struct Advancer {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub wakes: Arc<ScanWakes>,
    pub followed: Arc<FollowedRuns>,
    pub outcomes: Arc<OutcomeQueue>,
    pub killer: Arc<RunKiller>,
    pub departures: Arc<Departures>,
    pub tasks: TaskTracker,
    /// When forgotten ends are looked for again, by the monotonic clock.
    pub next_look: Mutex<Duration>,
}

impl Service for Advancer {
    const NAME: &'static str = "advance";
    /// Ends that something has followed from.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.followed.wake.clone())
    }

    async fn step(&self) -> Step<usize> {
        let settled = self.followed.take();
        let mut did = self.advance(settled).await;
        let now = self.cx.clock.monotonic();
        if *self.next_look.lock() <= now {
            *self.next_look.lock() = now + POLL;
            did += match self.forgotten().await {
                Ok(forgotten) => self.advance(forgotten).await,
                Err(error) => {
                    tracing::warn!(%error, "forgotten ends of runs could not be read; the next round tries again");
                    0
                }
            };
        }
        let waits = self.followed.has_some();
        Step { did, next: if waits { HELD_UP } else { POLL } }
    }
}

impl Advancer {
    async fn forgotten(&self) -> store::Result<Vec<i64>> {
        let shards: Vec<i64> = self.held.shards().into_iter().map(i64::from).collect();
        match shards.is_empty() {
            true => Ok(vec![]),
            false => self.cx.store.runs().forgotten_ends(&shards, self.cx.clock.now() - OWN_MS, BATCH).await,
        }
    }

    /// An end that cannot be followed now has a row that is found later. Of many that fail together each is tried alone, so that one
    /// holds up no other.
    async fn advance(&self, run_ids: Vec<i64>) -> usize {
        let mut did = 0;
        for batch in run_ids.chunks(BATCH) {
            self.departures.give_way(&*self.cx.clock).await;
            match self.advance_together(batch).await {
                Ok(count) => did += count,
                Err(error) if error.is_outage() || batch.len() == 1 => {
                    tracing::warn!(%error, run.count = batch.len(), "what follows from ended runs is done later");
                }
                Err(error) => {
                    tracing::debug!(%error, run.count = batch.len(), "ends of runs are followed one by one");
                    for run_id in batch {
                        match self.advance_together(&[*run_id]).await {
                            Ok(count) => did += count,
                            Err(error) => {
                                tracing::warn!(%error, run.id = run_id, "what follows from an ended run is done later");
                            }
                        }
                    }
                }
            }
        }
        did
    }

    /// Asks for the end of a node's run, beside everything else: the workflow has a note until it has ended, so it is asked again.
    fn end_node(&self, run_id: i64) {
        let killer = self.killer.clone();
        self.tasks.spawn(async move {
            if let Err(error) = killer.kill(run_id, None).await {
                tracing::warn!(run.id = run_id, %error, "a node of a workflow that ends could not be asked to stop");
            }
        });
    }

    async fn advance_together(&self, run_ids: &[i64]) -> store::Result<usize> {
        let advanced = self.cx.store.runs().advance(run_ids, self.cx.clock.now()).await?;
        for took in &advanced.took {
            self.cx.metrics.advance.observe(took.as_secs_f64());
        }
        self.cx.metrics.nodes_started.inc_by(advanced.nodes_started as u64);
        for alarm in &advanced.alarms {
            self.cx.log_alarm(alarm);
        }
        for shard in &advanced.to_scan {
            self.wakes.wake_holder(*shard);
        }
        for error in &advanced.errors {
            tracing::warn!(%error, "what follows in a workflow or of items is done later");
        }
        self.followed.put_back(&advanced.held_up);
        for end in advanced.to_end {
            self.outcomes.enqueue_internal(end);
        }
        for run_id in advanced.to_kill {
            self.end_node(run_id);
        }
        // A run from which several things follow may be named several times.
        Ok(run_ids.iter().filter(|run_id| !advanced.held_up.contains(run_id)).count())
    }
}
