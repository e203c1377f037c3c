//! Jobs that fail now; those of one app that fail for the same reason are one line.

use std::collections::HashMap;

use carillon_store::RunView;
use carillon_store::run::view::dashboard::FailingJob;

use crate::web::console::runs::row::RunRow;
use crate::web::page::{PageContext, PageError};
use crate::web::state::State;

/// Lines that are shown.
const LINES: usize = 12;

#[derive(Default)]
pub struct FailingJobs {
    pub lines: Vec<FailingLine>,
    pub jobs: usize,
    /// There are more than the lines stand for.
    pub has_more: bool,
}

/// The job with most failures in a row, and how many others there are.
pub struct FailingLine {
    pub failing: FailingJob,
    pub row: RunRow,
    pub others: usize,
}

pub async fn failing_jobs(state: &State, context: &PageContext) -> Result<FailingJobs, PageError> {
    let failing = state.store.runs().failing_jobs(&context.visible()).await?;
    let ids: Vec<i64> = failing.iter().map(|job| job.last_run).collect();
    let mut runs: HashMap<i64, RunView> =
        state.store.runs().with_ids(&ids).await?.into_iter().map(|(_, run)| (run.id, run)).collect();
    let mut found = FailingJobs::default();
    for failing in failing {
        let Some(run) = runs.remove(&failing.last_run) else { continue };
        found.jobs += 1;
        let row = RunRow::new(context, run);
        let is_same = |line: &&mut FailingLine| line.row.run.app == row.run.app && line.row.message == row.message;
        match found.lines.iter_mut().find(is_same) {
            Some(line) => line.others += 1,
            None => found.lines.push(FailingLine { failing, row, others: 0 }),
        }
    }
    found.has_more = found.lines.len() > LINES;
    found.lines.truncate(LINES);
    Ok(found)
}
