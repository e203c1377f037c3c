//! Schedules under calendars, against a walk over the days of the schedule without them.

use std::collections::BTreeSet;
use std::sync::Arc;

use carillon_scheduler::calendar::is_excluded;
use carillon_scheduler::{Calendar, Excluded, KindDraft, Millis, Schedule, ScheduleContext, ScheduleDraft};
use chrono::{DateTime, Days, NaiveDate};
use proptest::prelude::*;
use proptest::sample::select;

use super::{case, generate};

const DAY: Millis = 86_400_000;
/// As documented: the most days that an instant is moved by.
const MOST_DAYS: u64 = 100;

fn day_of(at: Millis) -> NaiveDate {
    DateTime::from_timestamp_millis(at).expect("in range").date_naive()
}

/// The instant that an instant without calendars becomes with them, if it is not left out.
fn placed(at: Millis, calendars: &[Arc<Calendar>], excluded: Excluded) -> Option<Millis> {
    let day = day_of(at);
    if !is_excluded(calendars, day) {
        return Some(at);
    }
    if excluded == Excluded::Skip {
        return None;
    }
    let later = (1..=MOST_DAYS).find(|&days| !is_excluded(calendars, day + Days::new(days)))?;
    Some(at + later as i64 * DAY)
}

/// In UTC; with few instants a day, to keep the oracle fast.
fn draft(at: Millis) -> impl Strategy<Value = ScheduleDraft> {
    let minutes = (0..60_u32, generate::days());
    let cron = (minutes, select(vec!["9", "0,12", "*/5", "*"]))
        .prop_map(|((m, (day, weekday)), hours)| format!("0 {m} {hours} {day} * {weekday}"))
        .prop_map(|expression| ScheduleDraft::cron(expression, "UTC"));
    let daily = generate::daily().prop_map(|mut daily| {
        daily.timezone = "UTC".to_owned();
        daily.every_seconds = (daily.every_seconds + 1_800).min(86_400);
        KindDraft::Daily(daily).into()
    });
    prop_oneof![
        3 => cron.boxed(),
        2 => daily.boxed(),
        1 => (1_800_i64..200_000).prop_map(ScheduleDraft::fixed_rate),
        1 => (0..40 * DAY).prop_map(move |ms| ScheduleDraft::once(at + ms)),
    ]
}

fn sample() -> impl Strategy<Value = (Millis, ScheduleDraft, Vec<Calendar>)> {
    generate::moment().prop_flat_map(|at| {
        let calendars = prop::collection::vec(case::calendar(day_of(at)).boxed(), 1..3);
        (Just(at), draft(at).boxed(), calendars).boxed()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn calendars_leave_out_or_move_each_instant(
        (at, mut draft, mut calendars) in sample(), excluded in select(Excluded::ALL),
    ) {
        let bare = Schedule::parse(&draft, &ScheduleContext::from_anchor(at)).expect("valid");
        for (n, calendar) in calendars.iter_mut().enumerate() {
            calendar.name = format!("calendar {n}");
            draft.calendars.push(calendar.name.clone());
        }
        draft.excluded = excluded;
        let calendars: Vec<Arc<Calendar>> = calendars.into_iter().map(Arc::new).collect();
        let facts = ScheduleContext { calendars: &calendars, ..ScheduleContext::from_anchor(at) };
        let schedule = Schedule::parse(&draft, &facts).expect("valid");

        let until = at + 45 * DAY;
        let first = at - (MOST_DAYS as i64 + 1) * DAY;
        let expected: BTreeSet<Millis> = std::iter::successors(bare.next_after(first), |&t| bare.next_after(t))
            .take_while(|&t| t <= until)
            .filter_map(|instant| placed(instant, &calendars, excluded))
            .filter(|&instant| instant > at && instant <= until)
            .collect();
        let found: Vec<Millis> = std::iter::successors(schedule.next_after(at), |&t| schedule.next_after(t))
            .take_while(|&t| t <= until)
            .collect();
        prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}
