//! Loops: Carillon's own addition. One executor fires a job by itself, as long as an admin renews its lease.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes of the body of `POST /api/loops` at most.
pub const MAX_LOOP_REPORT_BYTES: usize = 4 << 20;
/// Bytes of the text of a call at most. Longer ones are cut.
pub const MAX_LOOP_TEXT_BYTES: usize = 1 << 10;
/// Upper bounds of the classes of [`LoopCounters::lateness`], in ms; the last class has none.
pub const LOOP_LATENESS_MS: [u32; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/// Body of `POST /loop`: an executor gets a loop. The request itself allows no call, for it may be late: the first renewal does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopGrant {
    /// The job.
    pub job_id: i32,
    /// Of this grant: it grows with each one of the job.
    pub epoch: i64,
    /// Name of the handler.
    pub handler: String,
    /// Parameter text, up to 64 KiB.
    #[serde(default)]
    pub params: String,
    /// Time limit of a call in seconds; 0 and below mean none.
    #[serde(default)]
    pub timeout_seconds: i32,
}

/// Body of `POST /loop/stop`: the loop of the job ends, if its epoch is not above this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopStop {
    /// The job.
    pub job_id: i32,
    /// Above that of the grant.
    pub epoch: i64,
    /// The start of the executor that has the loop. Another one at its address must not confirm: the one before may live on without it.
    pub boot_id: String,
}

/// Body of `POST /loop/recent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopRef {
    /// The job.
    pub job_id: i32,
}

/// Body of `POST /api/loops`: what an executor reports of all its loops, and with that asks to keep them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopReports {
    /// One for each.
    pub loops: Vec<LoopReport>,
}

/// The report of one loop. Its numbers count since the grant, so that a repeated one changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopReport {
    /// The job.
    pub job_id: i32,
    /// Of the grant.
    pub epoch: i64,
    /// What its calls came to.
    pub counters: LoopCounters,
    /// The instant of the last call, UTC epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_fired_at: Option<i64>,
    /// The last call that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<LoopFailure>,
    /// The loop has ended here, and is given back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
}

/// A call that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopFailure {
    /// Its instant, UTC epoch milliseconds.
    pub at: i64,
    /// At most [`MAX_LOOP_TEXT_BYTES`].
    pub text: String,
}

/// What the calls of a loop came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoopCounters {
    /// Calls that were started.
    pub fired: u64,
    /// Of those, the ones that succeeded.
    pub succeeded: u64,
    /// Those that failed.
    pub failed: u64,
    /// Instants without a call: the call before was going on, the process was held up, or the lease was not renewed in time.
    pub skipped: u64,
    /// Calls that are going on.
    pub running: u64,
    /// Calls that have failed since the last one that succeeded.
    pub failed_in_row: u64,
    /// How many calls started late by at most each of [`LOOP_LATENESS_MS`], and by more.
    pub lateness: Vec<u64>,
}

impl LoopCounters {
    /// Counts a call that has started.
    pub fn count_start(&mut self, late_us: u64) {
        self.fired += 1;
        let class = LOOP_LATENESS_MS.iter().position(|bound| late_us <= u64::from(*bound) * 1_000);
        self.lateness.resize(LOOP_LATENESS_MS.len() + 1, 0);
        self.lateness[class.unwrap_or(LOOP_LATENESS_MS.len())] += 1;
    }

    /// Adds those of a later grant.
    pub fn add(&mut self, later: &Self) {
        self.fired = self.fired.saturating_add(later.fired);
        self.succeeded = self.succeeded.saturating_add(later.succeeded);
        self.failed = self.failed.saturating_add(later.failed);
        self.skipped = self.skipped.saturating_add(later.skipped);
        self.running = later.running;
        let goes_on = if later.succeeded == 0 { self.failed_in_row } else { 0 };
        self.failed_in_row = later.failed_in_row.saturating_add(goes_on);
        if self.lateness.len() < later.lateness.len() {
            self.lateness.resize(later.lateness.len(), 0);
        }
        for (sum, count) in self.lateness.iter_mut().zip(&later.lateness) {
            *sum = sum.saturating_add(*count);
        }
    }
}

/// The payload of the answer to [`LoopReports`]. A loop that was reported and is not in the list is over: the executor ends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopRenewals {
    /// The admin's time as it answers, UTC epoch milliseconds.
    pub now: i64,
    /// How long the leases last, from when the request was sent at the earliest.
    pub lease_ms: u32,
    /// Those that the executor has.
    pub loops: Vec<RenewedLoop>,
}

/// A loop whose lease was renewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenewedLoop {
    /// The job.
    pub job_id: i32,
    /// Of the grant.
    pub epoch: i64,
    /// When it fires.
    pub timing: LoopTiming,
}

/// When a loop fires, by the admin's time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum LoopTiming {
    /// At `from` and each whole number of periods before and after it.
    Rate {
        /// In ms, 1 and more.
        period_ms: u32,
        /// UTC epoch milliseconds.
        from: i64,
    },
    /// After the end of the call before.
    Delay {
        /// In ms.
        delay_ms: u32,
    },
    /// At these instants, and at those of the answers that follow.
    Instants {
        /// UTC epoch milliseconds, the first one first.
        at: Vec<i64>,
    },
}

/// The payload of the answer to a [`LoopRef`]: what the executor remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopHistory {
    /// The last calls, the newest first.
    pub runs: Vec<LoopRun>,
    /// The last ones that failed.
    pub failures: Vec<LoopRun>,
}

/// A call that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopRun {
    /// Its instant, UTC epoch milliseconds.
    pub at: i64,
    /// By how much it started later, in microseconds.
    pub late_us: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// 200 success, 502 time-out, anything else failure.
    pub code: i32,
    /// Result, or why it failed; at most [`MAX_LOOP_TEXT_BYTES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Parses one of the bodies and payloads about loops.
///
/// # Errors
/// A message for the peer.
pub fn parse_loops<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("what is said about loops cannot be read: {error}"))
}
