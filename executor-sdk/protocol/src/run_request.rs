//! The request that starts a run, and the small bodies that name a job.

use serde::Serialize;

use crate::members::members;

/// `glueType` of a handler that the executor's program registered; the other types carry source text.
pub const GLUE_BEAN: &str = "BEAN";

/// Body of `POST /run` (`/trigger` for the Java snapshot after 3.4): exactly these twelve members, always all of them.
///
/// An additional member makes a published Python executor answer HTTP 500, a missing one makes another refuse the run.
/// Carillon's own values are sent in [`headers`](crate::headers).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunRequest {
    /// The job, 1 … 2^31 - 1. Executors keep one queue for each.
    #[serde(rename = "jobId")]
    pub job_id: i32,
    /// Name of the handler.
    #[serde(rename = "executorHandler")]
    pub handler: String,
    /// Parameter text, up to 64 KiB.
    #[serde(rename = "executorParams")]
    pub params: String,
    /// See [`BlockStrategy`](crate::BlockStrategy).
    #[serde(rename = "executorBlockStrategy")]
    pub block_strategy: String,
    /// Time limit of the handler in seconds; 0 and below mean none.
    #[serde(rename = "executorTimeout")]
    pub timeout_seconds: i32,
    /// The run, 1 … 2^53 - 1. The result is called back under this id.
    #[serde(rename = "logId")]
    pub log_id: i64,
    /// The run's due instant, UTC epoch milliseconds. The executor derives the day folder of its log file from it, so it is
    /// the same in every request about the run.
    #[serde(rename = "logDateTime")]
    pub log_date_time: i64,
    /// [`GLUE_BEAN`] or a script type.
    #[serde(rename = "glueType")]
    pub glue_type: String,
    /// Script source; empty for [`GLUE_BEAN`].
    #[serde(rename = "glueSource")]
    pub glue_source: String,
    /// Last change of the source, UTC epoch milliseconds.
    #[serde(rename = "glueUpdatetime")]
    pub glue_updatetime: i64,
    /// The index within a broadcast, from 0.
    #[serde(rename = "broadcastIndex")]
    pub broadcast_index: i32,
    /// Number of runs of the broadcast; 1 without broadcast, because handlers compute `index % total`.
    #[serde(rename = "broadcastTotal")]
    pub broadcast_total: i32,
}

members! {
    RunRequest: "a run request, which is a JSON object" {
        "jobId" => job_id: int32,
        "executorHandler" => handler: text,
        "executorParams" => params: text,
        "executorBlockStrategy" => block_strategy: text,
        "executorTimeout" => timeout_seconds: int32,
        "logId" => log_id: int64,
        "logDateTime" => log_date_time: int64,
        "glueType" => glue_type: text,
        "glueSource" => glue_source: text,
        "glueUpdatetime" => glue_updatetime: int64,
        "broadcastIndex" => broadcast_index: int32,
        "broadcastTotal" => broadcast_total: int32,
    }
}

/// Body of `/kill` and `/idleBeat`: the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobRef {
    /// The job, 1 … 2^31 - 1.
    #[serde(rename = "jobId")]
    pub job_id: i32,
}

members! {
    JobRef: "a JSON object with jobId" {
        "jobId" => job_id: int32,
    }
}
