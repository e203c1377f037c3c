//! Compares what xxl-job plans with what the imported jobs would do, while it runs. Its two times of a job are the exact planned
//! instants; its log is not looked at, as the time there is when the trigger ran.

use carillon_scheduler::{Millis, Schedule, words};
use foldhash::HashMap;

use super::rows::JobRow;

words! {
    /// What a change there says.
    pub enum Verdict: "verdict" {
        /// The next instant there is the next one here.
        Agrees = 0 "agrees",
        /// xxl-job was late and has computed from the present: instants between were left out.
        Late = 1 "late",
        /// The phase of a fixed rate has moved, as after a restart there.
        PhaseMoved = 2 "phase moved",
        /// A person has stopped it, or its schedule is exhausted.
        Stopped = 3 "stopped",
        /// The schedule was changed there: import it again.
        Changed = 4 "changed there",
        /// Nothing explains it.
        Unexplained = 5 "unexplained",
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
}

impl Shadow {
    /// Looks at the rows as they are now. `schedules`: of the jobs that were imported, by their numbers there.
    pub fn observe(&mut self, rows: &[JobRow], schedules: &HashMap<i64, Schedule>) -> Vec<Observation> {
        let mut observed = vec![];
        for row in rows {
            let Some(schedule) = schedules.get(&row.id) else {
                continue;
            };
            let conf = format!("{} {}", row.schedule_type, row.schedule_conf);
            let now = Seen { conf, next_at: if row.is_running { row.next_at } else { 0 } };
            let before = self.jobs.get(&row.id);
            if before.is_some_and(|before| before.next_at == now.next_at && before.conf == now.conf) {
                continue;
            }
            if let Some((verdict, expected_at)) = verdict(row, before, &now, schedule) {
                observed.push(Observation {
                    id: row.id,
                    verdict,
                    last_at: row.last_at,
                    next_at: now.next_at,
                    expected_at,
                });
            }
            self.jobs.insert(row.id, now);
        }
        observed
    }
}

/// None: it says nothing.
fn verdict(row: &JobRow, before: Option<&Seen>, now: &Seen, schedule: &Schedule) -> Option<(Verdict, Option<Millis>)> {
    if before.is_some_and(|before| before.conf != now.conf) {
        return Some((Verdict::Changed, None));
    }
    if now.next_at == 0 {
        return before.is_some_and(|before| before.next_at > 0).then_some((Verdict::Stopped, None));
    }
    let second = now.next_at.div_euclid(1000) * 1000;
    let is_instant = schedule.next_after(second - 1) == Some(second);
    if row.schedule_type == "FIX_RATE" {
        let expected = schedule.next_after(second - 1);
        return Some((if is_instant { Verdict::Agrees } else { Verdict::PhaseMoved }, expected));
    }
    // At the first look the instant before may be one of another definition.
    let expected = match before {
        Some(_) if row.last_at > 0 => schedule.next_after(row.last_at),
        _ => schedule.next_after(second - 1),
    };
    let verdict = match expected {
        Some(expected) if expected == second => Verdict::Agrees,
        Some(expected) if is_instant && expected < second => Verdict::Late,
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

    fn verdicts(schedule: Schedule, rows: &[JobRow]) -> Vec<Verdict> {
        let (mut shadow, schedules) = (Shadow::default(), HashMap::from_iter([(7, schedule)]));
        let look = |row| shadow.observe(std::slice::from_ref(row), &schedules);
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
}
