//! The zone of the JVM decides over each cron expression and stands nowhere in the database. It is proved: what xxl-job has planned
//! next must be an instant of the expression.

use carillon_scheduler::{Millis, Schedule, zone_data};

use super::report::Report;
use super::rows::JobRow;
use super::schedules::{cron, parsed};

/// How many running cron jobs agree with a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneProof {
    pub agree: usize,
    pub of: usize,
    /// A zone with which more agree, and how many.
    pub better: Option<(String, usize)>,
}

/// Jobs with which other zones are tried: there are some hundred zones.
const TRIED: usize = 200;

/// Zones that are tried first: that of the shipped image, and that of most containers.
const LIKELY: [&str; 2] = ["Asia/Shanghai", "UTC"];

/// Jobs that do not agree are reported.
pub fn prove(jobs: &[JobRow], zone: &str, report: &mut Report) -> ZoneProof {
    let planned: Vec<&JobRow> = jobs
        .iter()
        .filter(|row| row.is_running && row.next_at > 0 && row.schedule_type == "CRON")
        .filter(|row| parsed(&cron(row.schedule_conf.trim(), zone)).is_ok())
        .collect();
    let differs = |row: &&&JobRow| !agrees(row, zone);
    let differing: Vec<&JobRow> = planned.iter().filter(differs).copied().collect();
    for row in &differing {
        report.add("Z1", format!("job {}", row.id), row.schedule_conf.trim());
    }
    let better = match differing.is_empty() {
        true => None,
        false => {
            let best =
                best(&planned).map(|(other, _)| (planned.iter().filter(|row| agrees(row, &other)).count(), other));
            best.filter(|(count, _)| *count > planned.len() - differing.len()).map(|(count, other)| (other, count))
        }
    };
    ZoneProof { agree: planned.len() - differing.len(), of: planned.len(), better }
}

/// The zone with which most of them agree.
fn best(planned: &[&JobRow]) -> Option<(String, usize)> {
    let zones = LIKELY.iter().chain(zone_data().offered());
    let zones = zones.map(|zone| ((*zone).to_owned(), count_of(planned, zone)));
    // Of those with as many the first.
    zones.fold(None, |best: Option<(String, usize)>, next| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(next),
    })
}

fn count_of(planned: &[&JobRow], zone: &str) -> usize {
    planned.iter().take(TRIED).filter(|row| agrees(row, zone)).count()
}

fn agrees(row: &JobRow, zone: &str) -> bool {
    let is_instant = |schedule: Schedule, at: Millis| schedule.next_after(at - 1) == Some(at);
    parsed(&cron(row.schedule_conf.trim(), zone)).is_ok_and(|schedule| is_instant(schedule, row.next_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(id: i64, next_at: Millis) -> JobRow {
        JobRow {
            id,
            schedule_type: "CRON".into(),
            schedule_conf: "0 0 0 * * ?".into(),
            is_running: true,
            next_at,
            ..JobRow::default()
        }
    }

    #[test]
    fn the_zone_that_fits_is_named() {
        let midnight = parsed(&cron("0 0 0 * * ?", "Asia/Shanghai")).unwrap().first_after(1_760_000_000_000).unwrap();
        let jobs: Vec<JobRow> = (0..3).map(|id| planned(id, midnight)).collect();
        let mut report = Report::default();
        let proof = prove(&jobs, "Asia/Shanghai", &mut report);
        assert_eq!(proof, ZoneProof { agree: 3, of: 3, better: None });
        assert_eq!(report, Report::default());
        let proof = prove(&jobs, "Europe/Berlin", &mut report);
        let (zone, count) = proof.better.unwrap();
        assert_eq!((proof.agree, count, report.rows("Z1").len()), (0, 3, 3));
        assert!(parsed(&cron("0 0 0 * * ?", &zone)).unwrap().next_after(midnight - 1) == Some(midnight), "{zone}");
    }

    #[test]
    fn a_job_whose_expression_was_changed_by_hand_is_named_and_holds_nothing_up() {
        let midnight = parsed(&cron("0 0 0 * * ?", "UTC")).unwrap().first_after(1_760_000_000_000).unwrap();
        let mut jobs: Vec<JobRow> = (0..3).map(|id| planned(id, midnight)).collect();
        jobs[1].next_at += 1_000;
        let mut report = Report::default();
        let proof = prove(&jobs, "UTC", &mut report);
        assert_eq!(proof, ZoneProof { agree: 2, of: 3, better: None });
        assert_eq!(report.rows("Z1"), ["job 1"]);
    }
}
