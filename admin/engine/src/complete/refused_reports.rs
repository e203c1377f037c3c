//! Results that count for nothing: of runs that were never sent, or that another executor has. They are answered as results
//! of unknown runs are, so the audit and the log are where they are seen.

use std::sync::Arc;

use carillon_scheduler::AuditAction;
use carillon_store::run::settle::finding::{Reporter, ReporterToken, Settlement};
use carillon_store::{Actor, AuditObject, Grants};
use serde_json::json;

use crate::context::Context;

pub struct RefusedReports {
    pub cx: Arc<Context>,
}

impl RefusedReports {
    /// Counts them all; the audit keeps some of each minute.
    pub async fn record(&self, settled: &Settlement) {
        self.cx.metrics.results_unsent.inc_by(settled.unsent.len() as u64);
        self.cx.metrics.results_foreign.inc_by(settled.foreign.len() as u64);
        for (list, reason) in [(&settled.foreign, "sent to another executor"), (&settled.unsent, "never sent")] {
            let Some((first, _, _)) = list.first() else {
                continue;
            };
            tracing::warn!(run.count = list.len(), run.id = first, reason, "results were reported that change nothing");
            for (run_id, app_id, reporter) in list {
                if let Some(reporter) = reporter {
                    self.write(AuditObject::run(*run_id, *app_id), reporter, reason).await;
                }
            }
        }
    }

    async fn write(&self, run: AuditObject, reporter: &Reporter, reason: &str) {
        let token = match reporter.token {
            ReporterToken::Global { .. } => None,
            ReporterToken::OfApp { token_id, .. } => Some(token_id),
        };
        let actor = Actor::new("executor", reporter.source.as_str(), Grants::default());
        let detail = json!({"reason": reason, "executor_token": token, "boot_id": reporter.boot_id});
        let (store, now) = (&self.cx.store, self.cx.clock.now());
        if let Err(error) = store.audit().record_refusal(&actor, AuditAction::RefuseResult, run, detail, now).await {
            tracing::warn!(%error, "a refused result could not be written to the audit");
        }
    }
}
