//! Once a second: the pauses of apps are read, and those of jobs begin and end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::dispatch::app_pauses::AppPauses;
use crate::maintain::job_pauses::JobPauses;
use crate::runtime::{Service, Step};

const EVERY: Duration = Duration::from_secs(1);

pub struct PauseRefresher {
    pub apps: Arc<AppPauses>,
    pub jobs: JobPauses,
}

impl Service for PauseRefresher {
    const NAME: &'static str = "pauses";
    /// Jobs that were paused or resumed.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.apps.changed.clone())
    }

    async fn step(&self) -> Step<usize> {
        if let Err(error) = self.apps.refresh().await {
            tracing::warn!(%error, "the pauses of apps could not be read; the last ones stay in force");
        }
        let did = self.jobs.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the pauses of jobs could not be looked at; the next round goes on");
            0
        });
        Step { did, next: EVERY }
    }
}
