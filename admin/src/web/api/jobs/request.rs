//! The schemas of the requests that carry a job. [`definition`](super::definition) reads them member by member.
#![expect(dead_code, reason = "describes JSON that other types read")]

use utoipa::openapi::{ArrayBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::definition::{MAX_JOBS, READ_ONLY};
use crate::web::api::extract::edited;
use crate::web::api::extract::parameter::add;
use crate::web::api::view::{JobRequest, JobSettings, Time};

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
        add::<JobRequest>(schemas);
    }
}

#[derive(ToSchema)]
pub struct JobWithId {
    /// If given, it must be the one of the path
    #[schema(required = false)]
    id: i64,
    #[serde(flatten)]
    job: JobRequest,
}

edited!(JobUpdate: "job" of JobWithId, READ_ONLY, "the whole job", "The whole job; an answer may be changed and sent back");

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
