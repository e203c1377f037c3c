//! The history, arranged so that each question is one look.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::clock::Millis;
use crate::record::{Event, History, Job, RunRow, What};

/// A request as an executor saw it, with what it answered.
#[derive(Clone, Debug)]
pub struct Receipt<'a> {
    pub event: &'a Event,
    /// None: it was not answered before the process ended.
    pub answer: Option<&'a Event>,
}

impl Receipt<'_> {
    /// Answered, and the answer was no: it is certain that nothing ran.
    pub fn is_refused(&self) -> bool {
        self.answer.is_some_and(|answer| answer.code != 200 && answer.code != 0)
    }
}

pub struct Index<'a> {
    pub jobs: HashMap<i64, &'a Job>,
    pub rows: HashMap<i64, &'a RunRow>,
    /// All rows of a fire's part, by attempt.
    pub fires: BTreeMap<String, Vec<&'a RunRow>>,
    pub receipts: HashMap<i64, Vec<Receipt<'a>>>,
    /// How often a run's handler began, by executor.
    pub starts: HashMap<i64, Vec<&'a Event>>,
    /// The last start of each executor: what came before it was cut off.
    pub last_boot: HashMap<&'a str, &'a str>,
    /// Executors that link our SDK: `e1`, `e2`.
    pub own: HashSet<&'a str>,
}

impl<'a> Index<'a> {
    pub fn new(history: &'a History) -> Self {
        let mut fires: BTreeMap<String, Vec<&RunRow>> = BTreeMap::new();
        for row in &history.runs {
            fires.entry(row.fire_key()).or_default().push(row);
        }
        for rows in fires.values_mut() {
            rows.sort_by_key(|row| row.attempt);
        }
        let of = |what: What| history.events.iter().filter(move |event| event.what == what);
        let mut starts: HashMap<i64, Vec<&Event>> = HashMap::new();
        for event in of(What::Start) {
            starts.entry(event.run).or_default().push(event);
        }
        Self {
            jobs: history.jobs.iter().map(|job| (job.id, job)).collect(),
            rows: history.runs.iter().map(|row| (row.id, row)).collect(),
            fires,
            receipts: receipts(history),
            starts,
            last_boot: of(What::Boot).map(|event| (&*event.executor, &*event.boot)).collect(),
            own: ["e1", "e2"].into(),
        }
    }

    pub fn receipts_of(&self, run: i64) -> &[Receipt<'a>] {
        self.receipts.get(&run).map_or(&[], Vec::as_slice)
    }

    /// When the run was first received by any executor.
    pub fn first_receipt(&self, run: i64) -> Option<Millis> {
        let all = self.receipts_of(run).iter();
        all.map(|receipt| receipt.event.at).min()
    }

    /// Whether the process that took it still lived at the end.
    pub fn lives(&self, event: &Event) -> bool {
        self.last_boot.get(&*event.executor) == Some(&&*event.boot)
    }

    pub fn group(&self, job: i64) -> &str {
        self.jobs.get(&job).map_or("", |job| &job.group)
    }

    pub fn retries(&self, job: i64) -> i32 {
        self.jobs.get(&job).map_or(0, |job| job.retries)
    }
}

/// Requests and answers of a run at one process come in pairs, in their order.
fn receipts(history: &History) -> HashMap<i64, Vec<Receipt<'_>>> {
    let mut all: HashMap<i64, Vec<Receipt<'_>>> = HashMap::new();
    for event in &history.events {
        match event.what {
            What::Receive => all.entry(event.run).or_default().push(Receipt { event, answer: None }),
            What::Answer => {
                let waiting = all
                    .entry(event.run)
                    .or_default()
                    .iter_mut()
                    .find(|receipt| receipt.answer.is_none() && receipt.event.boot == event.boot);
                if let Some(receipt) = waiting {
                    receipt.answer = Some(event);
                }
            }
            _ => {}
        }
    }
    all
}
