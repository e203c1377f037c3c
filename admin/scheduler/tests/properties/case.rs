//! Random schedules with what all kinds have in common, and random ways to plan them.

use std::sync::Arc;

use carillon_scheduler::{
    Calendar, CatchUp, Excluded, KindDraft, Millis, MisfirePolicy, PlanInput, Schedule, ScheduleContext, ScheduleDraft,
    Weekday,
};
use chrono::{DateTime, Days, NaiveDate};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::generate;

const DAY: i64 = 86_400_000;

/// A schedule, its draft and context, and an instant for tests.
#[derive(Debug, Clone)]
pub struct Case {
    pub draft: ScheduleDraft,
    pub anchor_at: Millis,
    pub offset: u32,
    pub calendars: Vec<Arc<Calendar>>,
    pub at: Millis,
}

impl Case {
    pub fn facts(&self) -> ScheduleContext<'_> {
        ScheduleContext { anchor_at: self.anchor_at, spread_offset_seconds: self.offset, calendars: &self.calendars }
    }

    pub fn schedule(&self) -> Schedule {
        Schedule::parse(&self.draft, &self.facts()).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

fn plain(at: Millis, kind: KindDraft) -> Case {
    Case { draft: kind.into(), anchor_at: at - 100_500, offset: 0, calendars: vec![], at }
}

/// A calendar with days in the weeks around a day.
pub fn calendar(around: NaiveDate) -> impl Strategy<Value = Calendar> {
    let day = move || (0_u64..60).prop_map(move |days| around + Days::new(days) - Days::new(20));
    let stretch = (day(), prop_oneof![9 => 1_usize..10, 1 => 80_usize..130])
        .prop_map(|(first, length)| first.iter_days().take(length).collect::<Vec<_>>());
    let weekdays = prop_oneof![
        3 => Just(vec![Weekday::Sat, Weekday::Sun]),
        2 => subsequence(Weekday::ALL.to_vec(), 0..=3),
        1 => Just(Weekday::ALL.to_vec()),
    ];
    let days = prop::collection::vec(stretch, 0..3);
    let extra = prop::collection::btree_set(day(), 0..5);
    (weekdays, days, extra).prop_map(|(weekdays, days, extra)| Calendar {
        name: String::new(),
        title: String::new(),
        weekdays: weekdays.into_iter().collect(),
        days: days.into_iter().flatten().collect(),
        extra,
    })
}

fn limits(case: Case) -> impl Strategy<Value = Case> {
    let start = prop::option::of((-10 * DAY..10 * DAY).prop_map(|ms| ms / 7));
    let end = prop::option::of(10 * DAY..60 * DAY);
    let spread = prop_oneof![Just(0_u32), 2..=600_u32, Just(86_400)];
    let excluded = select(Excluded::ALL);
    let day = DateTime::from_timestamp_millis(case.at).expect("in range").date_naive();
    let calendars = prop::collection::vec(calendar(day).boxed(), 0..3).boxed();
    (start, end, spread, 0..86_400_u32, excluded, calendars).prop_map(
        move |(start, end, spread, offset, excluded, mut calendars)| {
            let mut case = case.clone();
            for (n, calendar) in calendars.iter_mut().enumerate() {
                calendar.name = n.to_string();
            }
            case.draft.start_at = start.map(|ms| case.at + ms);
            case.draft.end_at = end.map(|ms| case.at + ms);
            case.draft.spread_seconds = spread;
            case.draft.excluded = excluded;
            case.draft.calendars = calendars.iter().map(|c| c.name.clone()).collect();
            case.calendars = calendars.into_iter().map(Arc::new).collect();
            case.offset = offset;
            case
        },
    )
}

/// Half of all cases have validity, calendars or a spread.
pub fn case() -> BoxedStrategy<Case> {
    generate::moment()
        .prop_flat_map(|at| {
            let bare = move || generate::kind(at).prop_map(move |kind| plain(at, kind)).boxed();
            prop_oneof![bare(), bare().prop_flat_map(limits)].boxed()
        })
        .boxed()
}

/// The policies for late instants.
#[derive(Debug, Clone)]
pub struct Policies {
    pub catch_up: CatchUp,
    pub misfire: MisfirePolicy,
    pub threshold_ms: i64,
    pub limit: u32,
    pub window_ms: i64,
    pub fires_left: Option<u32>,
}

impl Policies {
    pub fn timing<'a>(&self, schedule: &'a Schedule) -> PlanInput<'a> {
        PlanInput {
            schedule,
            catch_up: self.catch_up,
            misfire: self.misfire,
            misfire_threshold_ms: self.threshold_ms,
            misfire_limit: self.limit,
            misfire_window_ms: self.window_ms,
            fires_left: self.fires_left,
        }
    }
}

pub fn policies() -> impl Strategy<Value = Policies> {
    let limits = (1_000..40_000_i64, 1..40_u32, 1_000..90_000_i64);
    let fires_left = prop::option::weighted(0.3, 0..60_u32);
    let words = (select(CatchUp::ALL), select(MisfirePolicy::ALL));
    (words, limits, fires_left).prop_map(|((catch_up, misfire), (threshold_ms, limit, window_ms), fires_left)| {
        Policies { catch_up, misfire, threshold_ms, limit, window_ms, fires_left }
    })
}
