//! Runs as people and API clients see them. A run outlives its job.

use foldhash::HashMap;

use carillon_scheduler::{Cause, FireKey, Millis, RunReason, RunState, Traceparent};

use crate::db::sql::rows::Code;
use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::RunStore;

row_struct! {
    /// A run with the names of what it belongs to.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RunView {
        pub id: i64,
        pub job_id: i64,
        pub app: String,
        /// The job's name; None once it is deleted.
        pub job: Option<String>,
        pub shard: i32,
        pub cause: Cause as Code,
        pub state: RunState as Code,
        pub fire_no: i64,
        /// Which part of its fire, from 0, of how many.
        pub part: i32,
        pub parts: i32,
        /// 1, and more for retries.
        pub attempt: i32,
        pub scheduled_at: Millis,
        pub due_at: Millis,
        pub marked_at: Option<Millis>,
        pub sent_at: Option<Millis>,
        /// When its executor received the request, by that one's clock, if it has said so.
        pub received_at: Option<Millis>,
        pub finished_at: Option<Millis>,
        pub kill_asked_at: Option<Millis>,
        /// When it was flagged, because it was not sent within its job's limit.
        pub flagged_at: Option<Millis>,
        pub address: Option<String>,
        pub epoch: i64,
        pub owner: Option<String>,
        pub sends: i32,
        /// The revision of its job whose definition its request carried. None: it was not sent, or by an older version.
        pub revision: Option<i64>,
        pub reason: Option<String>,
        pub result_code: Option<i32>,
        pub result_msg: Option<String>,
        /// Given with this fire in place of the job's own; read with a single run only.
        pub params: Option<String>,
        /// `params` are those of this part alone; read with a single run only.
        pub is_of_part: Option<bool>,
        /// The address that this fire was bound to; read with a single run only.
        pub bound_address: Option<String>,
        /// The run that this one repeats; read with a single run only.
        pub rerun_of: Option<i64>,
        /// The trace context of the request that asked for it; read with a single run only.
        pub traceparent: Option<String>,
        /// How its executor was chosen; read with a single run only.
        pub candidates_id: Option<i64>,
        pub route_code: Option<i16>,
    }
}

impl RunView {
    /// The trace context of its request: `cluster` is the name of this database's cluster. The run was read by its id.
    pub fn traceparent(&self, cluster: &str) -> Traceparent {
        let key = FireKey { job_id: self.job_id, cause: self.cause, fire_no: self.fire_no, part: self.part };
        let incoming = self.traceparent.as_deref().and_then(Traceparent::parse);
        Traceparent::of_run(cluster, key, self.id, incoming)
    }

    /// What the executor said, or else what the reason means; empty if there is nothing to say.
    pub fn message(&self) -> String {
        match (self.result_msg.as_deref(), self.reason.as_deref()) {
            (Some(text), _) if !text.is_empty() => text.to_owned(),
            (_, Some(reason)) => sentence(reason).map_or_else(|| reason.replace('_', " "), str::to_owned),
            _ => String::new(),
        }
    }
}

/// What a word on a run's row means, for people. None: no version of ours has written it.
pub fn sentence(reason: &str) -> Option<&'static str> {
    Some(match reason.parse().ok()? {
        RunReason::Result => "The executor reported a failure.",
        RunReason::Timeout => "It ran longer than its time-out.",
        RunReason::Refused => "The executor refused it.",
        RunReason::NoExecutor => "No executor of the app could take it in time.",
        RunReason::Interrupted => "The executor stopped while it ran.",
        RunReason::Expired => "It reached the executor too late.",
        RunReason::AppPaused => "Its app was paused when it was due.",
        RunReason::Disabled => "The job was paused before it was sent.",
        RunReason::Deleted => "The job was deleted before it was sent.",
        RunReason::Misfire => "It was missed, and the job's misfire policy skips it.",
        RunReason::Overlap => "An earlier run of the job had not ended.",
        RunReason::Limit => "No slot of a limit was free.",
        RunReason::Operator => "Called off before it was sent.",
        RunReason::LateResult => "An earlier attempt turned out to have succeeded.",
        RunReason::Unconfirmed => "A kill was asked for; the executor never confirmed the end.",
        RunReason::NotReported => "Its executor has no run of this job any more, and no result was reported.",
        RunReason::Replaced => "A later run took its place at the executor, and no result was reported.",
        RunReason::Lost | RunReason::ExecutorGone => "Its executor went away while it ran.",
        RunReason::Node => "A node of the workflow failed.",
        RunReason::Items => "Items of the run failed.",
        RunReason::Unknown | RunReason::Unresolved => "It was sent, but no outcome could be learned.",
    })
}

pub(crate) const COLUMNS: &str = "r.id, r.job_id, a.name AS app, j.name AS job, r.shard, r.cause, r.state, r.fire_no, r.part, r.parts, \
     r.attempt, r.scheduled_at, r.due_at, r.marked_at, r.sent_at, r.received_at, r.finished_at, r.kill_asked_at, r.flagged_at, r.address, \
     r.epoch, r.owner, r.sends, r.revision, r.reason, r.result_code, r.result_msg";
/// What is read with a single run only, and what stands for it elsewhere.
const INPUT: &str =
    "i.params, i.is_of_part, i.address AS bound_address, i.rerun_of, i.traceparent, r.candidates_id, r.route_code";
pub(crate) const NO_INPUT: &str = "NULL AS params, NULL AS is_of_part, NULL AS bound_address, NULL AS rerun_of, NULL AS traceparent, \
     NULL AS candidates_id, NULL AS route_code";
/// The names that go with a run `r`. A job that has moved to another app shows the former one nothing of what it is now.
pub(crate) const NAMES: &str =
    "JOIN app a ON a.id = r.app_id LEFT JOIN job j ON j.id = r.job_id AND j.app_id = r.app_id";

impl RunStore<'_> {
    pub async fn get(self, id: i64) -> Result<Option<RunView>> {
        let text = format!(
            "SELECT {COLUMNS}, {INPUT} FROM run r {NAMES} LEFT JOIN run_input i ON i.run_id = r.id WHERE r.id = ?"
        );
        self.one(&self.read, &text, values![id]).await
    }

    /// The runs with these ids that exist, newest first, each with the id of its app.
    pub async fn with_ids(self, ids: &[i64]) -> Result<Vec<(i64, RunView)>> {
        let text = "SELECT id, app_id FROM run WHERE id IN ({ids})";
        let apps: HashMap<i64, i64> =
            self.tuples(&self.read, text, values![self.ids(ids)]).await?.into_iter().collect();
        let text =
            format!("SELECT {COLUMNS}, {NO_INPUT} FROM run r {NAMES} WHERE r.id IN ({{ids}}) ORDER BY r.id DESC");
        let rows = self.query(&self.read, &text, values![self.ids(ids)]).await?;
        let runs: Vec<RunView> = self.readable("run", &rows);
        Ok(runs.into_iter().filter_map(|run| Some((*apps.get(&run.id)?, run))).collect())
    }

    /// The runs that repeat a run, oldest first: at most 20.
    pub async fn reruns_of(self, run_id: i64) -> Result<Vec<i64>> {
        let text = "SELECT run_id FROM run_input WHERE rerun_of = ? ORDER BY run_id LIMIT 20";
        self.tuples(&self.read, text, values![run_id]).await
    }

    /// The runs of child jobs that the fire of a run has started: at most 100.
    pub async fn child_runs(self, run: &RunView, visible: &VisibleApps) -> Result<Vec<RunView>> {
        let text = "SELECT id FROM run WHERE fire_no = ? AND job_id = ? AND cause = ? AND part = 0 AND attempt = 1";
        let first: Option<i64> =
            self.tuple(&self.read, text, values![run.fire_no, run.job_id, run.cause.code()]).await?;
        let text = format!(
            "SELECT {COLUMNS}, {NO_INPUT} FROM run r {NAMES} WHERE r.fire_no = ? AND r.cause = {{cause.child}}{} \
             ORDER BY r.job_id, r.part, r.attempt LIMIT 100",
            visible.and("r.app_id")
        );
        let rows = self.query(&self.read, &text, values![first.unwrap_or(run.id)]).await?;
        Ok(self.readable("run", &rows))
    }

    /// The runs of a job for one instant, by its schedule or by a backfill. Those of before it has moved are of another app.
    pub async fn runs_of_instant(self, job_id: i64, at: Millis, visible: &VisibleApps) -> Result<Vec<RunView>> {
        let text = format!(
            "SELECT {COLUMNS}, {NO_INPUT} FROM run r {NAMES} WHERE r.fire_no = ? AND r.job_id = ? AND r.cause IN ({{cause.schedule}}, {{cause.backfill}}){} \
             ORDER BY r.cause, r.part, r.attempt",
            visible.and("r.app_id")
        );
        let rows = self.query(&self.read, &text, values![at, job_id]).await?;
        Ok(self.readable("run", &rows))
    }

    /// The runs of a run's fire: its parts, and the attempts of each; of a delivery of items its own attempts alone. Attempts after its
    /// job has moved are of another app.
    pub async fn fire_runs(self, run: &RunView, visible: &VisibleApps) -> Result<Vec<RunView>> {
        let text = format!(
            "SELECT {COLUMNS}, {NO_INPUT} FROM run r {NAMES} WHERE r.fire_no = ? AND r.job_id = ? AND r.cause = ? \
             AND (r.cause <> {{cause.item}} OR r.part = ?){} ORDER BY r.part, r.attempt",
            visible.and("r.app_id")
        );
        let rows = self.query(&self.read, &text, values![run.fire_no, run.job_id, run.cause.code(), run.part]).await?;
        Ok(self.readable("run", &rows))
    }
}
