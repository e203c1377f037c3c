//! The settings of a job as lines of its page. A setting without effect is left out.

use carillon_scheduler::{CatchUp, Excluded, JobDraft, MisfirePolicy, Overlap};
use carillon_store::Job;
use chrono::DateTime;
use chrono_tz::Tz;

use crate::web::locale::Language;
use crate::web::text::format::period;
use crate::web::text::strategies;

/// A label and a text. Times are in the viewer's zone.
pub type SettingLine = (&'static str, String);

pub fn settings_lines(job: &Job, zone: Tz) -> Vec<SettingLine> {
    let mut lines = vec![];
    if job.draft.schedule.kind() != "none" {
        lines.extend(limits(job, zone));
        lines.extend(late(&job.draft));
    }
    lines.extend(overlap(&job.draft));
    lines
}

fn limits(job: &Job, zone: Tz) -> Vec<SettingLine> {
    let schedule = &job.draft.schedule;
    let mut lines = vec![];
    let moment = |at: i64| {
        let utc = DateTime::from_timestamp_millis(at).unwrap_or_default();
        utc.with_timezone(&zone).format("%Y-%m-%d %H:%M:%S %Z").to_string()
    };
    match (schedule.start_at.map(moment), schedule.end_at.map(moment)) {
        (Some(start), Some(end)) => lines.push(("Valid", format!("from {start} to {end}"))),
        (Some(start), None) => lines.push(("Valid", format!("from {start} on"))),
        (None, Some(end)) => lines.push(("Valid", format!("until {end}"))),
        (None, None) => {}
    }
    if let Some(most) = schedule.max_fires {
        let left = job.fires_left.unwrap_or_default();
        lines.push(("Most fires", format!("{most} by its schedule, {left} of them left")));
    }
    if !schedule.calendars.is_empty() {
        let then = match schedule.excluded {
            Excluded::Skip => "no fire on excluded days",
            Excluded::NextWorkingDay => "a fire on an excluded day moves to the next day that is not excluded",
        };
        lines.push(("Calendars", format!("{}: {then}", schedule.calendars.join(", "))));
    }
    if schedule.spread_seconds > 0 {
        let text = format!(
            "over {}; this job fires {} s after the time of its schedule",
            period(Language::English, schedule.spread_seconds.into()),
            job.spread_offset
        );
        lines.push(("Spread", text));
    }
    lines
}

fn late(draft: &JobDraft) -> Vec<SettingLine> {
    let catch_up = match draft.catch_up {
        CatchUp::All => "run all late fires",
        CatchUp::Latest => "run only the latest of several late fires",
    };
    let misfire = match draft.misfire {
        MisfirePolicy::FireOnce => "fire once".to_owned(),
        MisfirePolicy::Skip => "skip".to_owned(),
        MisfirePolicy::FireAll => format!("fire all, the latest {} at most", draft.misfire_limit),
        MisfirePolicy::FireWithin => {
            format!("fire all that are at most {} old", period(Language::English, draft.misfire_window_seconds))
        }
    };
    let threshold = period(Language::English, draft.misfire_threshold_seconds);
    vec![("Catch-up", catch_up.to_owned()), ("Misfire", format!("{misfire}; for fires more than {threshold} late"))]
}

fn overlap(draft: &JobDraft) -> Vec<SettingLine> {
    let overlap = match draft.overlap {
        Overlap::Wait => {
            let text = strategies::overlap(draft.overlap);
            format!("{text}; at most {} wait, further fires are skipped", draft.overlap_queue)
        }
        other => strategies::overlap(other),
    };
    vec![("Overlap", overlap), ("Block strategy", strategies::block(draft.block))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_are_not_in_force_are_left_out() {
        let labels = |draft: &JobDraft| late(draft).len() + overlap(draft).len();
        let mut draft = JobDraft::new("billing", "n", "h");
        assert_eq!(labels(&draft), 4);
        (draft.misfire, draft.misfire_limit) = (MisfirePolicy::FireAll, 7);
        assert_eq!(late(&draft)[1].1, "fire all, the latest 7 at most; for fires more than 1 minute late");
        (draft.overlap, draft.overlap_queue) = (Overlap::Wait, 3);
        assert!(overlap(&draft)[0].1.ends_with("at most 3 wait, further fires are skipped"));
    }
}
