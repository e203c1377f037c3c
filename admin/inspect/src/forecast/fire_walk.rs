//! The instants of many schedules, merged in the order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use carillon_scheduler::{Millis, Schedule, ScheduleContext, ScheduleDraft};

use carillon_store::EnabledSchedule;

/// Instants that are looked at for one answer: under a second of one core.
pub(crate) const MOST_INSTANTS: usize = 1_000_000;

/// A schedule, and what is left of it.
struct JobFires {
    schedule: Schedule,
    app: usize,
    fires_left: Option<u32>,
}

pub struct FireWalk {
    from: Millis,
    to: Millis,
    jobs: Vec<JobFires>,
    apps: HashMap<String, usize>,
    /// The next instant of each.
    next: BinaryHeap<Reverse<(Millis, usize)>>,
}

impl FireWalk {
    pub fn between(from: Millis, to: Millis) -> Self {
        Self { from, to, jobs: vec![], apps: HashMap::new(), next: BinaryHeap::new() }
    }

    /// How many schedules fire in the span.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The names of the apps by their places.
    pub fn apps(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.apps.len()];
        for (name, place) in &self.apps {
            names[*place].clone_from(name);
        }
        names
    }

    /// Adds a job. One that cannot be planned, or has nothing left, has no instants.
    pub fn add(&mut self, job: &EnabledSchedule) {
        let Some(schedule) = parsed(job) else {
            return;
        };
        let first = match job.next_fire_at < self.from {
            true => guarded(|| schedule.first_after(self.from - 1)),
            false => Some(job.next_fire_at),
        };
        let fires_left = job.fires_left.map(i32::unsigned_abs);
        if let Some(first) = first.filter(|at| *at < self.to && fires_left != Some(0)) {
            let place = self.apps.len();
            let app = *self.apps.entry(job.app.clone()).or_insert(place);
            self.next.push(Reverse((first, self.jobs.len())));
            self.jobs.push(JobFires { schedule, app, fires_left });
        }
    }

    /// Visits up to `most` instants in the order of time, each with the place of its app; answers up to when none is
    /// left out. A whole second is visited or nothing of it.
    pub fn walk(&mut self, most: usize, mut visit: impl FnMut(Millis, usize)) -> Millis {
        let (mut visited, mut last) = (0, Millis::MIN);
        while let Some(Reverse((at, index))) = self.next.pop() {
            if visited >= most && at > last {
                return at;
            }
            let flow = &mut self.jobs[index];
            visit(at, flow.app);
            (visited, last) = (visited + 1, at);
            if let Some(left) = &mut flow.fires_left {
                *left -= 1;
            }
            if flow.fires_left != Some(0)
                && let Some(next) = guarded(|| flow.schedule.first_after(at))
                && next > at
                && next < self.to
            {
                self.next.push(Reverse((next, index)));
            }
        }
        self.to
    }
}

fn parsed(job: &EnabledSchedule) -> Option<Schedule> {
    let draft: ScheduleDraft = serde_json::from_str(&job.schedule_text).ok()?;
    let facts = ScheduleContext {
        anchor_at: job.anchor_at,
        spread_offset_seconds: job.spread_offset.unsigned_abs(),
        calendars: job.calendars.list(),
    };
    Schedule::parse(&draft, &facts).ok()
}

/// A schedule that panics has no further instants; it must not take the others with it.
fn guarded(next: impl FnOnce() -> Option<Millis>) -> Option<Millis> {
    catch_unwind(AssertUnwindSafe(next)).ok().flatten()
}
