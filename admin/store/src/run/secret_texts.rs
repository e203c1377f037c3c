//! Which secrets the parameters of runs may have named, for what must not be shown of them.

use crate::error::Result;
use crate::views::RunStore;

/// Parameters that a run may have been sent with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingText {
    pub run_id: i64,
    /// The app of the run, and that of its job, which may have moved since.
    pub app_ids: [i64; 2],
    pub text: String,
}

impl RunStore<'_> {
    /// The parameters of these runs' jobs that may name secrets: those of now, those of before that are on record, and those that the runs
    /// repeat. A run whose job has never named a secret has none.
    pub async fn naming_texts(self, run_ids: &[i64]) -> Result<Vec<NamingText>> {
        const RUNS: &str = "SELECT run.id, run.app_id, COALESCE(job.app_id, run.app_id), t.params FROM run \
                            LEFT JOIN job ON job.id = run.job_id JOIN";
        const NAMES: &str = "run.id IN ({ids}) AND t.params LIKE '%secret.%'";
        let text = format!(
            "{RUNS} job_params AS t ON t.job_id = run.job_id WHERE {NAMES} \
             UNION ALL {RUNS} job_params_history AS t ON t.job_id = run.job_id WHERE {NAMES} \
             UNION ALL {RUNS} run_input AS t ON t.run_id = run.id AND t.repeats_saved = TRUE WHERE {NAMES}"
        );
        let ids = || self.ids(run_ids);
        let rows = self.tuples(&self.engine_reads, &text, values![ids(), ids(), ids()]).await?;
        let naming = |(run_id, of_run, of_job, text)| NamingText { run_id, app_ids: [of_run, of_job], text };
        Ok(rows.into_iter().map(naming).collect())
    }
}
