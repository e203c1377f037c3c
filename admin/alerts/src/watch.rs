//! Looks for conditions that no alarm reports, on behalf of the rules that ask for them.

use carillon_scheduler::{AlertKind, Millis};
use carillon_store::alert::recovery::{app_subject, executor_subject};
use carillon_store::alert::routing::{AlertEvent, Mark, Unrouted};
use carillon_store::alert::rules::AlertRule;
use carillon_store::{Result, Store};

use crate::rule_match::{alert_event, matches};

/// How far back an executor's end is news.
const LOOK_BACK: Millis = 3_600_000;
/// An app without an executor for less than this may just be deployed.
const EMPTY_FOR: Millis = 30_000;

/// A condition that has lasted since `at`.
fn condition(kind: AlertKind, app_id: Option<i64>, text: String, at: Millis) -> Unrouted {
    Unrouted { mark: Mark::Alarm { id: 0 }, kind, job_id: None, job: None, app_id, run_id: None, text, at }
}

/// What of all rules' conditions holds now.
pub async fn look(store: &Store, rules: &[AlertRule], shards: i32, now: Millis) -> Result<Vec<AlertEvent>> {
    let asks = |kind| rules.iter().any(|rule| rule.enabled && rule.definition.kinds.contains(&kind));
    let mut events = vec![];
    if asks(AlertKind::ExecutorLost) {
        for lost in store.lost_executors(now - LOOK_BACK, now).await? {
            let text = format!("the executor {} of the app {} sends no heartbeats any more", lost.address, lost.app);
            let event = condition(AlertKind::ExecutorLost, lost.app_id, text, lost.expired_at);
            add(&mut events, rules, &event, &executor_subject(&lost.app, &lost.address));
        }
    }
    if asks(AlertKind::NoExecutor) {
        for app in store.apps_without_executor(now).await?.iter().filter(|app| app.since < now - EMPTY_FOR) {
            let text = format!("no executor of the app {} is online: its jobs fail", app.app);
            let event = condition(AlertKind::NoExecutor, Some(app.app_id), text, app.since);
            add(&mut events, rules, &event, &app_subject(app.app_id));
        }
    }
    events.extend(long_runs(store, rules, shards, now).await?);
    Ok(events)
}

fn add(events: &mut Vec<AlertEvent>, rules: &[AlertRule], event: &Unrouted, subject: &str) {
    let lasting = |event| AlertEvent { subject: subject.to_owned(), is_lasting: true, ..event };
    events.extend(matches(rules, event).into_iter().map(lasting));
}

/// Each rule has a limit of its own, so a run may concern some of them only.
async fn long_runs(store: &Store, rules: &[AlertRule], shards: i32, now: Millis) -> Result<Vec<AlertEvent>> {
    let limit = |rule: &&AlertRule| rule.definition.running_seconds.map(|seconds| seconds * 1000);
    let asking = rules.iter().filter(|rule| rule.enabled && rule.definition.kinds.contains(&AlertKind::LongRunning));
    let asking: Vec<(&AlertRule, Millis)> = asking.filter_map(|rule| Some((rule, limit(&rule)?))).collect();
    let Some(shortest) = asking.iter().map(|(_, limit)| *limit).min() else {
        return Ok(vec![]);
    };
    let mut events = vec![];
    for run in store.running_since(shards, now - shortest).await? {
        let running_ms = now - run.since;
        let event = Unrouted {
            job_id: Some(run.job_id),
            job: run.job,
            run_id: Some(run.run_id),
            ..condition(
                AlertKind::LongRunning,
                Some(run.app_id),
                format!("run {} has been running for {} s", run.run_id, running_ms / 1000),
                run.since,
            )
        };
        let over = asking
            .iter()
            .filter(|(rule, limit)| running_ms >= *limit && !matches(std::slice::from_ref(*rule), &event).is_empty());
        events.extend(over.map(|(rule, _)| AlertEvent { is_lasting: true, ..alert_event(rule, &event) }));
    }
    Ok(events)
}
