//! What fires in each second of the coming day, and where within its spread a job fits best.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use carillon_scheduler::schedule::spread;
use carillon_scheduler::{JobDraft, Millis, Schedule, ScheduleContext};

use crate::forecast::fire_walk::{FireWalk, MOST_INSTANTS};
use carillon_store::Calendars;

/// How far loads are counted ahead.
pub const SPAN: Millis = 24 * 3600 * 1000;
/// Instants of the job that are weighed.
const WEIGHED: usize = 48;

/// Fires by the second. Beyond what was counted, the same is assumed to happen again.
#[derive(Clone, Debug)]
pub struct LoadBySecond {
    /// In s.
    from: i64,
    counts: Vec<u32>,
}

/// The offset of a job within its spread, and what speaks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpreadChoice {
    pub offset_seconds: u32,
    /// How many of the job's next instants were weighed.
    pub instants: usize,
    /// How many other fires they meet there, and how many they would meet without an offset.
    pub met: u64,
    pub met_without: u64,
}

impl LoadBySecond {
    pub(crate) fn count(mut walk: FireWalk, from: Millis) -> Self {
        let from = from.div_euclid(1000);
        let mut counts = vec![0u32; (SPAN / 1000) as usize];
        let complete_to = walk.walk(MOST_INSTANTS, |at, _| {
            if let Some(count) = counts.get_mut((at.div_euclid(1000) - from) as usize) {
                *count += 1;
            }
        });
        // Of a very busy day only the beginning is counted: whole hours of it, or minutes, stand for the rest.
        let counted = (complete_to.div_euclid(1000) - from).clamp(1, SPAN / 1000);
        let whole = [3600, 60, 1].into_iter().map(|unit| counted - counted % unit).find(|whole| *whole > 0);
        counts.truncate(whole.unwrap_or(1) as usize);
        Self { from, counts }
    }

    fn place(&self, second: i64) -> usize {
        (second - self.from).rem_euclid(self.counts.len() as i64) as usize
    }

    fn at(&self, second: i64) -> u32 {
        self.counts[self.place(second)]
    }

    /// Chooses where a job fits best, and counts it in from then on. The same job is given the same answer as long as
    /// the others stay as they are. Nothing is chosen for a job that has no spread, or no usable one.
    pub fn choose(&mut self, draft: &JobDraft, calendars: &Calendars, now: Millis) -> SpreadChoice {
        let window = draft.schedule.spread_seconds;
        let facts = ScheduleContext {
            anchor_at: now - now.rem_euclid(1000),
            spread_offset_seconds: 0,
            calendars: calendars.list(),
        };
        let Ok(schedule) = Schedule::parse(&draft.schedule, &facts) else {
            return SpreadChoice::default();
        };
        if window < 2 {
            return SpreadChoice::default();
        }
        let instants = schedule.following(now, WEIGHED);
        let offset_seconds = spread::least_loaded(&instants, window, |second| self.at(second), salt(draft));
        let seconds = |offset: u32| {
            let instants = instants.iter();
            instants.map(move |at| at.div_euclid(1000) + i64::from(offset))
        };
        let met = |offset: u32| seconds(offset).map(|it| u64::from(self.at(it))).sum();
        let chosen =
            SpreadChoice { offset_seconds, instants: instants.len(), met: met(offset_seconds), met_without: met(0) };
        let places: Vec<usize> = seconds(offset_seconds).map(|it| self.place(it)).collect();
        for place in places {
            self.counts[place] = self.counts[place].saturating_add(1);
        }
        chosen
    }
}

/// A job has no number before it is saved; jobs that are alike differ in their names.
fn salt(draft: &JobDraft) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&draft.app, draft.name.trim(), draft.handler.trim()).hash(&mut hasher);
    hasher.finish()
}
