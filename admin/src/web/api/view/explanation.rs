//! What became of one instant of a job.

use carillon_inspect::explain::{self, Explanation};
use carillon_locale::Language;
use serde::Serialize;
use utoipa::ToSchema;

use super::misfire::MisfireView;
use super::run::RunView;
use super::time::Time;
use super::words;

/// What became of an instant of a job, or why nothing did
#[derive(Serialize, ToSchema)]
#[schema(as = Explanation)]
pub struct ExplanationView {
    /// The job
    #[schema(minimum = 1)]
    job_id: i64,
    /// Its name; null once it is deleted
    job: Option<String>,
    /// The instant
    at: Time,
    #[schema(value_type = words::Verdict)]
    verdict: &'static str,
    /// Of the definition that was in force at that time; null: not known
    revision: Option<i64>,
    /// The instant before it by that definition
    before: Option<Time>,
    /// The instant after it
    after: Option<Time>,
    /// Calendars that exclude its day
    excluded_by: Vec<String>,
    misfire: Option<MisfireView>,
    /// Those by schedule first, then those by backfill; parts and attempts in their order
    runs: Vec<ExplainedRun>,
    /// The same for people, in sentences
    story: Vec<String>,
}

/// A run of the instant, with what the server records about it
#[derive(Serialize, ToSchema)]
#[schema(as = Explained)]
struct ExplainedRun {
    run: RunView,
    /// The node that held it last
    node: Option<String>,
    /// Of the shard, when the run was last taken; 0: no node has taken it
    epoch: i64,
    /// The shard of its job at that time
    shard: i32,
    /// When its sending was allowed
    marked_at: Option<Time>,
    /// Requests started
    sends: i32,
    /// From its due time to its request
    late_ms: Option<i64>,
    /// The reason of its end, in one word
    reason: Option<String>,
    /// What the executor reported
    result_code: Option<i32>,
}

impl From<Explanation> for ExplanationView {
    fn from(found: Explanation) -> Self {
        Self {
            story: found.sentences(Language::English),
            job_id: found.job_id,
            job: found.job,
            at: Time(found.at),
            verdict: found.verdict.as_str(),
            revision: found.revision,
            before: found.nearby.before.map(Time),
            after: found.nearby.after.map(Time),
            excluded_by: found.nearby.excluded_by,
            misfire: found.misfire.map(MisfireView::from),
            runs: found.runs.into_iter().map(ExplainedRun::from).collect(),
        }
    }
}

impl From<explain::ExplainedRun> for ExplainedRun {
    fn from(explained: explain::ExplainedRun) -> Self {
        let run = explained.run;
        Self {
            node: run.owner.clone(),
            epoch: run.epoch,
            shard: run.shard,
            marked_at: run.marked_at.map(Time),
            sends: run.sends,
            late_ms: run.sent_at.map(|sent| sent - run.due_at),
            reason: run.reason.clone(),
            result_code: run.result_code,
            run: RunView::from(run).with_details(&explained.params, explained.choice),
        }
    }
}
