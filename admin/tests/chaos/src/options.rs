//! The options of a run.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// The database under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Db {
    Postgres,
    Mariadb,
    /// One node, with faults of its own.
    Sqlite,
}

impl Db {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mariadb => "mariadb",
            Self::Sqlite => "sqlite",
        }
    }
}

/// A cluster that is broken on purpose: the checker must find that out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Nothing is broken.
    #[default]
    None,
    /// The database guards nothing; the Redis lock alone says who works.
    RedisLockOnly,
    /// An instant is recorded when it is sent, not when its cursor moves.
    RecordAtSend,
    /// Each job with a limit of fires loses one of them.
    FireTaken,
}

impl Control {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::RedisLockOnly => "redis_lock_only",
            Self::RecordAtSend => "record_at_send",
            Self::FireTaken => "fire_taken",
        }
    }
}

/// One thing that goes wrong, in the middle of many runs a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rehearsal {
    /// Redis is away for a minute.
    RedisAway,
    /// A holder is killed, and does not come back.
    NodeKilled,
    /// Another number of shards, and back.
    Reshard,
    /// A holder is killed at several moments around the whole second: how many runs were marked by it and never sent.
    UnknownOutcomes,
}

impl Rehearsal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RedisAway => "redis_away",
            Self::NodeKilled => "node_killed",
            Self::Reshard => "reshard",
            Self::UnknownOutcomes => "unknown_outcomes",
        }
    }

    /// Jobs of its load, each due every second.
    pub fn jobs(self) -> usize {
        match self {
            Self::UnknownOutcomes => 500,
            _ => 1000,
        }
    }
}

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Length of the phase with faults; warm-up, quiet and check come on top
    #[arg(long, default_value = "180", default_value_if("soak", "true", "1800"))]
    pub seconds: u64,
    /// Before a release: half an hour, the nodes' default times, faults 5 to 8 s apart, a herd every five minutes
    #[arg(long, conflicts_with_all = ["rehearsal", "calm"])]
    pub soak: bool,
    #[arg(long, value_enum, default_value = "postgres")]
    pub db: Db,
    /// Repeats the order, the targets and the times of the faults [default: a random one, which is printed]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Run a cluster that is broken on purpose, which must not pass
    #[arg(long, value_enum, default_value = "none")]
    pub control: Control,
    /// After it, run the two clusters that are broken on purpose for a minute each: neither may pass
    #[arg(long)]
    pub controls: bool,
    /// Instead of all faults: one fault in the middle of many runs a second
    #[arg(long, value_enum, conflicts_with_all = ["calm", "only", "control", "controls"])]
    pub rehearsal: Option<Rehearsal>,
    /// No faults at all
    #[arg(long)]
    pub calm: bool,
    /// Only faults whose names contain one of these texts
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// The `carillon` under test, built with the feature `failpoints`
    #[arg(long)]
    pub binary: PathBuf,
    /// Where the folder of this run is made
    #[arg(long)]
    pub out: PathBuf,
    /// The nodes' `--lease-ttl`, ms
    #[arg(long, default_value = "3000", default_value_if("soak", "true", "10000"))]
    pub ttl_ms: i64,
    /// The nodes' `--look-ahead`, ms
    #[arg(long, default_value = "2000", default_value_if("soak", "true", "5000"))]
    pub look_ahead_ms: i64,
}

impl Options {
    /// From one fault to the next, ms, at least and at most: longer leases need longer to come to rest.
    pub fn gap_ms(&self) -> (u64, u64) {
        if self.soak { (5_000, 8_000) } else { (3_000, 5_000) }
    }

    /// How long a fault pauses a node at most, ms: longer than its lease.
    pub fn longest_pause_ms(&self) -> i64 {
        2 * self.ttl_ms
    }

    /// Whether the disk is filled: in a soak, or if the fault is chosen by its name.
    pub fn fills_the_disk(&self) -> bool {
        self.soak || self.only.iter().any(|text| text == "db_full")
    }

    /// The jobs' misfire threshold: longer than a take-over may last.
    pub fn misfire_seconds(&self) -> i64 {
        if self.soak { 60 } else { 20 }
    }
}
