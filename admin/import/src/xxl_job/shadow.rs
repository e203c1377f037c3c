//! Compares what xxl-job plans with what the imported jobs would do, while it runs. Its two times of a job are the exact planned
//! instants; its log is not looked at, as the time there is when the trigger ran.

use carillon_scheduler::{KindDraft, Millis, Schedule, words};
use foldhash::HashMap;

use super::rows::JobRow;

words! {
    /// What a change there says.
    pub enum Verdict: "verdict" {
        /// The next instant there is the next one here.
        Agrees = 0 "agrees",
        /// xxl-job was late and has computed from the present: instants between were left out.
        Late = 1 "late",
        /// The phase of a fixed rate has moved, as after a restart there; reported once for each move.
        PhaseMoved = 2 "phase moved",
        /// A person has stopped it, or its schedule is exhausted.
        Stopped = 3 "stopped",
        /// The schedule was changed there: import it again.
        Changed = 4 "changed there",
        /// Nothing explains it.
        Unexplained = 5 "unexplained",
        /// A minute past its next instant xxl-job has planned no further one.
        Overdue = 6 "overdue",
    }
}

/// What was seen of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Its number there.
    pub id: i64,
    pub verdict: Verdict,
    /// The instant before, and the next one there; ms.
    pub last_at: Millis,
    pub next_at: Millis,
    /// The next one here.
    pub expected_at: Option<Millis>,
}

/// What was read last of each job.
#[derive(Default)]
pub struct Shadow {
    jobs: HashMap<i64, Seen>,
}

struct Seen {
    conf: String,
    next_at: Millis,
    is_overdue: bool,
    /// The instants of a fixed rate modulo its period, ms.
    phase: Option<Millis>,
}

/// xxl-job looks each second, and 5 s ahead.
const OVERDUE_MS: Millis = 60_000;

impl Shadow {
    /// Looks at the rows as they are at `now`. `schedules`: of the jobs that were imported, by their numbers there.
    pub fn observe(&mut self, rows: &[JobRow], schedules: &HashMap<i64, Schedule>, now: Millis) -> Vec<Observation> {
        let mut observed = vec![];
        for row in rows {
            let Some(schedule) = schedules.get(&row.id) else {
                continue;
            };
            let conf = format!("{} {}", row.schedule_type, row.schedule_conf);
            let next_at = if row.is_running { row.next_at } else { 0 };
            let is_overdue = next_at > 0 && next_at + OVERDUE_MS < now;
            let seen = Seen { conf, next_at, is_overdue, phase: phase(row, next_at) };
            let before = self.jobs.get(&row.id);
            if is_overdue && before.is_none_or(|before| !before.is_overdue) {
                let (id, last_at) = (row.id, row.last_at);
                let overdue =
                    Observation { id, verdict: Verdict::Overdue, last_at, next_at, expected_at: Some(next_at) };
                observed.push(overdue);
                self.jobs.insert(row.id, seen);
                continue;
            }
            if before.is_some_and(|before| before.next_at == seen.next_at && before.conf == seen.conf) {
                continue;
            }
            if let Some((verdict, expected_at)) = verdict(row, before, &seen, (schedule, now)) {
                observed.push(Observation {
                    id: row.id,
                    verdict,
                    last_at: row.last_at,
                    next_at: seen.next_at,
                    expected_at,
                });
            }
            self.jobs.insert(row.id, seen);
        }
        observed
    }
}

/// The period of a fixed rate there, in seconds.
fn period(row: &JobRow) -> Option<i64> {
    let period = row.schedule_conf.parse().ok().filter(|seconds| *seconds > 0);
    period.filter(|_| row.schedule_type == "FIX_RATE")
}

fn phase(row: &JobRow, next_at: Millis) -> Option<Millis> {
    (next_at > 0).then_some(next_at / 1000 * 1000 % period(row)?.checked_mul(1000)?)
}

/// None: it says nothing.
fn verdict(
    row: &JobRow,
    before: Option<&Seen>,
    seen: &Seen,
    (schedule, now): (&Schedule, Millis),
) -> Option<(Verdict, Option<Millis>)> {
    if before.is_some_and(|before| before.conf != seen.conf) {
        return Some((Verdict::Changed, None));
    }
    if seen.next_at == 0 {
        return before.is_some_and(|before| before.next_at > 0).then_some((Verdict::Stopped, None));
    }
    let second = seen.next_at.div_euclid(1000) * 1000;
    let at_or_after = schedule.next_after(second - 1);
    let is_instant = at_or_after == Some(second);
    if row.schedule_type == "FIX_RATE" {
        let is_same = matches!(schedule.draft().kind, KindDraft::FixedRate { seconds } if Some(seconds) == period(row));
        let is_followed = before.is_some_and(|before| before.phase == seen.phase);
        let verdict = match is_same {
            false => Verdict::Unexplained,
            true if is_instant || is_followed => Verdict::Agrees,
            true => Verdict::PhaseMoved,
        };
        return Some((verdict, at_or_after));
    }
    // At the first look the instant before may be one of another definition.
    let expected = match before {
        Some(_) if row.last_at > 0 => schedule.next_after(row.last_at),
        _ => at_or_after,
    };
    let verdict = match expected {
        Some(expected) if expected == second => Verdict::Agrees,
        // An instant that is still to come cannot have been missed.
        Some(expected) if is_instant && expected < second && expected <= now => Verdict::Late,
        _ => Verdict::Unexplained,
    };
    Some((verdict, expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xxl_job::schedules::{cron, parsed};
    use carillon_scheduler::ScheduleDraft;

    const T: Millis = 1_760_000_040_000;

    fn row(next_at: Millis) -> JobRow {
        let conf = "0 * * * * ?".to_owned();
        JobRow {
            id: 7,
            schedule_type: "CRON".into(),
            schedule_conf: conf,
            is_running: true,
            next_at,
            ..JobRow::default()
        }
    }

    /// Each row is seen 1 s after the instant before its next one.
    fn verdicts(schedule: Schedule, rows: &[JobRow]) -> Vec<Verdict> {
        let (mut shadow, schedules) = (Shadow::default(), HashMap::from_iter([(7, schedule)]));
        let look = |row: &JobRow| shadow.observe(std::slice::from_ref(row), &schedules, row.next_at - 59_000);
        rows.iter().flat_map(look).map(|observation| observation.verdict).collect()
    }

    #[test]
    fn each_change_of_a_cron_job_has_a_verdict() {
        use Verdict::{Agrees, Changed, Late, Stopped, Unexplained};
        let rows = [
            row(T),
            row(T),
            JobRow { last_at: T, ..row(T + 60_000) },
            JobRow { last_at: T + 60_000, ..row(T + 300_000) },
            JobRow { last_at: T + 300_000, ..row(T + 330_000) },
            JobRow { schedule_conf: "30 * * * * ?".into(), ..row(T + 330_000) },
            JobRow { is_running: false, schedule_conf: "30 * * * * ?".into(), ..row(0) },
        ];
        let every_minute = parsed(&cron("0 * * * * ?", "UTC")).unwrap();
        assert_eq!(verdicts(every_minute, &rows), [Agrees, Agrees, Late, Unexplained, Changed, Stopped]);
    }

    #[test]
    fn a_fixed_rate_that_has_moved_is_no_mystery() {
        let rate = |next_at| JobRow { schedule_type: "FIX_RATE".into(), schedule_conf: "60".into(), ..row(next_at) };
        let draft = ScheduleDraft { anchor_at: Some(T), ..ScheduleDraft::fixed_rate(60) };
        let rows = [rate(T + 60_007), rate(T + 120_007), rate(T + 155_000)];
        let found = verdicts(parsed(&draft).unwrap(), &rows);
        assert_eq!(found, [Verdict::Agrees, Verdict::Agrees, Verdict::PhaseMoved]);
    }

    #[test]
    fn a_scheduler_that_plans_no_further_is_reported_once() {
        let schedules = HashMap::from_iter([(7, parsed(&cron("0 * * * * ?", "UTC")).unwrap())]);
        let mut shadow = Shadow::default();
        let mut seen = |row: &JobRow, now| -> Vec<Verdict> {
            let observed = shadow.observe(std::slice::from_ref(row), &schedules, now);
            observed.into_iter().map(|it| it.verdict).collect()
        };
        assert_eq!(seen(&row(T), T + 60_000), [Verdict::Agrees]);
        assert_eq!(seen(&row(T), T + 60_001), [Verdict::Overdue]);
        assert_eq!(seen(&row(T), T + 90_000), []);
        let further = JobRow { last_at: T, ..row(T + 60_000) };
        assert_eq!(seen(&further, T + 90_000), [Verdict::Agrees]);
        assert_eq!(seen(&further, T + 120_001), [Verdict::Overdue]);
        assert_eq!(seen(&JobRow { is_running: false, ..row(0) }, T + 130_000), [Verdict::Stopped]);
    }

    #[test]
    fn an_instant_that_is_still_to_come_was_not_missed() {
        let schedules = HashMap::from_iter([(7, parsed(&cron("0 * * * * ?", "UTC")).unwrap())]);
        let skips = JobRow { last_at: T, ..row(T + 120_000) };
        for (now, verdict) in [(T + 59_999, Verdict::Unexplained), (T + 60_000, Verdict::Late)] {
            let mut shadow = Shadow::default();
            shadow.observe(&[row(T)], &schedules, T - 1);
            let observed = shadow.observe(std::slice::from_ref(&skips), &schedules, now);
            assert_eq!((observed[0].verdict, observed[0].expected_at), (verdict, Some(T + 60_000)));
        }
    }

    #[test]
    fn a_moved_phase_is_reported_once_and_another_period_is_unexplained() {
        use Verdict::{Agrees, PhaseMoved, Unexplained};
        let rate = |next_at| JobRow { schedule_type: "FIX_RATE".into(), schedule_conf: "60".into(), ..row(next_at) };
        let rows = [T + 60_000, T + 155_000, T + 215_999, T + 275_001, T + 340_000].map(rate);
        let draft = |seconds| ScheduleDraft { anchor_at: Some(T), ..ScheduleDraft::fixed_rate(seconds) };
        let found = verdicts(parsed(&draft(60)).unwrap(), &rows);
        assert_eq!(found, [Agrees, PhaseMoved, Agrees, Agrees, PhaseMoved]);
        // Each instant of these schedules is one of the other, too.
        assert_eq!(verdicts(parsed(&draft(30)).unwrap(), &rows[..1]), [Unexplained]);
        assert_eq!(verdicts(parsed(&cron("0 * * * * ?", "UTC")).unwrap(), &rows[..1]), [Unexplained]);
    }
}
