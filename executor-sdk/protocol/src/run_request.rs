//! The request that starts a run, and the small bodies that name a job.

use serde::de::MapAccess;
use serde::{Deserialize, Deserializer, Serialize};

use crate::members::{self, Members};

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

impl Members for RunRequest {
    const WHAT: &'static str = "a run request, which is a JSON object";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "jobId" => self.job_id = members::int32(map, name)?,
            "executorHandler" => self.handler = members::text(map)?.unwrap_or_default(),
            "executorParams" => self.params = members::text(map)?.unwrap_or_default(),
            "executorBlockStrategy" => {
                self.block_strategy = members::text(map)?.unwrap_or_default();
            }
            "executorTimeout" => self.timeout_seconds = members::int32(map, name)?,
            "logId" => self.log_id = members::int64(map, name)?,
            "logDateTime" => self.log_date_time = members::int64(map, name)?,
            "glueType" => self.glue_type = members::text(map)?.unwrap_or_default(),
            "glueSource" => self.glue_source = members::text(map)?.unwrap_or_default(),
            "glueUpdatetime" => self.glue_updatetime = members::int64(map, name)?,
            "broadcastIndex" => self.broadcast_index = members::int32(map, name)?,
            "broadcastTotal" => self.broadcast_total = members::int32(map, name)?,
            _ => members::skip(map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for RunRequest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        members::read_object(from)
    }
}

/// Body of `/kill` and `/idleBeat`: the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobRef {
    /// The job, 1 … 2^31 - 1.
    #[serde(rename = "jobId")]
    pub job_id: i32,
}

impl Members for JobRef {
    const WHAT: &'static str = "a JSON object with jobId";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "jobId" => self.job_id = members::int32(map, name)?,
            _ => members::skip(map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for JobRef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        members::read_object(from)
    }
}
