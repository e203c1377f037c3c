//! Several runs in one request: Carillon's own addition for executors that announce the capability `batch`.

use serde::{Deserialize, Serialize};

use crate::codes::SUCCESS;
use crate::run_request::RunRequest;

/// Runs of one `POST /runs` at most.
pub const MAX_BATCH_RUNS: usize = 500;

/// Body of `POST /runs`: runs that are due together, in the order in which they should start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunBatch {
    /// 1 to [`MAX_BATCH_RUNS`] runs, each id once.
    pub runs: Vec<BatchRun>,
}

/// One run of a batch: the body of `/run`, and what travels there in [`headers`](crate::headers).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchRun {
    /// The body of `/run`.
    pub run: RunRequest,
    /// See [`FIRE_KEY`](crate::headers::FIRE_KEY).
    pub fire_key: String,
    /// UTC epoch milliseconds, see [`SCHEDULED_AT`](crate::headers::SCHEDULED_AT).
    pub scheduled_at: i64,
    /// 1, 2 …
    pub attempt: u32,
    /// See [`EPOCH`](crate::headers::EPOCH).
    pub epoch: i64,
    /// UTC epoch milliseconds, see [`NOT_AFTER`](crate::headers::NOT_AFTER).
    pub not_after: i64,
    /// See [`PHASE`](crate::headers::PHASE).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// See [`TRACEPARENT`](crate::headers::TRACEPARENT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// Answer to `POST /runs`. A code other than 200 refuses all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BatchAnswer {
    code: i32,
    /// One answer for each run, in any order.
    pub content: Vec<RunAnswer>,
}

impl BatchAnswer {
    /// The answers of all runs of a request.
    pub fn new(content: Vec<RunAnswer>) -> Self {
        Self { code: SUCCESS, content }
    }
}

/// What `/run` would have answered for one run of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunAnswer {
    /// The run.
    pub log_id: i64,
    /// 200: it is started or queued, or was before; any other code: it is refused.
    pub code: i32,
    /// Why it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msg: Option<String>,
    /// Of a run that the executor had already: `queued`, `running` or `finished`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_state: Option<String>,
    /// See [`RECEIVED_AT`](crate::headers::RECEIVED_AT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, parse_answer};

    #[test]
    fn a_batch_is_read_as_it_was_written() {
        let run = RunRequest { job_id: 7, handler: "hello".into(), log_id: 42, ..RunRequest::default() };
        let item = BatchRun {
            run,
            fire_key: "7:s:1:0".into(),
            scheduled_at: 5,
            attempt: 2,
            epoch: 3,
            not_after: 9,
            phase: None,
            traceparent: None,
        };
        let batch = RunBatch { runs: vec![item] };
        let json = serde_json::to_string(&batch).unwrap();
        assert!(json.starts_with(r#"{"runs":[{"run":{"jobId":7,"#) && json.contains(r#""notAfter":9"#), "{json}");
        assert_eq!(serde_json::from_str::<RunBatch>(&json).unwrap(), batch);
    }

    #[test]
    fn each_run_has_its_own_answer() {
        let refused = RunAnswer { log_id: 2, code: 500, msg: Some("no".into()), run_state: None, received_at: None };
        let running =
            RunAnswer { log_id: 1, code: 200, msg: None, run_state: Some("running".into()), received_at: Some(7) };
        let answer = BatchAnswer::new(vec![running, refused]);
        let json = serde_json::to_vec(&answer).unwrap();
        let Verdict::Accepted { content: Some(content), .. } = parse_answer(200, &json) else {
            panic!("{}", String::from_utf8_lossy(&json));
        };
        assert_eq!(serde_json::from_str::<Vec<RunAnswer>>(&content).unwrap(), answer.content);
    }
}
