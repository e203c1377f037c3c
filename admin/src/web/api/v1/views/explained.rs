//! The story of an instant.

use carillon_scheduler::Millis;
use serde::Serialize;

use super::super::time;
use super::{MisfireJson, RunJson};
use crate::pipeline::explain::{Explanation, Told};

#[derive(Serialize)]
pub struct ExplanationJson {
    job_id: i64,
    job: Option<String>,
    #[serde(serialize_with = "time::required")]
    at: Millis,
    verdict: &'static str,
    revision: Option<i64>,
    #[serde(serialize_with = "time::optional")]
    before: Option<Millis>,
    #[serde(serialize_with = "time::optional")]
    after: Option<Millis>,
    excluded_by: Vec<String>,
    misfire: Option<MisfireJson>,
    runs: Vec<SentJson>,
    story: Vec<String>,
}

#[derive(Serialize)]
struct SentJson {
    run: RunJson,
    node: Option<String>,
    epoch: i64,
    shard: i32,
    #[serde(serialize_with = "time::optional")]
    marked_at: Option<Millis>,
    sends: i32,
    late_ms: Option<i64>,
    reason: Option<String>,
    result_code: Option<i32>,
}

impl From<Explanation> for ExplanationJson {
    fn from(found: Explanation) -> Self {
        Self {
            story: found.story(),
            job_id: found.job_id,
            job: found.job,
            at: found.at,
            verdict: found.verdict.as_str(),
            revision: found.revision,
            before: found.nearby.before,
            after: found.nearby.after,
            excluded_by: found.nearby.excluded_by,
            misfire: found.misfire.map(MisfireJson::from),
            runs: found.runs.into_iter().map(SentJson::from).collect(),
        }
    }
}

impl From<Told> for SentJson {
    fn from(told: Told) -> Self {
        let run = told.run;
        Self {
            node: run.owner.clone(),
            epoch: run.epoch,
            shard: run.shard,
            marked_at: run.marked_at,
            sends: run.sends,
            late_ms: run.sent_at.map(|sent| sent - run.due_at),
            reason: run.reason.clone(),
            result_code: run.result_code,
            run: RunJson::from(run).with(&told.params, told.choice),
        }
    }
}
