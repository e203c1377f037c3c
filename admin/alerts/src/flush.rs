//! The message of an alert that is due, and the time at which the alert is due again.

use carillon_scheduler::Millis;
use carillon_store::alert::alerts::{Alert, AlertState};
use carillon_store::alert::due::NotificationUpdate;
use carillon_store::alert::outage::Explained;
use carillon_store::alert::rules::AlertRule;

use crate::message::MessageKind;
use crate::silence::silent_until;

/// Until it is asked again whether another alert explains this one.
const ASK_AGAIN: Millis = 15_000;

/// Messages to be written, and the alert's next times.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// To which channels, and of which kind. That of the end goes to those that got the earlier ones.
    pub messages: Vec<(MessageKind, Vec<i64>)>,
    /// Its deliveries are still to be filled in.
    pub told: NotificationUpdate,
}

/// `rule` is None where it is gone. `explained`: whether another alert says why there are new events.
pub fn decide(alert: &Alert, rule: Option<&AlertRule>, explained: Explained, now: Millis) -> Decision {
    let mut told = NotificationUpdate {
        told: alert.told,
        steps: alert.steps,
        told_at: alert.told_at,
        escalated_at: alert.escalated_at,
        ..NotificationUpdate::default()
    };
    let Some(rule) = rule.filter(|rule| rule.enabled) else {
        let is_over = alert.state == AlertState::Resolved && alert.told > 0;
        let messages = if is_over { vec![(MessageKind::Resolved, vec![])] } else { vec![] };
        return Decision { messages, told };
    };
    let definition = &rule.definition;
    let is_due = |at: Option<Millis>| at.is_some_and(|at| at <= now);
    let by_person = alert.silent_until.filter(|until| *until > now);
    if let Some(until) = silent_until(&definition.silences, now).max(by_person) {
        let later = |at: Option<Millis>| if is_due(at) { Some(until) } else { at };
        (told.notify_at, told.repeat_at, told.escalate_at) =
            (later(alert.notify_at), later(alert.repeat_at), later(alert.escalate_at));
        return Decision { told, ..Decision::default() };
    }
    let escalation = definition.escalation.as_ref();
    let mut told_so_far = definition.channels.clone();
    if alert.escalated_at.is_some() {
        told_so_far.extend(escalation.iter().flat_map(|it| &it.channels));
    }
    let mut messages = vec![];
    match alert.state {
        AlertState::Resolved if definition.recovered => messages.push((MessageKind::Resolved, told_so_far)),
        AlertState::Open => {
            let has_events = is_due(alert.notify_at) && alert.events > alert.told;
            let has_news = has_events && explained == Explained::No;
            let later = |at: Option<Millis>| at.filter(|at| *at > now);
            if has_news || definition.repeat_seconds.is_some() && is_due(alert.repeat_at) {
                let kind = match (alert.told, has_news) {
                    (0, _) => MessageKind::Opened,
                    (_, true) => MessageKind::Update,
                    (_, false) => MessageKind::Reminder,
                };
                messages.push((kind, told_so_far));
                (told.told, told.told_at) = (alert.events, Some(now));
                told.steps += i64::from(has_news);
            }
            told.escalate_at = match escalation {
                // From the first message on, which a silence may have delayed.
                Some(it) if alert.told == 0 && has_news => Some(now + it.after_seconds * 1000),
                Some(it) if alert.told > 0 && is_due(alert.escalate_at) => {
                    messages.push((MessageKind::Escalated, it.channels.clone()));
                    told.escalated_at = Some(now);
                    None
                }
                Some(_) => later(alert.escalate_at),
                None => None,
            };
            let asks_again = has_events && explained == Explained::Soon;
            told.notify_at = if asks_again { Some(now + ASK_AGAIN) } else { later(alert.notify_at) };
            let repeat_at = definition.repeat_seconds.map(|seconds| now + seconds * 1000);
            told.repeat_at = if messages.is_empty() { later(alert.repeat_at) } else { repeat_at };
        }
        _ => {}
    }
    Decision { messages, told }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::AlertKind;
    use serde_json::{Value, json};

    use super::*;

    const NOW: Millis = 1_760_000_000_000;

    fn rule(more: Value) -> AlertRule {
        let mut definition = json!({"kinds": ["failed"], "channels": [1, 2]});
        definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let definition = serde_json::from_value(definition).unwrap();
        AlertRule { id: 1, name: "r".to_owned(), app_id: None, definition, enabled: true, revision: 1, updated_at: 0 }
    }

    fn open(events: i64, told: i64) -> Alert {
        Alert {
            id: 7,
            rule_id: 1,
            rule: None,
            group_key: "rule".to_owned(),
            app_id: None,
            app: None,
            state: AlertState::Open,
            kind: AlertKind::Failed,
            message: String::new(),
            events,
            told,
            steps: told.min(1),
            opened_at: NOW,
            last_at: NOW,
            told_at: None,
            notify_at: Some(NOW),
            repeat_at: None,
            escalate_at: None,
            escalated_at: None,
            acknowledged_at: None,
            acknowledged_by: None,
            note: None,
            silent_until: None,
            resolved_at: None,
        }
    }

    #[test]
    fn the_first_event_then_further_ones_then_reminders_are_told() {
        let rule = rule(json!({"repeat_seconds": 600}));
        let first = decide(&open(1, 0), Some(&rule), Explained::No, NOW);
        assert_eq!(first.messages, [(MessageKind::Opened, vec![1, 2])]);
        assert_eq!((first.told.told, first.told.notify_at, first.told.repeat_at), (1, None, Some(NOW + 600_000)));
        let more = decide(&open(500, 1), Some(&rule), Explained::No, NOW);
        assert_eq!((more.messages, more.told.told), (vec![(MessageKind::Update, vec![1, 2])], 500));
        let still = Alert { notify_at: None, repeat_at: Some(NOW), ..open(500, 500) };
        assert_eq!(decide(&still, Some(&rule), Explained::No, NOW).messages, [(MessageKind::Reminder, vec![1, 2])]);
        let early = Alert { notify_at: None, repeat_at: Some(NOW + 1), ..open(500, 500) };
        let early = decide(&early, Some(&rule), Explained::No, NOW);
        assert_eq!((early.messages, early.told.repeat_at), (vec![], Some(NOW + 1)));
        let never = decide(&still, Some(&self::rule(json!({}))), Explained::No, NOW);
        assert_eq!((never.messages, never.told.repeat_at), (vec![], None), "the rule reminds no more");
    }

    // covers: 001-40
    #[test]
    fn what_is_not_acknowledged_goes_to_the_second_list_once_and_its_end_to_both() {
        let rule = rule(json!({"escalation": {"channels": [9], "after_seconds": 60}}));
        let late = Alert { notify_at: None, escalate_at: Some(NOW), ..open(3, 3) };
        let escalated = decide(&late, Some(&rule), Explained::No, NOW);
        assert_eq!(escalated.messages, [(MessageKind::Escalated, vec![9])]);
        assert_eq!((escalated.told.escalated_at, escalated.told.escalate_at), (Some(NOW), None));
        let over = Alert { state: AlertState::Resolved, escalated_at: Some(NOW), ..open(3, 3) };
        assert_eq!(decide(&over, Some(&rule), Explained::No, NOW).messages, [(MessageKind::Resolved, vec![1, 2, 9])]);
        let off = decide(&late, Some(&self::rule(json!({}))), Explained::No, NOW);
        assert_eq!((off.messages, off.told.escalated_at), (vec![], None), "the rule has no second list any more");
        let acknowledged = Alert { state: AlertState::Acknowledged, ..open(3, 3) };
        assert_eq!(decide(&acknowledged, Some(&rule), Explained::No, NOW).messages, []);
    }

    #[test]
    fn the_second_list_has_its_time_from_the_first_message() {
        let rule = rule(json!({"escalation": {"channels": [9], "after_seconds": 60}}));
        // At the end of a silence, long after it was opened.
        let first = decide(&Alert { escalate_at: Some(NOW), ..open(1, 0) }, Some(&rule), Explained::No, NOW);
        assert_eq!(first.messages, [(MessageKind::Opened, vec![1, 2])]);
        assert_eq!((first.told.escalate_at, first.told.escalated_at), (Some(NOW + 60_000), None));
        let not_yet = Alert { notify_at: Some(NOW + 5), escalate_at: Some(NOW), ..open(1, 0) };
        let not_yet = decide(&not_yet, Some(&rule), Explained::No, NOW);
        assert_eq!((not_yet.messages, not_yet.told.notify_at), (vec![], Some(NOW + 5)));
    }

    #[test]
    fn nothing_is_told_in_a_silence_and_what_lasts_is_told_at_its_end() {
        // All of the time, in windows of a day.
        let always = json!([{"weekdays": ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"], "from": "00:00", "to": "00:00", "zone": "UTC"}]);
        let rule = rule(json!({"silences": always, "recovered": false}));
        let silent = decide(&Alert { repeat_at: Some(NOW + 5), ..open(1, 0) }, Some(&rule), Explained::No, NOW);
        assert_eq!((silent.messages, silent.told.told), (vec![], 0));
        let until = silent.told.notify_at.unwrap();
        assert!(until > NOW && until % 86_400_000 == 0, "{until}");
        assert_eq!(silent.told.repeat_at, Some(NOW + 5));
        let person = Alert { silent_until: Some(NOW + 9), ..open(1, 0) };
        let silent = decide(&person, Some(&self::rule(json!({}))), Explained::No, NOW);
        assert_eq!((silent.messages, silent.told.notify_at), (vec![], Some(NOW + 9)));
        let gone = decide(&open(1, 0), None, Explained::No, NOW);
        assert_eq!((gone.messages, gone.told.notify_at), (vec![], None));
    }

    // covers: G20
    #[test]
    fn what_was_told_ends_also_without_a_rule() {
        let over = Alert { state: AlertState::Resolved, ..open(3, 3) };
        assert_eq!(decide(&over, None, Explained::No, NOW).messages, [(MessageKind::Resolved, vec![])]);
        let untold = Alert { state: AlertState::Resolved, ..open(3, 0) };
        assert_eq!(decide(&untold, None, Explained::No, NOW).messages, []);
    }

    // covers: B4
    #[test]
    fn events_that_another_alert_explains_are_not_told() {
        let rule = rule(json!({}));
        let yes = decide(&open(1, 0), Some(&rule), Explained::Yes, NOW);
        assert_eq!((yes.messages, yes.told.told, yes.told.notify_at), (vec![], 0, None));
        let soon = decide(&open(1, 0), Some(&rule), Explained::Soon, NOW);
        assert_eq!((soon.messages, soon.told.notify_at), (vec![], Some(NOW + ASK_AGAIN)));
        let no = decide(&open(5, 1), Some(&rule), Explained::No, NOW);
        assert_eq!((no.messages.len(), no.told.steps), (1, 2));
    }
}
