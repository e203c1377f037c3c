//! The heartbeat, and the good-bye.

use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::Registration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::admin_client::{AdminClient, NotTaken};

/// An admin takes an executor of this SDK for dead after 30 s.
const BEAT: Duration = Duration::from_secs(10);
/// Pause after a beat that no admin took.
const RETRY: Duration = Duration::from_secs(2);
/// Beats that no admin takes are logged at the first one, and then once in this time.
const WARN_EVERY: Duration = Duration::from_secs(60);

pub(crate) struct Beats {
    pub(crate) admins: Arc<AdminClient>,
    pub(crate) registration: Registration,
    /// True while an admin has taken the last beat.
    pub(crate) registered: watch::Sender<bool>,
    /// Told at the first beat after some that failed.
    pub(crate) reachable: Arc<Notify>,
    /// Ends the beats.
    pub(crate) leaving: CancellationToken,
}

impl Beats {
    /// Registers, and again every 10 s.
    pub(crate) async fn work(self: Arc<Self>) {
        let mut warned: Option<Instant> = None;
        while !self.leaving.is_cancelled() {
            let taken = self.tell("/api/registry").await;
            let before = self.registered.send_replace(taken.is_ok());
            let pause = match taken {
                Ok(()) => {
                    if !before {
                        self.reached();
                    }
                    warned = None;
                    BEAT
                }
                Err(reason) => {
                    if warned.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
                        self.warn(&reason);
                        warned = Some(Instant::now());
                    }
                    RETRY
                }
            };
            let _ = timeout(pause, self.leaving.cancelled()).await;
        }
    }

    fn reached(&self) {
        let (app, address) = (&self.registration.key, &self.registration.value);
        tracing::info!(app, address, "registered");
        self.reachable.notify_one();
    }

    fn warn(&self, reason: &NotTaken) {
        let app = &self.registration.key;
        if reason.wrong_token {
            tracing::warn!(app, %reason, "the admin refuses this executor: the access token is wrong; no run comes until it is right");
        } else {
            tracing::warn!(app, %reason, "no admin takes the registration, tried again every 2 s");
        }
    }

    /// Says good-bye, so that no more runs come.
    pub(crate) async fn leave(&self) {
        let left = self.tell("/api/registryRemove").await;
        self.registered.send_replace(false);
        if let Err(reason) = left {
            tracing::warn!(%reason, "no admin was told that this executor leaves");
        }
    }

    async fn tell(&self, path: &str) -> Result<(), NotTaken> {
        // Three texts always are JSON.
        let body = serde_json::to_vec(&self.registration).unwrap_or_default();
        self.admins.post(path, body).await
    }
}
