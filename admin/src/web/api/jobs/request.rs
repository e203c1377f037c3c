//! The schemas of the requests that carry a job. [`definition`](super::definition) reads them member by member.
#![expect(dead_code, reason = "describes JSON that other types read")]

use serde_json::Value;
use utoipa::openapi::{ArrayBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::write::MAX_JOBS;
use crate::web::api::view::{JobIdentity, JobSettings, Time};

/// A new job
#[derive(ToSchema)]
pub struct JobRequest {
    #[serde(flatten)]
    identity: JobIdentity,
    #[serde(flatten)]
    settings: JobSettings,
}

/// New jobs, 1 to 1000
pub struct JobBatch;

impl PartialSchema for JobBatch {
    fn schema() -> RefOr<Schema> {
        let jobs = ArrayBuilder::new().items(Ref::from_schema_name(JobRequest::name()));
        jobs.min_items(Some(1)).max_items(Some(MAX_JOBS)).into()
    }
}

impl ToSchema for JobBatch {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((JobRequest::name().into(), JobRequest::schema()));
        JobRequest::schemas(schemas);
    }
}

/// The whole job; an answer may be changed and sent back
#[derive(ToSchema)]
pub struct JobUpdate {
    #[serde(flatten)]
    identity: JobIdentity,
    #[serde(flatten)]
    settings: JobSettings,
    /// If given, it must be the one of the path
    #[schema(required = false)]
    id: i64,
    /// The revision that you have seen: the update is refused (409 `changed`) if the job has another one by now
    #[schema(required = false)]
    revision: i64,
    /// Next fire; taken from an answer, ignored here
    #[schema(required = false)]
    next_fire_at: Value,
    /// Why the engine paused it; taken from an answer, ignored here
    #[schema(required = false)]
    paused_reason: Value,
    /// Its pause; taken from an answer, ignored here
    #[schema(required = false)]
    pause: Value,
    /// Offset; taken from an answer, ignored here
    #[schema(required = false)]
    spread_offset_seconds: Value,
    /// Runs that are left; taken from an answer, ignored here
    #[schema(required = false)]
    fires_left: Value,
    /// Creation; taken from an answer, ignored here
    #[schema(required = false)]
    created_at: Value,
    /// Last change; taken from an answer, ignored here
    #[schema(required = false)]
    updated_at: Value,
}

/// A job as it would be sent, or its `schedule` alone. With any of `app`, `name` and `handler` the whole job is checked
#[derive(ToSchema)]
pub struct PreviewRequest {
    /// Name of the app whose executors run it
    #[schema(min_length = 4, max_length = 64, required = false)]
    app: String,
    /// For people; need not be unique
    #[schema(min_length = 1, max_length = 255, required = false)]
    name: String,
    /// The name under which the executor knows what to run
    #[schema(min_length = 1, max_length = 255, required = false)]
    handler: String,
    #[serde(flatten)]
    settings: JobSettings,
    /// How many instants are listed
    #[schema(minimum = 1, maximum = 1_000, default = 10, required = false)]
    count: u32,
    /// Instants after this, with any offset; now if left out
    #[schema(required = false)]
    from: Time,
    /// The job that is to be changed: its anchor, offset and fires left are kept as the change would keep them
    #[schema(minimum = 1, required = false)]
    job_id: i64,
}
