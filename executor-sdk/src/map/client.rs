//! Requests about items, repeated until an admin accepts or refuses them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::admin::{AdminClient, PostError};
use crate::handler::JobError;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A request about items.
#[derive(Clone, Copy)]
pub(super) enum Request {
    /// A page of items.
    Page,
    /// Results of items.
    Results,
    /// Items with their results are read.
    Read,
}

impl Request {
    fn path(self) -> &'static str {
        match self {
            Self::Page => "/api/map",
            Self::Results => "/api/map/results",
            Self::Read => "/api/map/items",
        }
    }

    /// What the request is about, for messages.
    fn subject(self) -> &'static str {
        match self {
            Self::Page => "the items of this run",
            Self::Results => "the results of items",
            Self::Read => "the request for results of items",
        }
    }
}

/// Sends requests about items to the admins.
#[derive(Clone)]
pub(crate) struct ItemClient {
    admins: Arc<AdminClient>,
    /// Its threads make the requests. Connections are shared with the heartbeats, so handlers that block their own runtime must not hold
    /// one up.
    runtime: Handle,
}

impl ItemClient {
    pub(crate) fn new(admins: Arc<AdminClient>, runtime: Handle) -> Self {
        Self { admins, runtime }
    }

    /// Sends the request, and again after 250 ms, 500 ms … 15 s while it is unclear whether an admin has taken it. Returns the payload of the
    /// answer as its JSON.
    ///
    /// # Errors
    /// The admin refuses the request, or `until` completes first.
    pub(super) async fn post(
        &self,
        request: Request,
        body: &(impl Serialize + Sync),
        until: impl Future<Output = ()> + Send,
    ) -> Result<Option<String>, JobError> {
        let body = serde_json::to_vec(body)?;
        let (mut until, mut pause) = (pin!(until), FIRST_PAUSE);
        let mut last_reason = String::new();
        loop {
            let reason = tokio::select! {
                biased;
                posted = self.post_once(request, body.clone()) => match posted {
                    Ok(payload) => return Ok(payload),
                    Err(error) => reason_to_repeat(request, &error)?,
                },
                () = &mut until => return Err(cancelled(request, &last_reason)),
            };
            tracing::warn!(%reason, retry_ms = pause.as_millis() as u64, "no admin takes {}; retrying", request.subject());
            last_reason = reason;
            tokio::select! {
                () = sleep(pause.mul_f64(rand::random_range(0.8..1.2))) => {}
                () = &mut until => return Err(cancelled(request, &last_reason)),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn post_once(&self, request: Request, body: Vec<u8>) -> Result<Option<String>, PostError> {
        let admins = Arc::clone(&self.admins);
        let posted = self.runtime.spawn(async move { admins.post(request.path(), body).await });
        // The runtime ends after the runs, so an error here comes with the end of this future.
        posted.await.unwrap_or_else(|_| Err(PostError::default()))
    }
}

/// Why the request should be sent again; an error if a repetition would be answered in the same way.
fn reason_to_repeat(request: Request, error: &PostError) -> Result<String, JobError> {
    if let Some(reason) = &error.refusal {
        return Err(JobError::new(format!("the admin refuses {}: {reason}", request.subject())));
    }
    if error.is_unknown_path() {
        let text = "the admin knows no items of runs: it is no Carillon admin, or an older version";
        return Err(JobError::new(format!("{text} ({error})")));
    }
    Ok(error.to_string())
}

fn cancelled(request: Request, last_reason: &str) -> JobError {
    let reason = if last_reason.is_empty() { String::new() } else { format!(": {last_reason}") };
    JobError::new(format!("cancelled before an admin took {}{reason}", request.subject()))
}
