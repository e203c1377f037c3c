//! Daily windows in UTC, against a walk over days.

use carillon_scheduler::{DailyDraft, KindDraft, Schedule, ScheduleContext, Weekday};
use chrono::{DateTime, Datelike, Days, NaiveTime, TimeDelta};
use proptest::prelude::*;

use super::generate;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_window_has_the_times_that_it_says(draft in generate::daily(), at in generate::moment()) {
        let draft = DailyDraft { timezone: "UTC".to_owned(), ..draft };
        let schedule = Schedule::parse(&KindDraft::Daily(draft.clone()).into(), &ScheduleContext::from_anchor(0)).expect("valid");
        let tidy = match schedule.draft().kind {
            KindDraft::Daily(tidy) => tidy,
            other => panic!("{other:?}"),
        };
        let time = |text: &str| NaiveTime::parse_from_str(text, "%H:%M:%S").expect("written in full");
        let (from, to) = (time(&tidy.from), time(&tidy.to));
        let today = DateTime::from_timestamp_millis(at).expect("in range").date_naive();
        let mut expected = vec![];
        for day in (today - Days::new(1)).iter_days().take(10) {
            if !tidy.weekdays.contains(&Weekday::from(day.weekday())) {
                continue;
            }
            let end = if to < from { day + Days::new(1) } else { day }.and_time(to);
            let mut instant = day.and_time(from);
            while instant <= end && expected.len() < 300 {
                let ms = instant.and_utc().timestamp_millis();
                expected.extend((ms > at).then_some(ms));
                instant += TimeDelta::seconds(draft.every_seconds);
            }
        }
        prop_assert!(!expected.is_empty());
        prop_assert_eq!(schedule.following(at, expected.len()), expected);
    }
}
