//! Looks for conditions that no alarm reports, on behalf of the rules that ask for them.

use std::collections::HashMap;

use carillon_scheduler::{AlertKind, Millis};
use carillon_store::alert::recovery::{app_subject, executor_subject};
use carillon_store::alert::routing::{AlertEvent, Mark, Unrouted};
use carillon_store::alert::rules::AlertRule;
use carillon_store::{Result, Store};

use crate::rule_match::matches;
use crate::usual_duration::UsualDurations;

/// How far back an executor's end is news.
const LOOK_BACK: Millis = 3_600_000;
/// An app without an executor for less than this may just be deployed.
const EMPTY_FOR: Millis = 30_000;
/// A run of less than this is not compared with its job's percentile: the look comes no more often.
const SHORTEST_BY_PERCENTILE: Millis = 10_000;

/// What the looks remember.
#[derive(Default)]
pub struct Memory {
    usual: UsualDurations,
    /// Since when each app has been without an executor, as far as it was seen: executors that leave in order leave no trace.
    empty_since: HashMap<i64, Millis>,
}

/// A condition that has lasted since `at`.
fn condition(kind: AlertKind, app_id: Option<i64>, text: String, at: Millis) -> Unrouted {
    Unrouted { mark: Mark::Alarm { id: 0 }, kind, job_id: None, job: None, app_id, run_id: None, text, at }
}

/// What of all rules' conditions holds now. `in_grace`: after an outage executors may still have to register again, so none is missed.
pub async fn look(
    store: &Store,
    rules: &[AlertRule],
    memory: &mut Memory,
    shards: i32,
    in_grace: bool,
    now: Millis,
) -> Result<Vec<AlertEvent>> {
    let asks = |kind| rules.iter().any(|rule| rule.enabled && rule.definition.kinds.contains(&kind));
    let mut events = vec![];
    if asks(AlertKind::ExecutorLost) && !in_grace {
        for lost in store.alerts().lost_executors(now - LOOK_BACK, now).await? {
            let text = format!("the executor {} of the app {} sends no heartbeats any more", lost.address, lost.app);
            let event = condition(AlertKind::ExecutorLost, lost.app_id, text, lost.expired_at);
            add(&mut events, rules, &event, &executor_subject(&lost.app, &lost.address));
        }
    }
    let asks_for_empty = asks(AlertKind::NoExecutor) && !in_grace;
    let empty = if asks_for_empty { store.alerts().apps_without_executor(now).await? } else { vec![] };
    memory.empty_since.retain(|id, _| empty.iter().any(|app| app.app_id == *id));
    for app in empty {
        let since = *memory.empty_since.entry(app.app_id).or_insert(now);
        if since <= now - EMPTY_FOR {
            let text = format!("no executor of the app {} is online: its jobs fail", app.app);
            let event = condition(AlertKind::NoExecutor, Some(app.app_id), text, since);
            add(&mut events, rules, &event, &app_subject(app.app_id));
        }
    }
    events.extend(long_runs(store, rules, &mut memory.usual, shards, now).await?);
    Ok(events)
}

fn add(events: &mut Vec<AlertEvent>, rules: &[AlertRule], event: &Unrouted, subject: &str) {
    let lasting = |event| AlertEvent { subject: subject.to_owned(), is_lasting: true, ..event };
    events.extend(matches(rules, event).into_iter().map(lasting));
}

/// Each rule has limits of its own, so a run may concern some of them only.
async fn long_runs(
    store: &Store,
    rules: &[AlertRule],
    usual: &mut UsualDurations,
    shards: i32,
    now: Millis,
) -> Result<Vec<AlertEvent>> {
    let asking = rules.iter().filter(|rule| rule.enabled && rule.definition.kinds.contains(&AlertKind::LongRunning));
    let asking: Vec<&AlertRule> = asking.collect();
    let shortest = asking.iter().filter_map(|rule| shortest_limit(rule)).min();
    let Some(shortest) = shortest else {
        return Ok(vec![]);
    };
    let runs = store.alerts().running_since(shards, now - shortest).await?;
    let percentiles = match asking.iter().any(|rule| rule.definition.running_p95_percent.is_some()) {
        true => usual.of(store, runs.iter().map(|run| run.job_id).collect(), now).await?,
        false => HashMap::new(),
    };
    let mut events = vec![];
    for run in runs {
        let running_ms = now - run.since;
        let percentile = percentiles.get(&run.job_id).copied();
        for rule in asking.iter().filter(|rule| limit(rule, percentile).is_some_and(|limit| running_ms >= limit)) {
            let usually = match percentile.filter(|_| rule.definition.running_p95_percent.is_some()) {
                Some(percentile) => format!("; 95 of 100 runs of the job take at most {} s", seconds(percentile)),
                None => String::new(),
            };
            let text = format!("run {} has been running for {} s{usually}", run.run_id, running_ms / 1000);
            let event = Unrouted {
                job_id: Some(run.job_id),
                job: run.job.clone(),
                run_id: Some(run.run_id),
                ..condition(AlertKind::LongRunning, Some(run.app_id), text, run.since)
            };
            // Several runs of a job may take long, and each has its own end.
            add(&mut events, std::slice::from_ref(*rule), &event, &format!("run:{}", run.run_id));
        }
    }
    Ok(events)
}

/// The shortest time after which the rule may call a run too long.
fn shortest_limit(rule: &AlertRule) -> Option<Millis> {
    let of_percentile = rule.definition.running_p95_percent.map(|_| SHORTEST_BY_PERCENTILE);
    fixed_limit(rule).into_iter().chain(of_percentile).min()
}

fn fixed_limit(rule: &AlertRule) -> Option<Millis> {
    rule.definition.running_seconds.map(|seconds| seconds * 1000)
}

/// After how long the rule calls a run of a job too long.
fn limit(rule: &AlertRule, percentile: Option<Millis>) -> Option<Millis> {
    let of_percentile = rule.definition.running_p95_percent.zip(percentile);
    let of_percentile = of_percentile.map(|(percent, usual)| (usual * percent / 100).max(SHORTEST_BY_PERCENTILE));
    fixed_limit(rule).into_iter().chain(of_percentile).min()
}

fn seconds(duration: Millis) -> f64 {
    duration as f64 / 1000.0
}
