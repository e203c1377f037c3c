//! The heartbeat, which registers the executor, and its deregistration.

use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{ASKS_FOR_DECLARATION, Registration};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::client::{AdminClient, PostError};

/// An admin takes an executor of this SDK for dead after 30 s without one.
const INTERVAL: Duration = Duration::from_secs(10);
/// Pause after a heartbeat that no admin accepted.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Failed heartbeats are logged at the first one, then once in this time.
const WARN_EVERY: Duration = Duration::from_secs(60);
/// Where declared jobs go.
const DECLARE_PATH: &str = "/api/declare";

/// Registers the executor with the admins, again and again.
pub(crate) struct Heartbeats {
    pub(crate) admins: Arc<AdminClient>,
    pub(crate) registration: Registration,
    /// True while the last heartbeat was accepted.
    pub(crate) registered: watch::Sender<bool>,
    /// Notified at the first heartbeat that is accepted after a failed one.
    pub(crate) reachable: Arc<Notify>,
    /// The body that declares the jobs of the program; empty: it declares none.
    pub(crate) declaration: Vec<u8>,
    /// Ends the heartbeats.
    pub(crate) stop: CancellationToken,
}

impl Heartbeats {
    /// Registers now and every 10 s, until the stop.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut warned: Option<Instant> = None;
        while !self.stop.is_cancelled() {
            let posted = self.post("/api/registry").await;
            let was_registered = self.registered.send_replace(posted.is_ok());
            let pause = match posted {
                Ok(asked) => {
                    if !was_registered {
                        self.log_registered();
                        self.reachable.notify_one();
                    }
                    warned = None;
                    if asked.is_some_and(|asked| asks_for_declaration(&asked)) {
                        self.declare().await;
                    }
                    INTERVAL
                }
                Err(reason) => {
                    if warned.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
                        self.log_failure(&reason);
                        warned = Some(Instant::now());
                    }
                    RETRY_AFTER
                }
            };
            let _ = timeout(pause, self.stop.cancelled()).await;
        }
    }

    fn log_registered(&self) {
        let (app, address) = (&self.registration.key, &self.registration.value);
        tracing::info!(app.name = app, executor.address = address, "registered");
    }

    fn log_failure(&self, reason: &PostError) {
        let app = &self.registration.key;
        if reason.is_wrong_token {
            tracing::warn!(app.name = app, %reason, "the admin refuses this executor: the access token is wrong; no runs arrive until it is right");
        } else {
            tracing::warn!(app.name = app, %reason, "no admin accepts the registration; retrying every 2 s");
        }
    }

    /// Deregisters, so that the admins send no more runs.
    pub(crate) async fn deregister(&self) {
        let posted = self.post("/api/registryRemove").await;
        self.registered.send_replace(false);
        if let Err(reason) = posted {
            tracing::warn!(%reason, "no admin accepted the deregistration");
        }
    }

    /// Sends the declared jobs. If no admin takes them, one asks again with the next heartbeat.
    async fn declare(&self) {
        if self.declaration.is_empty() {
            return;
        }
        match self.admins.post(DECLARE_PATH, self.declaration.clone()).await {
            Ok(_) => tracing::info!(app.name = self.registration.key, "the admin has the declared jobs"),
            Err(reason) => {
                tracing::warn!(%reason, "no admin takes the declared jobs; they are sent again when one asks")
            }
        }
    }

    async fn post(&self, path: &str) -> Result<Option<String>, PostError> {
        // A struct of three strings cannot fail to serialize.
        let body = serde_json::to_vec(&self.registration).unwrap_or_default();
        self.admins.post(path, body).await
    }
}

/// The payload of an answer is JSON.
fn asks_for_declaration(payload: &str) -> bool {
    serde_json::from_str::<String>(payload).is_ok_and(|text| text == ASKS_FOR_DECLARATION)
}
