//! The renewal of all loops, in one request if they are not very many, again and again, and their return before the executor stops.

use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{LoopReport, LoopReports, parse_loops};
use tokio::time::{Instant, sleep, timeout};

use super::permission::SentAt;
use super::registry::Loops;
use crate::admin::AdminClient;

const PATH: &str = "/api/loops";
/// How long one admin may take: with a hung one, another one is asked before the leases are over.
const LIMIT: Duration = Duration::from_secs(1);
/// Loops of one request: with the longest texts it is below the limit of the admin, 4 MiB.
const MOST: usize = 500;
/// Loops that are granted together are renewed together.
const GATHER: Duration = Duration::from_millis(10);
/// How long the calls that are going on are waited for before the loops are given back.
const LAST_CALLS: Duration = Duration::from_secs(1);
/// Failures are logged at the first one, then once in this time.
const WARN_EVERY: Duration = Duration::from_secs(60);

impl Loops {
    /// Renews the loops three times in a lease, and at once when one was added.
    pub(crate) async fn renew_always(self: Arc<Self>, admins: Arc<AdminClient>) {
        let mut warned: Option<Instant> = None;
        loop {
            if timeout(self.lease() * 3 / 10, self.added.notified()).await.is_ok() {
                sleep(GATHER).await;
            }
            match self.renew(&admins).await {
                Ok(()) => warned = None,
                Err(reason) if warned.is_none_or(|at| at.elapsed() >= WARN_EVERY) => {
                    tracing::warn!(
                        reason,
                        "no admin renews the loops of this executor; they stand still when their leases are over"
                    );
                    warned = Some(Instant::now());
                }
                Err(_) => {}
            }
        }
    }

    async fn renew(&self, admins: &AdminClient) -> Result<(), String> {
        for reports in self.renewable().chunks(MOST) {
            // Before the request: the admin counts the lease from later.
            let sent = SentAt::now();
            let payload = admins.post_within(PATH, body(reports), LIMIT).await.map_err(|error| error.to_string())?;
            let answer = payload.ok_or("the answer has no payload")?;
            self.apply(sent, reports, parse_loops(answer.as_bytes())?);
        }
        Ok(())
    }

    /// Gives the loops back, which are closed: another executor may have them at once. If no admin answers, their leases run out.
    pub(crate) async fn release(&self, admins: &AdminClient) {
        let _ = timeout(LAST_CALLS, self.calls_ended()).await;
        for reports in self.reports().chunks(MOST) {
            if let Err(reason) = admins.post_within(PATH, body(reports), LIMIT).await {
                tracing::warn!(%reason, "no admin takes the loops back; they go on elsewhere when their leases are over");
                return;
            }
        }
    }
}

fn body(reports: &[LoopReport]) -> Vec<u8> {
    // Numbers and texts cannot fail to serialize.
    serde_json::to_vec(&LoopReports { loops: reports.to_vec() }).unwrap_or_default()
}
