//! Keeps fresh what routes rely on: the registrations, and the counts of open runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::context::Context;
use crate::dispatch::route::router::Router;
use crate::job_cache::JobCache;
use crate::lease::held_shards::HeldShards;
use crate::runtime::{Service, Step};

pub struct ExecutorRefresher {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub router: Arc<Router>,
    pub jobs: Arc<JobCache>,
}

impl Service for ExecutorRefresher {
    const NAME: &'static str = "route refresh";
    type Report = ();

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.router.directory.changed.clone())
    }

    async fn step(&self) -> Step {
        let Router { memory, counts, directory, .. } = &*self.router;
        let now = self.cx.clock.monotonic();
        memory.sweep(now);
        if let Err(error) = counts.refresh(&self.cx.store, self.held.total(), now).await {
            tracing::warn!(%error, "open runs could not be counted; the last numbers stay in use");
        }
        match directory.refresh().await {
            Ok(()) => {
                directory.record_read();
                self.jobs.invalidate_on_rename(directory.names_version());
            }
            Err(error) => {
                tracing::warn!(%error, "registrations could not be read; the last ones stay in use");
                directory.record_failed_read();
            }
        }
        Step::after(Duration::from_secs(1))
    }
}
