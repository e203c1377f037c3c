//! What an import leaves for the page *Import*.

use carillon_scheduler::Millis;
use carillon_store::Store;
use carillon_store::import::reports::StoredReport;
use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use super::super::error::Error;
use super::super::import::Imported;
use super::super::plan::ImportPlan;
use super::{Finding, Report};

/// The report of the last import from a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRecord {
    /// Of xxl-job.
    pub releases: String,
    /// Running cron jobs whose next instant fits the time zone, and all of them.
    pub zone_agrees: usize,
    pub zone_of: usize,
    pub created: usize,
    pub changed: usize,
    pub unchanged: usize,
    pub findings: Vec<RecordedCode>,
}

/// The rows that a code concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCode {
    pub code: String,
    pub rows: Vec<RecordedRow>,
}

/// A row of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRow {
    /// `job 17`, `app shop`, `user anna`
    pub of: String,
    pub text: String,
    /// The job that it has become.
    pub job_id: Option<i64>,
}

impl ImportRecord {
    pub(crate) fn new(plan: &ImportPlan, done: &Imported, job_ids: &HashMap<i64, i64>) -> Self {
        let row = |Finding { of, text }: &Finding| RecordedRow {
            job_id: of.strip_prefix("job ").and_then(|id| job_ids.get(&id.parse().ok()?)).copied(),
            of: of.clone(),
            text: text.clone(),
        };
        let all = plan.report.findings().chain(Report::findings(&done.refused));
        let findings =
            all.map(|(code, rows)| RecordedCode { code: code.to_owned(), rows: rows.iter().map(row).collect() });
        Self {
            releases: plan.shape.releases().to_owned(),
            zone_agrees: plan.zone.agree,
            zone_of: plan.zone.of,
            created: done.created,
            changed: done.changed,
            unchanged: plan.unchanged,
            findings: findings.collect(),
        }
    }

    pub(crate) async fn keep(&self, source: &str, store: &Store, now: Millis) -> Result<(), Error> {
        // Numbers and texts alone.
        let report = serde_json::to_string(self).unwrap_or_default();
        let report = StoredReport { source: source.to_owned(), imported_at: now, report };
        Ok(store.imports().keep_report(&report).await?)
    }
}
