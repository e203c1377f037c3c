//! The long-running runs of the shards that this node holds, and when each is checked next. In memory alone: times are
//! counted from when a run was sent, so that a new holder finds the same runs and goes on with the same times.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Millis;
use foldhash::{HashMap, HashSet, HashSetExt as _};

use crate::settings::ms;
use carillon_store::run::open::checked::LongRunning;

/// Runs of one address that are handed out at once: a round comes every 10 s, so an executor answers a few questions a
/// second at most, however many runs it has.
const MAX_PER_ADDRESS: usize = 20;

/// Intervals double up to this many times the first one.
const LONGEST: i64 = 60;

/// What one look has seen; only a second look that sees the same, after a pause, ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// Its executor had no run of its job.
    Idle,
    /// A later run of its job ended there, or was accepted there, which needs this one to be over.
    Overtaken,
    /// Its log has an end, with this code.
    Ended(i32),
    /// A later run has taken its place, and its log (a digest of it) does not grow.
    Replaced { log: u64 },
}

#[derive(Clone, Copy, Debug)]
pub struct Suspicion {
    pub seen: Sighting,
    pub since: Millis,
}

struct Entry {
    shard: i32,
    job_id: i64,
    sent_at: Millis,
    address: Arc<str>,
    next_at: Millis,
    suspicion: Option<Suspicion>,
    /// Answers without meaning, in a row.
    inconclusive: u16,
}

#[derive(Default)]
pub struct CheckSchedule {
    runs: HashMap<i64, Entry>,
    times: BTreeMap<Arc<str>, BTreeSet<(Millis, i64)>>,
    of_job: BTreeSet<(i64, Millis, i64)>,
    /// The address that was handed out last: the next round goes on behind it.
    last: Option<Arc<str>>,
}

impl CheckSchedule {
    /// A run that is known already keeps its time.
    pub fn add(&mut self, shard: i32, run: &LongRunning, next_at: Millis) {
        let Some(address) = run.address.as_deref() else {
            return;
        };
        if self.runs.contains_key(&run.run_id) {
            return;
        }
        let known = self.times.get_key_value(address);
        let address = known.map_or_else(|| Arc::from(address), |(address, _)| address.clone());
        let times = self.times.entry(address.clone()).or_default();
        times.insert((next_at, run.run_id));
        self.of_job.insert((run.job_id, run.sent_at, run.run_id));
        let entry = Entry {
            shard,
            job_id: run.job_id,
            sent_at: run.sent_at,
            address,
            next_at,
            suspicion: None,
            inconclusive: 0,
        };
        self.runs.insert(run.run_id, entry);
    }

    pub fn remove(&mut self, run_id: i64) {
        let Some(entry) = self.runs.remove(&run_id) else {
            return;
        };
        self.of_job.remove(&(entry.job_id, entry.sent_at, run_id));
        if let Some(times) = self.times.get_mut(&entry.address) {
            times.remove(&(entry.next_at, run_id));
            if times.is_empty() {
                self.times.remove(&entry.address);
            }
        }
    }

    /// The other shards have another holder now.
    pub fn keep_shards(&mut self, held: &HashSet<i32>) {
        let theirs = self.runs.iter().filter(|(_, entry)| !held.contains(&entry.shard));
        for run_id in theirs.map(|(run_id, _)| *run_id).collect::<Vec<_>>() {
            self.remove(run_id);
        }
    }

    /// What was learned of a run, and when it is checked next. Answers how often in a row it was inconclusive.
    pub fn note(&mut self, run_id: i64, next_at: Millis, suspicion: Option<Suspicion>, is_clear: bool) -> u16 {
        let Some(entry) = self.runs.get_mut(&run_id) else {
            return 0;
        };
        if let Some(times) = self.times.get_mut(&entry.address) {
            times.remove(&(entry.next_at, run_id));
            times.insert((next_at, run_id));
        }
        entry.next_at = next_at;
        // Idle once, the executor has no run any more that it was sent before: what keeps it busy now was sent later.
        entry.suspicion = suspicion.or(entry.suspicion.filter(|before| before.seen == Sighting::Idle));
        entry.inconclusive = if is_clear { 0 } else { entry.inconclusive.saturating_add(1) };
        entry.inconclusive
    }

    pub fn suspicion(&self, run_id: i64) -> Option<Suspicion> {
        self.runs.get(&run_id).and_then(|entry| entry.suspicion)
    }

    /// Runs that are due by address, some of each, for a limited number of addresses; each round begins with another one.
    pub fn due(&mut self, now: Millis, addresses: usize) -> Vec<(Arc<str>, Vec<i64>)> {
        let from = match &self.last {
            Some(last) => Bound::Excluded(last.clone()),
            None => Bound::Unbounded,
        };
        let behind = self.times.range::<Arc<str>, _>((from.clone(), Bound::Unbounded));
        let before = match from {
            Bound::Excluded(last) => self.times.range(..=last),
            _ => self.times.range::<Arc<str>, _>(..),
        };
        let mut seen = HashSet::new();
        let due: Vec<_> = behind
            .chain(before)
            .filter(|(address, _)| seen.insert(Arc::clone(address)))
            .filter_map(|(address, times)| {
                let due = times.iter().take_while(|(at, _)| *at <= now);
                let due: Vec<i64> = due.take(MAX_PER_ADDRESS).map(|(_, id)| *id).collect();
                (!due.is_empty()).then(|| (address.clone(), due))
            })
            .take(addresses)
            .collect();
        self.last = due.last().map(|(address, _)| address.clone());
        due
    }

    /// Other long-running runs of the same job at the same address: the id of each, and when it was sent.
    pub fn other_runs_of_job(&self, run_id: i64) -> Vec<(i64, Millis)> {
        let Some(run) = self.runs.get(&run_id) else {
            return vec![];
        };
        let of_job = (run.job_id, Millis::MIN, i64::MIN)..=(run.job_id, Millis::MAX, i64::MAX);
        self.of_job
            .range(of_job)
            .filter(|(_, _, id)| *id != run_id && self.runs[id].address == run.address)
            .map(|(_, sent_at, id)| (*id, *sent_at))
            .collect()
    }
}

/// When a run is checked next: one first interval after it was sent, then after twice as long, and so on; from an hour on
/// (if the first is a minute) every hour.
pub fn next_after(sent_at: Millis, now: Millis, first: Duration) -> Millis {
    let first = ms(first).max(1);
    let (mut at, mut interval) = (sent_at + first, first);
    while at <= now {
        interval = (interval * 2).min(first * LONGEST);
        if interval == first * LONGEST {
            let behind = (now - at) / interval;
            at += behind * interval;
        }
        at += interval;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(run_id: i64, job_id: i64, address: &str) -> LongRunning {
        LongRunning { run_id, job_id, sent_at: run_id, address: Some(address.into()), is_own: false }
    }

    #[test]
    fn intervals_double_up_to_an_hour() {
        let minute = 60_000;
        let first = Duration::from_secs(60);
        let (mut at, mut all) = (0, vec![]);
        for _ in 0..9 {
            at = next_after(0, at, first);
            all.push(at / minute);
        }
        assert_eq!(all, [1, 3, 7, 15, 31, 63, 123, 183, 243]);
        let year = 365 * 24 * 60 * minute;
        let next = next_after(0, year, first);
        assert!(year < next && next <= year + 60 * minute);
    }

    #[test]
    fn each_address_has_its_turn() {
        let mut schedule = CheckSchedule::default();
        for id in 0..100 {
            schedule.add(0, &run(id, id, if id < 90 { "a" } else { "b" }), id);
        }
        let first = schedule.due(1_000, 1);
        assert_eq!((&*first[0].0, first[0].1.len()), ("a", MAX_PER_ADDRESS));
        assert_eq!(&*schedule.due(1_000, 1)[0].0, "b", "although a has more");
        assert_eq!(&*schedule.due(1_000, 1)[0].0, "a");
        assert_eq!(schedule.due(1_000, 9).len(), 2);
        assert!(schedule.due(-1, 9).is_empty());
    }

    // covers: D1
    #[test]
    fn an_idle_sighting_stays_valid() {
        let mut schedule = CheckSchedule::default();
        schedule.add(0, &run(1, 7, "a"), 10);
        let suspicion = |seen| Some(Suspicion { seen, since: 10 });
        schedule.note(1, 20, suspicion(Sighting::Ended(200)), true);
        schedule.note(1, 30, None, true);
        assert!(schedule.suspicion(1).is_none(), "a busy executor speaks against the end that a log has shown");
        schedule.note(1, 40, suspicion(Sighting::Idle), true);
        schedule.note(1, 50, None, false);
        assert_eq!(schedule.suspicion(1).map(|it| (it.seen, it.since)), Some((Sighting::Idle, 10)));
    }

    #[test]
    fn what_is_removed_leaves_nothing_behind() {
        let mut schedule = CheckSchedule::default();
        schedule.add(1, &run(1, 7, "a"), 10);
        schedule.add(2, &run(2, 7, "a"), 10);
        schedule.add(2, &run(3, 7, "b"), 10);
        assert_eq!(schedule.other_runs_of_job(1), [(2, 2)], "of the same address alone");
        schedule.note(1, 20, None, true);
        schedule.keep_shards(&HashSet::from_iter([1]));
        assert_eq!(schedule.other_runs_of_job(1), []);
        schedule.remove(1);
        assert!(schedule.runs.is_empty() && schedule.times.is_empty() && schedule.of_job.is_empty());
    }
}
