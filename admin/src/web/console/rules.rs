//! A job's rules in words, for its page: each line says what is in force, and what is not is left out.

use carillon_scheduler::{Excluded, JobDraft, MisfirePolicy, Overlap};
use chrono::DateTime;
use chrono_tz::Tz;

use crate::store::Job;

/// What the rule is called, and what it says. Moments stand in the viewer's zone.
pub type Rule = (&'static str, String);

pub fn of(job: &Job, zone: Tz) -> Vec<Rule> {
    let mut rules = vec![];
    if job.draft.schedule.kind() != "none" {
        rules.extend(limits(job, zone));
        rules.extend(late(&job.draft));
    }
    rules.extend(overlap(&job.draft));
    rules
}

fn limits(job: &Job, zone: Tz) -> Vec<Rule> {
    let schedule = &job.draft.schedule;
    let mut rules = vec![];
    let moment = |at: i64| {
        let utc = DateTime::from_timestamp_millis(at).unwrap_or_default();
        utc.with_timezone(&zone).format("%Y-%m-%d %H:%M:%S %Z").to_string()
    };
    match (schedule.start_at.map(moment), schedule.end_at.map(moment)) {
        (Some(start), Some(end)) => rules.push(("Valid", format!("from {start} to {end}"))),
        (Some(start), None) => rules.push(("Valid", format!("from {start} on"))),
        (None, Some(end)) => rules.push(("Valid", format!("until {end}"))),
        (None, None) => {}
    }
    if let Some(most) = schedule.max_fires {
        let left = job.fires_left.unwrap_or_default();
        rules.push(("At most", format!("{most} runs by its schedule, {left} of them left")));
    }
    if !schedule.calendars.is_empty() {
        let then = match schedule.excluded {
            Excluded::Skip => "it does not fire on days that they exclude",
            Excluded::NextWorkingDay => "from days that they exclude it moves to the next one that they do not",
        };
        rules.push(("Calendars", format!("{}: {then}", schedule.calendars.join(", "))));
    }
    if schedule.spread_seconds > 0 {
        let text = format!(
            "any second within {} s will do; its own is {} s after what the schedule says",
            schedule.spread_seconds, job.spread_offset
        );
        rules.push(("Spread", text));
    }
    rules
}

fn late(draft: &JobDraft) -> Vec<Rule> {
    let catch_up = match draft.catch_up.as_str() {
        "latest" => "only the latest is run",
        _ => "all are run",
    };
    let misfire = match draft.misfire {
        MisfirePolicy::FireOnce => "run once".to_owned(),
        MisfirePolicy::Skip => "skipped".to_owned(),
        MisfirePolicy::FireAll => format!("run, the latest {} of them", draft.misfire_limit),
        MisfirePolicy::FireWithin => format!("run if they are at most {} s old", draft.misfire_window_seconds),
    };
    let threshold = draft.misfire_threshold_seconds;
    vec![
        ("Late fires", catch_up.to_owned()),
        ("Missed fires", format!("{misfire}; missed is what is later than {threshold} s")),
    ]
}

fn overlap(draft: &JobDraft) -> Vec<Rule> {
    let overlap = match draft.overlap {
        Overlap::Wait => {
            format!("{}; at most {} wait, the rest is skipped", draft.overlap.summary(), draft.overlap_queue)
        }
        other => other.summary().to_owned(),
    };
    vec![("While one runs", overlap), ("… in one executor", draft.block.summary().to_owned())]
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
        assert_eq!(late(&draft)[1].1, "run, the latest 7 of them; missed is what is later than 60 s");
        (draft.overlap, draft.overlap_queue) = (Overlap::Wait, 3);
        assert!(overlap(&draft)[0].1.ends_with("at most 3 wait, the rest is skipped"));
    }
}
