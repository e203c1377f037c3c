//! Ready definitions for three classes of work: what a new job starts from, to be changed before it is saved.

use super::draft::JobDraft;
use crate::plan::misfire::MisfirePolicy;
use crate::retry::RetryDelay;
use crate::route::RouteStrategy;
use crate::run::overlap::Overlap;
use crate::schedule::ScheduleDraft;
use crate::words::words;

words! {
    /// A class of work, by the definition that suits it.
    pub enum JobTemplate: "job template" {
        /// Once a night, and once after an outage: a report, an invoice run. It is tried again when it fails.
        Report = 0 "report",
        /// Again and again, a minute after its last end: it looks for new work. What was missed is of no use.
        Poll = 1 "poll",
        /// On every executor, for a long time: a clean-up. It has a time-out, and raises alarms when it is late or fails each time.
        Cleanup = 2 "cleanup",
    }
}

impl JobTemplate {
    /// The definition, without an app and a name. `timezone` is that of its clock times.
    pub fn draft(self, timezone: &str) -> JobDraft {
        let draft = JobDraft::new("", "", self.as_str());
        match self {
            Self::Report => JobDraft {
                schedule: ScheduleDraft::cron("0 30 2 * * ?", timezone),
                misfire: MisfirePolicy::FireOnce,
                overlap: Overlap::Skip,
                timeout_seconds: 2 * 3_600,
                retries: 3,
                retry_delay: RetryDelay::Exponential { base_seconds: 60, cap_seconds: 1_800 },
                ..draft
            },
            Self::Poll => JobDraft {
                schedule: ScheduleDraft::fixed_delay(60),
                misfire: MisfirePolicy::Skip,
                overlap: Overlap::Skip,
                timeout_seconds: 300,
                ..draft
            },
            Self::Cleanup => JobDraft {
                schedule: ScheduleDraft::cron("0 0 4 ? * SUN", timezone),
                misfire: MisfirePolicy::Skip,
                route: RouteStrategy::Broadcast,
                overlap: Overlap::Skip,
                timeout_seconds: 4 * 3_600,
                flag_after_seconds: 600,
                pause_after_failures: 3,
                ..draft
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::ScheduleContext;

    const NOW: i64 = 1_751_641_200_000; // 2025-07-04T15:00:00Z

    // covers: 002-1
    #[test]
    fn each_template_is_a_valid_job_once_it_has_an_app_and_a_name() {
        for template in JobTemplate::ALL {
            for timezone in ["UTC", "Asia/Shanghai", "America/New_York"] {
                let draft = JobDraft { app: "billing".into(), name: template.to_string(), ..template.draft(timezone) };
                let spec = draft.validate(&ScheduleContext::from_anchor(NOW), None, NOW);
                let spec = spec.unwrap_or_else(|errors| panic!("{template}: {errors:?}"));
                assert!(spec.schedule.first_after(NOW).is_some(), "{template} fires");
                assert_eq!(spec.handler, template.as_str());
            }
        }
    }

    #[test]
    fn the_classes_differ_in_what_matters_to_them() {
        let [report, poll, cleanup] = JobTemplate::ALL else { panic!("three classes") };
        let [report, poll, cleanup] = [report, poll, cleanup].map(|template| template.draft("UTC"));
        assert_eq!((report.schedule.kind(), report.misfire), ("cron", MisfirePolicy::FireOnce));
        assert!(report.retries > 0);
        assert_eq!(
            (poll.schedule.kind(), poll.misfire, poll.overlap),
            ("fixed_delay", MisfirePolicy::Skip, Overlap::Skip)
        );
        assert_eq!(cleanup.route, RouteStrategy::Broadcast);
        assert!(cleanup.timeout_seconds > 0 && cleanup.flag_after_seconds > 0 && cleanup.pause_after_failures > 0);
    }
}
