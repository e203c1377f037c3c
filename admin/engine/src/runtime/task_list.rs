//! The tasks of this node with the last round of each, as the page *Nodes* shows them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use carillon_scheduler::{Clock, Millis};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::runtime::round_report::Counts;

/// The tasks that run now.
pub struct TaskList {
    clock: Arc<dyn Clock>,
    tasks: Mutex<Vec<Weak<TaskRounds>>>,
}

/// The rounds of one task.
pub struct TaskRounds {
    name: &'static str,
    shard: Option<i32>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    rounds: u64,
    last: Option<Round>,
    work: Option<Work>,
}

struct Round {
    started_at: Millis,
    started: Instant,
    late: Duration,
    /// None: the round has not ended.
    took: Option<Duration>,
}

/// What the last round did that found something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub at: Millis,
    pub counts: Counts,
}

/// A task as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The name of its service.
    pub name: &'static str,
    /// The shard of a scan.
    pub shard: Option<i32>,
    /// Rounds since the task started.
    pub rounds: u64,
    /// When the last round started.
    pub started_at: Option<Millis>,
    /// How long the last round took; of a round that has not ended: until now.
    pub took: Duration,
    /// The last round has not ended.
    pub is_working: bool,
    /// How much later than planned the last round started.
    pub lag: Duration,
    pub work: Option<Work>,
}

impl TaskList {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, tasks: Mutex::default() }
    }

    /// Lists a task until the answer is dropped.
    pub(crate) fn add(&self, name: &'static str, shard: Option<i32>) -> Arc<TaskRounds> {
        let task = Arc::new(TaskRounds { name, shard, clock: self.clock.clone(), state: Mutex::default() });
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| task.strong_count() > 0);
        tasks.push(Arc::downgrade(&task));
        task
    }

    /// In the order in which they started; scans by their shards.
    pub fn all(&self) -> Vec<Task> {
        let mut tasks: Vec<Task> = self.tasks.lock().iter().filter_map(Weak::upgrade).map(|task| task.now()).collect();
        tasks.sort_by_key(|task| task.shard);
        tasks
    }
}

impl TaskRounds {
    /// A round starts that was planned for `due`, or earlier than that.
    pub(crate) fn start(&self, due: Instant) {
        let started = Instant::now();
        let late = started.saturating_duration_since(due);
        let round = Round { started_at: self.clock.now(), started, late, took: None };
        let mut state = self.state.lock();
        state.rounds += 1;
        state.last = Some(round);
    }

    /// The round that was started last ends.
    pub(crate) fn end(&self, counts: Counts) {
        let mut state = self.state.lock();
        let Some(round) = &mut state.last else {
            return;
        };
        round.took = Some(round.started.elapsed());
        let at = round.started_at;
        if !counts.is_empty() {
            state.work = Some(Work { at, counts });
        }
    }

    fn now(&self) -> Task {
        let state = self.state.lock();
        let last = state.last.as_ref();
        Task {
            name: self.name,
            shard: self.shard,
            rounds: state.rounds,
            started_at: last.map(|round| round.started_at),
            took: last.map_or(Duration::ZERO, |round| round.took.unwrap_or_else(|| round.started.elapsed())),
            is_working: last.is_some_and(|round| round.took.is_none()),
            lag: last.map_or(Duration::ZERO, |round| round.late),
            work: state.work.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::ManualClock;

    use super::*;

    // covers: 003-1
    #[tokio::test(start_paused = true)]
    async fn a_task_has_the_time_the_lag_and_the_work_of_its_last_round() {
        let clock = Arc::new(ManualClock::new(1_000));
        let list = TaskList::new(clock.clone());
        let (scan, dispatch) = (list.add("scan", Some(3)), list.add("dispatch", None));
        assert_eq!(
            list.all().iter().map(|task| (task.name, task.rounds)).collect::<Vec<_>>(),
            [("dispatch", 0), ("scan", 0)]
        );

        let due = Instant::now();
        tokio::time::advance(Duration::from_millis(40)).await;
        scan.start(due);
        tokio::time::advance(Duration::from_millis(7)).await;
        let task = list.all().remove(1);
        assert!(task.is_working && task.took == Duration::from_millis(7));
        scan.end(vec![("claimed", 5)]);
        tokio::time::advance(Duration::from_secs(1)).await;
        clock.advance(Duration::from_secs(1));
        // A round without work does not hide what was done before.
        scan.start(Instant::now());
        scan.end(vec![]);
        let task = list.all().remove(1);
        let work = Some(Work { at: 1_000, counts: vec![("claimed", 5)] });
        assert_eq!((task.rounds, task.started_at, task.lag, task.work), (2, Some(2_000), Duration::ZERO, work));

        drop(dispatch);
        assert_eq!(list.all().len(), 1, "a task that has ended is not listed");
    }
}
