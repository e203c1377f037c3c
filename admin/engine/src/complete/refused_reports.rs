//! Results that count for nothing: of runs that were never sent, or that another executor has. They are answered as results
//! of unknown runs are, so the audit and the log are where they are seen.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use carillon_scheduler::{AuditAction, Millis};
use carillon_store::run::settle::finding::{Reporter, ReporterToken, Settlement};
use carillon_store::{Actor, Grants};
use serde_json::json;

use crate::context::Context;
use crate::runtime::lock;

/// Rows of the audit in each minute: who holds a token can send any number of such results.
const ROWS: usize = 10;
const MINUTE_MS: Millis = 60_000;

pub struct RefusedReports {
    cx: Arc<Context>,
    /// When the last rows were written.
    written: Mutex<VecDeque<Millis>>,
}

impl RefusedReports {
    pub fn new(cx: Arc<Context>) -> Self {
        Self { cx, written: Mutex::default() }
    }

    /// Counts them all; writes some down.
    pub async fn record(&self, settled: &Settlement) {
        let metrics = &self.cx.metrics;
        metrics.results_unsent.inc_by(settled.unsent.len() as u64);
        metrics.results_foreign.inc_by(settled.foreign.len() as u64);
        let foreign = settled.foreign.iter().map(|(run_id, reporter)| (*run_id, reporter, "sent to another executor"));
        let unsent =
            settled.unsent.iter().filter_map(|(run_id, reporter)| Some((*run_id, reporter.as_ref()?, "never sent")));
        for (run_id, reporter, why) in foreign.chain(unsent) {
            if !self.may_write() {
                return;
            }
            self.write(run_id, reporter, why).await;
        }
    }

    async fn write(&self, run_id: i64, reporter: &Reporter, why: &str) {
        let token = match reporter.token {
            ReporterToken::Global { .. } => "access token".to_owned(),
            ReporterToken::OfApp { token_id, .. } => format!("executor token {token_id}"),
        };
        let source = reporter.source.as_str();
        tracing::warn!(
            run.id = run_id,
            client.address = source,
            actor.name = token,
            reason = why,
            "a result was reported that changes nothing"
        );
        let actor = Actor::new(token, source, Grants::default());
        let detail = json!({"reason": why, "boot_id": reporter.boot_id});
        let (store, now) = (&self.cx.store, self.cx.clock.now());
        if let Err(error) = store.record_audit(&actor, AuditAction::RefuseResult, ("run", run_id), detail, now).await {
            tracing::warn!(%error, run.id = run_id, "a refused result could not be written to the audit");
        }
    }

    fn may_write(&self) -> bool {
        let now = self.cx.clock.now();
        let mut written = lock(&self.written);
        written.retain(|at| now - at < MINUTE_MS);
        let may = written.len() < ROWS;
        if may {
            written.push_back(now);
        }
        may
    }
}
