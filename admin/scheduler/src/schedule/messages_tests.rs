use std::sync::Arc;

use super::draft::{KindDraft, ScheduleDraft};
use super::instants::{Schedule, ScheduleContext};
use super::parse_tests::{NOW, calendar, noon, parse};
use crate::calendar::Weekday;

#[test]
fn each_wrong_member_has_its_message() {
    for (change, message) in [
        (
            (|draft| draft.max_fires = Some(0)) as fn(&mut ScheduleDraft),
            "schedule.max_fires: 0 is not allowed; 1 to 1000000000",
        ),
        (
            |draft| draft.spread_seconds = 1,
            "schedule.spread_seconds: 1 is not allowed; 2 to 86400 seconds (0: no spread)",
        ),
        (
            |draft| draft.spread_seconds = 86_401,
            "schedule.spread_seconds: 86401 is not allowed; 2 to 86400 seconds (0: no spread)",
        ),
        (
            |draft| (draft.start_at, draft.end_at) = (Some(NOW), Some(NOW - 1)),
            "schedule.end_at: is before schedule.start_at, 2025-07-04T15:00:00Z",
        ),
        (|draft| draft.calendars = vec!["holidays".into()], "schedule.calendars: there is no calendar `holidays`"),
        (
            |draft| draft.kind = KindDraft::FixedDelay { seconds: 0 },
            "schedule.seconds: 0 is not allowed; a fixed delay has 1 to 31536000 seconds",
        ),
    ] {
        let mut draft = noon();
        change(&mut draft);
        let error = Schedule::parse(&draft, &ScheduleContext::from_anchor(NOW)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_schedule_that_never_fires_names_the_cause() {
    let mut never = calendar("never");
    never.weekdays = Weekday::ALL.iter().copied().collect();
    let calendars = [Arc::new(never)];
    let why = |change: fn(&mut ScheduleDraft)| {
        let mut draft = noon();
        change(&mut draft);
        let error = parse(&draft, &calendars, 0).never_fires(NOW);
        error.map_or_else(String::new, |error| error.to_string())
    };
    for (change, message) in [
        ((|_| ()) as fn(&mut ScheduleDraft), ""),
        (|draft| *draft = ScheduleDraft::none(), ""),
        (|draft| *draft = ScheduleDraft::fixed_delay(60), ""),
        (
            |draft| *draft = ScheduleDraft::once(NOW - 5_000),
            "schedule.at: 2025-07-04T14:59:55Z is over; the job would never run",
        ),
        (|draft| draft.end_at = Some(NOW), "schedule.end_at: 2025-07-04T15:00:00Z is over; the job would never run"),
        (|draft| draft.end_at = Some(NOW + 3_600_000), "schedule.end_at: nothing fires before 2025-07-04T16:00:00Z"),
        (
            |draft| draft.calendars = vec!["never".into()],
            "schedule.calendars: they leave no day on which it fires in the next 100 years",
        ),
        (
            |draft| *draft = ScheduleDraft::unix_cron("0 0 30 2 *", "UTC"),
            "schedule.expression: `0 0 30 2 *` never fires in the next 100 years; see its day, month and year",
        ),
    ] {
        assert_eq!(why(change), message);
    }
}
