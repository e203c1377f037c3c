//! The pauses and maintenance windows of apps, as this node last read them: once a second, and when a change comes through this
//! node. So a change counts on every node within about two seconds, and a run that is marked already is sent.

use std::sync::Arc;

use carillon_scheduler::{Cause, Millis};
use carillon_store as store;
use carillon_store::app::maintenance_windows::MaintenanceWindow;
use carillon_store::app::pauses::Pause;
use carillon_store::run::adopt::ClaimedRun;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::context::Context;
use crate::dispatch::maintenance::{Maintenance, parse_all};

pub struct AppPauses {
    pub(crate) cx: Arc<Context>,
    pub(crate) state: Mutex<PauseState>,
    /// One reads at a time: an earlier answer never replaces a later one.
    pub(crate) reading: tokio::sync::Mutex<()>,
    pub changed: Arc<Notify>,
}

#[derive(Default)]
pub(crate) struct PauseState {
    pauses: Vec<Pause>,
    windows: Vec<Arc<Maintenance>>,
    /// The pauses, and of each window the time in force or the next one, in the order of their begins.
    all: Arc<[Pause]>,
}

impl PauseState {
    fn plan(&mut self, now: Millis) {
        let of_windows = self.windows.iter().flat_map(|window| window.pauses(now));
        let mut all: Vec<Pause> = self.pauses.iter().cloned().chain(of_windows).collect();
        all.sort_by_key(|pause| (pause.starts_at, pause.id));
        self.all = all.into();
    }
}

/// What a pause means for a run that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueInPause {
    /// A person or a program asked for this run.
    Send,
    /// An attempt that was promised, a child or a backfill: it waits for the end of the pause.
    Wait,
    /// A fire of the schedule: it is left out.
    Cancel,
}

impl DueInPause {
    pub fn of(run: &ClaimedRun) -> Self {
        match (run.cause, run.attempt) {
            (Cause::Manual | Cause::Api, 1) => Self::Send,
            (Cause::Schedule, 1) => Self::Cancel,
            _ => Self::Wait,
        }
    }
}

impl AppPauses {
    pub async fn refresh(&self) -> store::Result<()> {
        let _reading = self.reading.lock().await;
        let read = self.read().await;
        let mut state = self.state.lock();
        let read = read.map(|(pauses, windows)| {
            state.windows = parse_all(windows, &state.windows);
            state.pauses = pauses;
        });
        // Also without the database: windows begin and end in time.
        state.plan(self.cx.clock.now());
        read
    }

    /// After a change that came through this node: its next page shows it. A failed read is repeated within a second.
    pub async fn follow_change(&self) {
        if self.refresh().await.is_err() {
            self.changed.notify_one();
        }
    }

    async fn read(&self) -> store::Result<(Vec<Pause>, Vec<MaintenanceWindow>)> {
        let pauses = self.cx.store.apps().pauses_from(self.cx.clock.now()).await?;
        Ok((pauses, self.cx.store.apps().maintenance_windows().await?))
    }

    /// In force or ahead, in the order of their starts.
    pub fn all(&self) -> Arc<[Pause]> {
        self.state.lock().all.clone()
    }

    /// Those in force.
    pub fn in_force(&self, now: Millis) -> Vec<Pause> {
        self.all().iter().filter(|pause| pause.is_in_force(now)).cloned().collect()
    }

    /// The apps with a pause in force. None: all apps.
    pub fn paused_apps(&self, now: Millis) -> Option<Vec<i64>> {
        self.in_force(now).iter().map(|pause| pause.app_id).collect()
    }
}
