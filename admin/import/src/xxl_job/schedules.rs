//! The schedule of a job.

use carillon_scheduler::{Millis, Schedule, ScheduleContext, ScheduleDraft};

use super::cron_rewrite::as_read;
use super::report::Report;
use super::rows::JobRow;
use super::words::{cron_kind, fixed_rate_seconds};

/// The schedule of a cron expression by the rules of xxl-job.
pub fn cron(expression: &str, zone: &str) -> ScheduleDraft {
    cron_kind(expression, zone).into()
}

/// A draft that can be parsed.
///
/// # Errors
/// What is wrong with it.
pub fn parsed(draft: &ScheduleDraft) -> Result<Schedule, String> {
    let none: &[std::sync::Arc<carillon_scheduler::Calendar>] = &[];
    let context = ScheduleContext { calendars: none, ..ScheduleContext::from_anchor(0) };
    Schedule::parse(draft, &context).map_err(|error| error.message)
}

/// What the job has here. `now`: from when it must fire.
pub fn schedule(row: &JobRow, zone: &str, now: Millis, report: &mut Report) -> ScheduleDraft {
    let of = format!("job {}", row.id);
    let (code, text) = match row.schedule_type.as_str() {
        "CRON" => match cron_schedule(row, zone, now, report) {
            Ok(draft) => return draft,
            Err(finding) => finding,
        },
        "FIX_RATE" => match fixed_rate(row, report) {
            Some(draft) => return draft,
            None => ("F1", row.schedule_conf.clone()),
        },
        "" | "NONE" if row.job_cron.is_empty() => return ScheduleDraft::none(),
        "" | "NONE" => ("S2", row.job_cron.clone()),
        other => ("S1", format!("{other} {}", row.schedule_conf)),
    };
    report.add(code, of, text);
    ScheduleDraft::none()
}

fn cron_schedule(
    row: &JobRow,
    zone: &str,
    now: Millis,
    report: &mut Report,
) -> Result<ScheduleDraft, (&'static str, String)> {
    let written = row.schedule_conf.trim();
    let draft = cron(written, zone);
    let (draft, schedule) = match parsed(&draft) {
        Ok(schedule) => (draft, schedule),
        Err(why) => {
            let read = as_read(written).map(|read| (cron(&read, zone), read));
            let accepted = read.and_then(|(draft, read)| Some((parsed(&draft).ok()?, draft, read)));
            // Only if what was planned by it there shows that it is read right.
            let fits =
                |schedule: &Schedule| row.next_at == 0 || schedule.next_after(row.next_at - 1) == Some(row.next_at);
            let Some((schedule, draft, read)) = accepted.filter(|(schedule, _, _)| fits(schedule)) else {
                return Err(("C1", format!("{written}: {why}")));
            };
            report.add("C3", format!("job {}", row.id), format!("{written} is read as {read}"));
            (draft, schedule)
        }
    };
    match schedule.first_after(now) {
        Some(_) => Ok(draft),
        None => Err(("C2", written.to_owned())),
    }
}

/// None: the period cannot be one here.
fn fixed_rate(row: &JobRow, report: &mut Report) -> Option<ScheduleDraft> {
    let seconds = fixed_rate_seconds(&row.schedule_conf)?;
    let mut draft = ScheduleDraft::fixed_rate(seconds);
    if row.is_running && row.next_at > 0 {
        // The same phase, and the same text at each import.
        draft.anchor_at = Some((row.next_at / 1000).rem_euclid(seconds) * 1000);
    } else {
        report.add("F2", format!("job {}", row.id), format!("every {seconds} s"));
    }
    Some(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_760_000_000_000;

    fn row(schedule_type: &str, conf: &str) -> JobRow {
        JobRow { id: 7, schedule_type: schedule_type.into(), schedule_conf: conf.into(), ..JobRow::default() }
    }

    fn code(row: &JobRow) -> (ScheduleDraft, Vec<&'static str>) {
        let mut report = Report::default();
        let draft = schedule(row, "Asia/Shanghai", NOW, &mut report);
        let codes = report.findings().map(|(code, _)| code).collect();
        (draft, codes)
    }

    #[test]
    fn each_schedule_type_has_its_kind_or_its_code() {
        assert_eq!(code(&row("NONE", "")), (ScheduleDraft::none(), vec![]));
        assert_eq!(code(&row("CRON", "0 0 12 * * ?")), (cron("0 0 12 * * ?", "Asia/Shanghai"), vec![]));
        for (kind, conf, expected) in [
            ("CRON", "0 0 12 * *", "C1"),
            ("CRON", "0 0 12 1 1 ? 2020", "C2"),
            ("CRON", "0 0 12 ? * MON/2", "C3"),
            ("FIX_RATE", "31536001", "F1"),
            ("FIX_RATE", " 5", "F1"),
            ("FIX_RATE", "60", "F2"),
            ("FIX_DELAY", "60", "S1"),
        ] {
            assert_eq!(code(&row(kind, conf)).1, [expected], "{kind} {conf}");
        }
        let left = JobRow { job_cron: "0 0 12 * * ?".into(), ..row("NONE", "") };
        assert_eq!(code(&left), (ScheduleDraft::none(), vec!["S2"]));
    }

    #[test]
    fn a_fixed_rate_keeps_its_phase() {
        for (conf, seconds) in [("+5", 5), ("007", 7), ("3600", 3600)] {
            let next = NOW + 123_456;
            let running = JobRow { is_running: true, next_at: next, ..row("FIX_RATE", conf) };
            let (draft, codes) = code(&running);
            assert_eq!(codes, Vec::<&str>::new());
            let schedule = parsed(&draft).unwrap();
            let fire = next / 1000 * 1000;
            assert_eq!(schedule.next_after(fire - 1), Some(fire), "the fire is at the second below");
            let later = JobRow { next_at: next + seconds * 1000, ..running };
            assert_eq!(code(&later).0, draft, "an hour later it is the same");
        }
    }

    #[test]
    fn a_rewritten_expression_must_fit_what_was_planned_by_it() {
        let at_noon = cron("0 0 12 ? * MON", "Asia/Shanghai");
        let next = parsed(&at_noon).unwrap().first_after(NOW).unwrap();
        let fits = JobRow { next_at: next, ..row("CRON", "0 0 12 ? * MON/2") };
        assert_eq!(code(&fits), (at_noon, vec!["C3"]));
        let differs = JobRow { next_at: next + 86_400_000, ..fits };
        assert_eq!(code(&differs), (ScheduleDraft::none(), vec!["C1"]));
    }
}
