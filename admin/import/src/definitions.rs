//! What files of another scheduler become: jobs for `carillon apply`, and what means something else here.

use carillon_files::export::{new_keys, write_jobs};
use carillon_files::live::{Live, LiveJob};
use carillon_scheduler::{FieldError, JobDraft, Millis, ScheduleContext};

/// What a person has to know about a line or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// `crontab:12`, `cronjob/backup`; empty: it concerns them all.
    pub place: String,
    pub text: String,
}

/// Jobs, and what is said about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    pub jobs: Vec<JobDraft>,
    /// What became a job and differs in something.
    pub remarks: Vec<Remark>,
    /// What became no job.
    pub left_out: Vec<Remark>,
}

impl Definitions {
    pub(crate) fn remark(&mut self, place: impl Into<String>, text: impl Into<String>) {
        let remark = Remark { place: place.into(), text: text.into() };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// # Errors
    /// What a server would refuse.
    pub(crate) fn check(job: &JobDraft, now: Millis) -> Result<(), String> {
        let checked = job.validate(&ScheduleContext::from_anchor(now), None, now);
        checked.map(drop).map_err(|errors| FieldError::join(&errors))
    }

    pub(crate) fn leave_out(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.left_out.push(Remark { place: place.into(), text: text.into() });
    }

    /// The file for `carillon apply`. A job without a key gets one made from its name.
    pub fn file(&self, set: &str, app: &str) -> String {
        let live = |(id, draft): (i64, &JobDraft)| LiveJob {
            id,
            revision: 1,
            draft: draft.clone(),
            fires_left: None,
            pause: None,
        };
        let known = Live::new(vec![], (1..).zip(&self.jobs).map(live));
        let mut jobs = self.jobs.clone();
        for (id, key) in new_keys(&known, |_| true) {
            if let Some(job) = usize::try_from(id - 1).ok().and_then(|index| jobs.get_mut(index)) {
                job.key = key;
            }
        }
        write_jobs(set, app, &jobs)
    }
}
