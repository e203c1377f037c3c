//! The command line.

use std::path::PathBuf;

use clap::Parser;
use serde_json::{Value, json};

use crate::node::DatabaseChoice;

#[derive(Clone, Parser)]
#[command(args_override_self = true)]
pub struct Options {
    /// Compares with another scheduler, in turn: `ratchjob`, or the path of another build of Carillon
    #[arg(long, group = "mode", value_name = "PEER", conflicts_with = "every")]
    pub against: Option<String>,
    /// Searches the highest rate whose p99 lateness is below 1 s; `--jobs` is the first one tried
    #[arg(long, group = "mode")]
    pub highest: bool,
    /// Searches that rate for clusters of these numbers of nodes, such as 1,2,4
    #[arg(long, group = "mode", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=8))]
    pub nodes: Option<Vec<u8>>,
    /// Prints the memory of the admin each 10 s
    #[arg(long, group = "mode")]
    pub memory: bool,
    /// The jobs are HTTP jobs: services on this machine, one for each of `--executors`, answer 200 at once
    #[arg(long, group = "mode")]
    pub http: bool,
    /// Runs per second of a second app, of which first all succeed and then all fail; each takes the seconds once more
    #[arg(long, group = "mode", default_value_t = 0)]
    pub failing: usize,
    /// After `--failing`: the same once more, with an alert rule that sends the failures to a webhook
    #[arg(long, requires = "failing")]
    pub alerts: bool,
    /// Prints how far the scan is behind its look-ahead too
    #[arg(long, conflicts_with = "mode")]
    pub scan_lag: bool,
    /// Jobs of the app that is measured
    #[arg(long, default_value_t = 1000, value_parser = at_least_one)]
    pub jobs: usize,
    /// Seconds between two fires of a job: a divisor of 60
    #[arg(long, default_value_t = 1, value_parser = divisor_of_60)]
    pub every: usize,
    /// The jobs fire one after the other within these seconds, not all at once
    #[arg(long)]
    pub spread: bool,
    /// How long to measure, each time
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// Rounds of `--against`
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub rounds: u8,
    /// Where `--highest` and `--nodes` end
    #[arg(long, default_value_t = 64_000, value_parser = at_least_one)]
    pub most: usize,
    /// Cores of each node of `--nodes`
    #[arg(long, default_value_t = 0.25)]
    pub cores: f64,
    #[arg(long, default_value_t = 1, value_parser = at_least_one)]
    pub executors: usize,
    /// All runs keep a limit of the app with this number of slots; 0: they keep none
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub limit: u16,
    /// The executors take several runs in one request, as those of our SDK
    #[arg(long)]
    pub batch: bool,
    /// The executors sign their requests and are sent signed ones, in place of the token
    #[arg(long)]
    pub signed: bool,
    /// Runs per second of a second app whose executor never answers
    #[arg(long, default_value_t = 0, conflicts_with = "mode")]
    pub flood: usize,
    #[arg(long, default_value_t = 8)]
    pub shards: u64,
    /// In seconds
    #[arg(long, default_value_t = 5)]
    pub look_ahead: u64,
    /// `sqlite`, `postgres`, `mariadb`, or the URL of an empty database
    #[arg(long, default_value = "sqlite")]
    pub db: DatabaseChoice,
    /// Another build of Carillon than this one
    #[arg(long)]
    pub binary: Option<PathBuf>,
    /// `cargo bench` adds it
    #[arg(long, hide = true)]
    pub bench: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("use a whole number from 1 on".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn divisor_of_60(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 && 60 % number == 0 => Ok(number),
        _ => Err("use a divisor of 60".to_owned()),
    }
}

impl Options {
    /// What the executors announce.
    pub fn capabilities(&self) -> &'static str {
        match (self.batch, self.signed) {
            (false, false) => "",
            (true, false) => "batch,idem",
            (false, true) => "signed",
            (true, true) => "batch,idem,signed",
        }
    }

    /// The schedule of the job with this number.
    pub fn schedule(&self, job: usize) -> Value {
        let first = if self.spread { job % self.every } else { 0 };
        match self.every {
            1 => every_second(),
            60 => json!({"kind": "cron", "expression": format!("{first} * * * * ?"), "timezone": "UTC"}),
            every => {
                json!({"kind": "cron", "expression": format!("{first}/{every} * * * * ?"), "timezone": "UTC"})
            }
        }
    }
}

pub fn every_second() -> Value {
    json!({"kind": "fixed_rate", "seconds": 1})
}
