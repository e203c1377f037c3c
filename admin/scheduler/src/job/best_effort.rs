//! What a best-effort job may not have, as its fires are not recorded.

use super::draft::JobDraft;
use super::durability::Durability;
use crate::field_error::FieldError;
use crate::plan::misfire::{CatchUp, MisfirePolicy};
use crate::route::RouteStrategy;
use crate::run::overlap::Overlap;
use crate::schedule::KindDraft;

impl JobDraft {
    /// Whether one executor fires it by itself.
    pub fn is_best_effort(&self) -> bool {
        self.durability == Durability::BestEffort
    }

    /// What a best-effort job has that needs records of its fires, or a durable one that is too fast for them.
    pub(super) fn durability_faults(&self) -> Vec<FieldError> {
        if !self.is_best_effort() {
            let is_fast = matches!(self.schedule.kind, KindDraft::FixedPeriod { .. });
            let message = "is for best-effort jobs: durable ones fire at whole seconds; give `seconds`";
            return is_fast.then(|| FieldError::new("schedule.milliseconds", message)).into_iter().collect();
        }
        let faults = [
            (self.script.is_some(), "script", "must be empty; a best-effort job has a handler"),
            (self.workflow.is_some(), "workflow", "must be empty; a best-effort job has a handler"),
            (self.http.is_some(), "http", "must be empty; a best-effort job has a handler"),
            (!self.parts.is_one(), "parts", "must be 1: a best-effort job has one executor"),
            (self.schedule.kind() == "none", "schedule", "is missing; a best-effort job fires by its schedule alone"),
            (
                self.schedule.max_fires.is_some(),
                "schedule.max_fires",
                "needs a record of each run, which a best-effort job does not have",
            ),
            (
                self.catch_up != CatchUp::default(),
                "catch_up",
                "must be `all`: late fires of a best-effort job are counted as skipped",
            ),
            (
                self.misfire != MisfirePolicy::default(),
                "misfire",
                "must be `fire_once`: late fires of a best-effort job are counted as skipped",
            ),
            (
                self.route == RouteStrategy::Broadcast,
                "route",
                "cannot be `broadcast`: a best-effort job has one executor",
            ),
            (
                self.overlap != Overlap::default(),
                "overlap",
                "must be `allow`: a best-effort job never has two calls at a time",
            ),
            (self.retries != 0, "retries", "must be 0: a best-effort job has its next fire in their place"),
            (
                !self.children.is_empty(),
                "children",
                "must be empty: they follow recorded runs, which a best-effort job does not have",
            ),
            (!self.limits.is_empty(), "limits", "must be empty: a best-effort job has no runs that could wait"),
            (self.priority != 0, "priority", "must be 0: a best-effort job has no runs that could wait"),
            (
                self.flag_after_seconds != 0,
                "flag_after_seconds",
                "must be 0: a best-effort job has no runs that could wait",
            ),
            (
                self.start_within_seconds != 0,
                "start_within_seconds",
                "must be 0: a best-effort job has no runs that could wait",
            ),
            (
                self.pause_after_failures != 0,
                "pause_after_failures",
                "must be 0: it counts recorded runs, which a best-effort job does not have",
            ),
        ];
        let wrong = faults.into_iter().filter(|(is_wrong, ..)| *is_wrong);
        wrong.map(|(_, field, message)| FieldError::new(field, message)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{ScheduleContext, ScheduleDraft};
    use crate::time::Millis;

    const NOW: Millis = 1_751_641_200_000;

    fn faults(change: impl FnOnce(&mut JobDraft)) -> Vec<String> {
        let schedule = ScheduleDraft::fixed_rate(1);
        let mut draft =
            JobDraft { durability: Durability::BestEffort, schedule, ..JobDraft::new("billing", "tick", "tick") };
        change(&mut draft);
        let errors = draft.validate(&ScheduleContext::from_anchor(NOW), None, NOW).err().unwrap_or_default();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_best_effort_job_has_nothing_that_needs_records() {
        assert_eq!(faults(|_| ()), [""; 0]);
        assert_eq!(faults(|draft| draft.timeout_seconds = 5), [""; 0]);
        let fast = || KindDraft::FixedPeriod { milliseconds: 50 }.into();
        assert_eq!(faults(|draft| draft.schedule = fast()), [""; 0]);
        let durable = faults(|draft| (draft.schedule, draft.durability) = (fast(), Durability::Durable));
        assert_eq!(
            durable,
            ["schedule.milliseconds: is for best-effort jobs: durable ones fire at whole seconds; give `seconds`"]
        );
        let wrong = faults(|draft| {
            draft.schedule = ScheduleDraft::none();
            draft.misfire = MisfirePolicy::Skip;
            draft.catch_up = CatchUp::Latest;
            draft.route = RouteStrategy::Broadcast;
            draft.retries = 2;
            draft.limits = vec!["api".into()];
            draft.priority = 5;
            draft.start_within_seconds = 5;
            draft.children = vec![3];
        });
        let fields: Vec<&str> = wrong.iter().filter_map(|error| error.split(':').next()).collect();
        assert_eq!(
            fields,
            [
                "schedule",
                "catch_up",
                "misfire",
                "route",
                "retries",
                "children",
                "limits",
                "priority",
                "start_within_seconds"
            ]
        );
    }

    #[test]
    fn a_job_is_durable_unless_it_says_otherwise() {
        let mut durable = serde_json::to_value(JobDraft::new("billing", "tick", "tick")).unwrap();
        assert_eq!(durable["durability"], "durable");
        durable.as_object_mut().unwrap().remove("durability");
        assert!(!serde_json::from_value::<JobDraft>(durable).unwrap().is_best_effort());
        let draft = JobDraft { durability: Durability::BestEffort, ..JobDraft::new("billing", "tick", "tick") };
        let json = serde_json::to_value(&draft).unwrap();
        assert_eq!(json["durability"], "best_effort");
        assert_eq!(serde_json::from_value::<JobDraft>(json).unwrap(), draft);
    }
}
