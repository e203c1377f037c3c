//! Which rules an event concerns, and what it counts for.

use carillon_store::alert::routing::{AlertEvent, Unrouted};
use carillon_store::alert::rules::{AlertRule, GroupBy};

/// The events that rules make of one.
pub fn matches(rules: &[AlertRule], event: &Unrouted) -> Vec<AlertEvent> {
    let concerned = rules.iter().filter(|rule| concerns(rule, event));
    concerned.map(|rule| alert_event(rule, event)).collect()
}

fn concerns(rule: &AlertRule, event: &Unrouted) -> bool {
    let of_app = rule.app_id.is_none_or(|app_id| event.app_id == Some(app_id));
    let jobs = &rule.definition.jobs;
    let of_job = jobs.is_empty() || event.job_id.is_some_and(|id| jobs.contains(&id));
    rule.enabled && of_app && of_job && rule.definition.kinds.contains(&event.kind)
}

fn alert_event(rule: &AlertRule, event: &Unrouted) -> AlertEvent {
    let definition = &rule.definition;
    let of_app = event.app_id.map_or_else(|| "rule".to_owned(), |id| format!("app:{id}"));
    let (group_key, app_id) = match definition.group_by {
        GroupBy::Rule => ("rule".to_owned(), rule.app_id),
        GroupBy::App => (of_app, event.app_id),
        GroupBy::Job => (event.job_id.map_or(of_app, |id| format!("job:{id}")), event.app_id),
    };
    let subject = match event.job_id {
        Some(id) if event.kind.is_outcome() => format!("job:{id}"),
        Some(id) => format!("{}:job:{id}", event.kind),
        None => event.kind.to_string(),
    };
    AlertEvent {
        rule_id: rule.id,
        group_key,
        app_id,
        subject,
        kind: event.kind,
        job_id: event.job_id,
        job: event.job.clone(),
        run_id: event.run_id,
        text: event.text.clone(),
        at: event.at,
        threshold: if event.kind.is_outcome() { definition.threshold } else { 1 },
        is_lasting: false,
        escalate_after_ms: definition.escalation.as_ref().map(|it| it.after_seconds * 1000),
        group_ms: definition.group_seconds * 1000,
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::AlertKind;
    use carillon_store::alert::routing::Mark;
    use carillon_store::alert::rules::RuleDefinition;

    use super::*;

    fn rule(app_id: Option<i64>, definition: serde_json::Value) -> AlertRule {
        let definition: RuleDefinition = serde_json::from_value(definition).unwrap();
        AlertRule { id: 1, name: "r".to_owned(), app_id, definition, enabled: true, revision: 1, updated_at: 0 }
    }

    fn event(kind: AlertKind, job_id: Option<i64>, app_id: Option<i64>) -> Unrouted {
        let mark = Mark::Alarm { id: 1 };
        Unrouted { mark, kind, job_id, job: None, app_id, run_id: None, text: String::new(), at: 5 }
    }

    #[test]
    fn a_rule_concerns_its_kinds_its_app_and_its_jobs() {
        let failed = serde_json::json!({"kinds": ["failed", "clock"], "channels": [1]});
        let (all, of_app) = (rule(None, failed.clone()), rule(Some(7), failed));
        let jobs = rule(None, serde_json::json!({"kinds": ["failed"], "jobs": [12], "channels": [1]}));
        let count = |kind, job_id, app_id| {
            let event = event(kind, job_id, app_id);
            [&all, &of_app, &jobs].map(|rule| matches(std::slice::from_ref(rule), &event).len())
        };
        assert_eq!(count(AlertKind::Failed, Some(12), Some(7)), [1, 1, 1]);
        assert_eq!(count(AlertKind::Failed, Some(13), Some(8)), [1, 0, 0]);
        assert_eq!(count(AlertKind::Clock, None, None), [1, 0, 0], "the scheduler is of no app");
        assert_eq!(count(AlertKind::Paused, Some(12), Some(7)), [0, 0, 0]);
        let off = AlertRule { enabled: false, ..all };
        assert_eq!(matches(&[off], &event(AlertKind::Failed, Some(12), Some(7))), []);
    }

    #[test]
    fn events_are_grouped_as_the_rule_says() {
        let key = |by: &str, job_id, app_id| {
            let rule =
                rule(None, serde_json::json!({"kinds": ["failed"], "group_by": by, "channels": [1], "threshold": 3}));
            let event = alert_event(&rule, &event(AlertKind::Failed, job_id, app_id));
            (event.group_key, event.subject, event.app_id, event.threshold)
        };
        let job = || "job:12".to_owned();
        assert_eq!(key("app", Some(12), Some(7)), ("app:7".to_owned(), job(), Some(7), 3));
        assert_eq!(key("job", Some(12), Some(7)), (job(), job(), Some(7), 3));
        assert_eq!(key("rule", Some(12), Some(7)), ("rule".to_owned(), job(), None, 3));
        assert_eq!(key("job", None, None).0, "rule");
    }
}
