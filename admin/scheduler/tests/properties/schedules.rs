//! The next instant, and what is stored.

use carillon_scheduler::cron::Dialect;
use carillon_scheduler::{ClockChanges, CronSchedule, KindDraft, Schedule, ScheduleDraft};
use proptest::prelude::*;
use proptest::sample::select;

use super::case::{Case, case};
use super::generate;

/// Under the policy `xxl` the result inside a repeated hour depends on the moment of the call.
fn answers_alike(case: &Case) -> bool {
    match &case.draft.kind {
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => cron.clock_changes == ClockChanges::Carillon,
        KindDraft::Daily(daily) => daily.clock_changes == ClockChanges::Carillon,
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn next_is_later_on_a_whole_second_and_inside_the_validity(case in case()) {
        let schedule = case.schedule();
        let (start, end) = (case.draft.start_at, case.draft.end_at);
        let mut at = case.at;
        for _ in 0..50 {
            let Some(next) = schedule.next_after(at) else { break };
            prop_assert!(next > at, "{next} after {at}");
            prop_assert_eq!(next % 1_000, 0);
            prop_assert!(start.is_none_or(|start| start <= next) && end.is_none_or(|end| next <= end));
            at = next;
        }
    }

    #[test]
    fn nothing_lies_between_a_moment_and_its_next(case in case(), part in 0.0..1.0_f64) {
        let schedule = case.schedule();
        let Some(first) = schedule.next_after(case.at) else { return Ok(()) };
        let Some(second) = schedule.next_after(first) else { return Ok(()) };
        let between = first + ((second - first) as f64 * part) as i64;
        if answers_alike(&case) {
            prop_assert_eq!(schedule.next_after(between.min(second - 1)), Some(second));
        }
    }

    /// A schedule that was changed in the database directly is an error with a message, and costs no time.
    // covers: 003-20, 003-21
    #[test]
    fn any_text_is_read_or_refused(
        text in prop_oneof![
            ".{0,40}",
            "([0-9*?LW#,/A-Z-]{1,6} ){5,6}[0-9*?LW#,/-]{1,5}",
            "([0-9*/,A-Z-]{1,6} ){4}[0-9*/,A-Z-]{1,6}",
            "([0-5*/,-]{1,3} ){3}([1-9LW,-]{1,4} [1-9*]{1,2} \\?|\\? [1-9*]{1,2} [1-7L#]{1,3})",
        ],
        zone in prop_oneof![generate::zone().prop_map(str::to_owned), ".{0,20}"],
        clock_changes in generate::clock_changes(),
        dialect in select(vec![Dialect::Quartz, Dialect::Unix]),
        t in generate::moment(),
    ) {
        // The fastest of several, because the machine may be busy.
        let mut fastest = std::time::Duration::MAX;
        for _ in 0..3 {
            let started = std::time::Instant::now();
            match CronSchedule::parse_dialect(dialect, &text, &zone, clock_changes) {
                Ok(schedule) => prop_assert!(schedule.next_after(t).is_none_or(|next| next > t)),
                Err(error) => prop_assert!(error.field.starts_with("schedule.") && !error.message.is_empty()),
            }
            fastest = fastest.min(started.elapsed());
        }
        prop_assert!(fastest.as_millis() < 20, "{} in {}: {:?}", text, zone, fastest);
    }

    #[test]
    fn what_is_stored_is_read_back(case in case()) {
        let schedule = case.schedule();
        let stored = serde_json::to_string(&schedule.draft()).expect("a draft is written");
        let draft: ScheduleDraft = serde_json::from_str(&stored).expect("and read");
        prop_assert_eq!(&draft, &schedule.draft());
        let again = Schedule::parse(&draft, &case.facts()).expect("it was valid");
        prop_assert_eq!(again.following(case.at, 3), schedule.following(case.at, 3));
        prop_assert_eq!(again, schedule);
    }
}
