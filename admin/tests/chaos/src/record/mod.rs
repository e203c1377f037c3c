//! What a run of the suite leaves behind, and all that the checker may look at: plain files and a dump of the database.

pub mod event;
pub mod fault;
pub mod files;
pub mod fire;
pub mod items;
pub mod rows;

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

pub use event::{Event, What};
pub use fault::{Class, Fault};
pub use fire::Fire;
pub use items::{DeliveryRow, ItemRow, ItemState, MapRow};
pub use rows::{MisfireRow, RunRow, State};

/// When a job fires, in the words of the suite's own oracle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Schedule {
    None,
    /// `anchor + k · seconds`, k ≥ 1.
    Rate {
        seconds: i64,
        anchor: Millis,
    },
    /// Second, minute and hour of a UTC wall clock; the day fields are `*`.
    Cron {
        expression: String,
    },
    Once {
        at: Millis,
    },
}

/// A job as the suite made it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub id: i64,
    pub name: String,
    /// Which part of the load it is: `every_2`, `latest`, `herd` …
    pub group: String,
    pub app: String,
    pub schedule: Schedule,
    pub created_at: Millis,
    pub retries: i32,
    pub catch_up: String,
    /// As it was sent to the API.
    #[serde(default)]
    pub draft: serde_json::Value,
    /// Jobs that run after it.
    #[serde(default)]
    pub children: Vec<i64>,
}

impl Job {
    /// The number of fires after which its schedule ends.
    pub fn max_fires(&self) -> Option<usize> {
        self.draft["schedule"]["max_fires"].as_u64().map(|most| most as usize)
    }

    /// One executor fires it by itself: its fires have no records.
    pub fn is_loop(&self) -> bool {
        self.draft["durability"] == "best_effort"
    }

    /// Of a rate.
    pub fn period_ms(&self) -> Option<Millis> {
        let schedule = &self.draft["schedule"];
        schedule["milliseconds"].as_i64().or_else(|| Some(1_000 * schedule["seconds"].as_i64()?))
    }
}

/// What a client asked of the management API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    Create,
    Edit {
        schedule: Schedule,
    },
    Enable,
    Disable,
    /// Disabled until then, and enabled again by the product.
    Pause {
        until: Millis,
    },
    Delete,
    Run,
    /// A run that is due at this time.
    Delay {
        at: Millis,
    },
    /// Another time for such a run.
    Move {
        at: Millis,
    },
    /// `never_sent`: the answer says that the run never will be sent.
    Cancel {
        never_sent: bool,
    },
}

impl Op {
    /// Whether it is about one run: the job stays as it is.
    pub fn is_about_a_run(&self) -> bool {
        matches!(self, Self::Run | Self::Delay { .. } | Self::Move { .. } | Self::Cancel { .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    /// A definite refusal: nothing was changed.
    Fail,
    /// No answer, or one that does not say: it may have been done.
    Unclear,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    pub job: i64,
    /// Which node was asked: `a1` …
    #[serde(default)]
    pub node: Option<String>,
    #[serde(flatten)]
    pub op: Op,
    pub invoked_at: Millis,
    pub returned_at: Millis,
    pub outcome: Outcome,
    /// The run that a `Run` has made; the trigger that a `Delay` has recorded, or that the call is about.
    #[serde(default)]
    pub run: Option<i64>,
}

/// A look at one node or server, about once a second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub at: Millis,
    pub process: String,
    pub rss_kib: u64,
    pub descriptors: u64,
    /// Counters of `/metrics`, by name; empty for servers and for a node that does not answer.
    #[serde(default)]
    pub metrics: std::collections::BTreeMap<String, f64>,
}

/// How a process of the product ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exit {
    pub process: String,
    pub at: Millis,
    /// `exit 0`, `signal 9` …
    pub how: String,
    /// What was done to it: `kill -9`, `SIGTERM`, `failpoint`, `stop` at the end; `start`: it ended before it served.
    pub why: String,
    /// From the signal to the end.
    pub took_ms: i64,
}

/// The phases of a run, in order.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Phases {
    pub started_at: Millis,
    pub faults_from: Millis,
    pub faults_to: Millis,
    #[serde(alias = "healed_at")]
    pub recovered_at: Millis,
    /// The first call that disables a job at the end.
    pub stopped_at: Millis,
    pub dumped_at: Millis,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Meta {
    pub seed: u64,
    pub db: String,
    pub control: String,
    /// Name of the rehearsal; empty in a run with all faults.
    #[serde(default, alias = "drill")]
    pub rehearsal: String,
    /// Half an hour with default times.
    #[serde(default)]
    pub soak: bool,
    /// Whether only some faults were chosen.
    #[serde(default)]
    pub chosen: bool,
    pub seconds: u64,
    pub phases: Phases,
    pub ttl_ms: i64,
    pub look_ahead_ms: i64,
    pub versions: std::collections::BTreeMap<String, String>,
    pub load: String,
    /// How often nodes and servers wrote of errors, panics and deadlocks.
    #[serde(default)]
    pub logged: std::collections::BTreeMap<String, u64>,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub meta: Meta,
    pub jobs: Vec<Job>,
    pub calls: Vec<Call>,
    pub events: Vec<Event>,
    pub fires: Vec<Fire>,
    pub faults: Vec<Fault>,
    pub runs: Vec<RunRow>,
    pub misfires: Vec<MisfireRow>,
    pub maps: Vec<MapRow>,
    pub deliveries: Vec<DeliveryRow>,
    pub items: Vec<ItemRow>,
    pub samples: Vec<Sample>,
    pub exits: Vec<Exit>,
}
