//! People at work: jobs that are edited, stopped and started every few seconds, paused for some seconds, and fires by hand, at once or later.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::api::{Api, Reply, schedule};
use super::jobs::step;
use super::{CALENDAR, Calls, delayed, limited};
use crate::clock::{now, text};
use crate::random::Random;
use crate::record::{Call, Job, Op};

/// What a node that was paused may need for the requests that have waited meanwhile.
const SERVED: Duration = Duration::from_secs(6);

/// The longest pause that ends by itself, ms: the nodes' short look-ahead is 2 s.
pub const LONGEST_REST: u64 = 8_000;

/// Until `stop`; a request that is under way then comes to its end, or the definition at the end would be unknown.
/// `longest_pause`: of a node.
pub async fn work(
    api: Arc<Api>,
    jobs: Vec<Job>,
    calls: Calls,
    seed: u64,
    longest_pause: Duration,
    stop: CancellationToken,
) {
    let of = |group: &str| -> Vec<Job> { jobs.iter().filter(|job| job.group == group).cloned().collect() };
    let desk = |number: u64| Desk {
        api: api.clone(),
        calls: calls.clone(),
        random: Random::new(seed ^ number),
        unclear: longest_pause + SERVED,
        stop: stop.clone(),
    };
    let editors = of("edited").into_iter().enumerate().map(|(number, job)| edit(desk(number as u64 + 1), job));
    let rests = of("resting").into_iter().enumerate().map(|(number, job)| rest(desk(number as u64 + 50), job));
    let counted = of("counted").into_iter().enumerate().map(|(number, job)| describe(desk(number as u64 + 70), job));
    let hands = trigger(desk(99), of("by_hand"));
    let bursts = burst(desk(98), of(limited::GROUP));
    tokio::join!(
        futures_util::future::join_all(editors),
        futures_util::future::join_all(rests),
        futures_util::future::join_all(counted),
        hands,
        bursts,
        delayed::clients(desk, of("delayed"))
    );
}

/// Where a person works.
pub(super) struct Desk {
    pub(super) api: Arc<Api>,
    pub(super) calls: Calls,
    pub(super) random: Random,
    /// How long a job is left alone after an edit whose outcome is unclear.
    unclear: Duration,
    stop: CancellationToken,
}

impl Desk {
    /// False: the work is over.
    pub(super) async fn pause(&mut self, from: u64, to: u64) -> bool {
        let pause = tokio::time::sleep(Duration::from_millis(self.random.between(from, to)));
        self.stop.run_until_cancelled(pause).await.is_some()
    }
}

/// One job, over and over: another period, pause, go on.
async fn edit(mut desk: Desk, job: Job) {
    while desk.pause(1_500, 4_000).await {
        let random = &mut desk.random;
        let node = random.below(3) as usize;
        let (op, path, method, body) = match random.below(4) {
            0 => (Op::Disable, "disable", Method::POST, json!({})),
            1 => (Op::Enable, "enable", Method::POST, json!({})),
            _ => {
                let (op, draft) = rhythm(&job, step(random.below(3), random.between(1, 4)));
                (op, "", Method::PUT, draft)
            }
        };
        let path = format!("api/v1/jobs/{}/{path}", job.id);
        let invoked_at = now();
        let reply = desk.api.ask(node, method, path.trim_end_matches('/'), Some(&body)).await;
        let asked = (job.id, desk.api.name(node));
        note(&desk.calls, asked, op, invoked_at, &reply);
        if matches!(reply, Reply::Unclear(_)) {
            // A paused node may still hold the request and perform it later. An edit that overtakes it would leave two
            // definitions possible for as long, and the checker could require neither's instants.
            tokio::time::sleep(desk.unclear).await;
        }
    }
}

/// One job, over and over: paused for less or more than the look-ahead, and left alone until it was resumed. No other client changes
/// it, so each of its instants must be recorded: on time, or by its misfire policy after the pause.
async fn rest(mut desk: Desk, job: Job) {
    while desk.pause(1_000, 6_000).await {
        let node = desk.random.below(3) as usize;
        let lasts = desk.random.between(300, LONGEST_REST);
        let (invoked_at, path) = (now(), format!("api/v1/jobs/{}/disable", job.id));
        let until = invoked_at + lasts as i64;
        let reply = desk.api.ask(node, Method::POST, &path, Some(&json!({"until": text(until)}))).await;
        note(&desk.calls, (job.id, desk.api.name(node)), Op::Pause { until }, invoked_at, &reply);
        // Also when the work is over: a job that is disabled in its pause is not resumed, and its instants are not made up for.
        let resumed = Duration::from_millis(lasts) + SERVED;
        let unclear = if matches!(reply, Reply::Unclear(_)) { desk.unclear } else { Duration::ZERO };
        tokio::time::sleep(resumed + unclear).await;
    }
}

/// One job whose fires are counted, over and over: its description or its calendar is changed, or it is paused without an end and
/// resumed. Each of them deletes or cancels runs that are recorded ahead, and none may take a fire away.
async fn describe(mut desk: Desk, job: Job) {
    let path = format!("api/v1/jobs/{}", job.id);
    while desk.pause(700, 2_000).await {
        let node = desk.random.below(3) as usize;
        let (op, path, method, body) = match desk.random.below(5) {
            0 => (Op::Disable, format!("{path}/disable"), Method::POST, json!({})),
            1 | 2 => (Op::Enable, format!("{path}/enable"), Method::POST, json!({})),
            3 => {
                let days = format!("2099-12-{}", desk.random.between(10, 28));
                let body = json!({"name": CALENDAR, "days": [days]});
                // The change of the calendar changes no instant, so the checker need not know of it.
                desk.api.ask(node, Method::PUT, &format!("api/v1/calendars/{CALENDAR}"), Some(&body)).await;
                continue;
            }
            _ => {
                let mut draft = job.draft.clone();
                draft["description"] = format!("changed at {}", now()).into();
                (Op::Edit { schedule: job.schedule.clone() }, path.clone(), Method::PUT, draft)
            }
        };
        let invoked_at = now();
        let reply = desk.api.ask(node, method, &path, Some(&body)).await;
        note(&desk.calls, (job.id, desk.api.name(node)), op, invoked_at, &reply);
        if matches!(reply, Reply::Unclear(_)) {
            tokio::time::sleep(desk.unclear).await;
        }
    }
}

/// An edit says all of a job; it also enables it.
fn rhythm(job: &Job, wanted: Value) -> (Op, Value) {
    let op = Op::Edit { schedule: schedule(&wanted, &json!({})) };
    let draft = json!({
        "app": job.app, "name": job.name, "handler": "work", "misfire_threshold_seconds": 20, "retries": job.retries,
        "schedule": wanted,
    });
    (op, draft)
}

async fn trigger(mut desk: Desk, jobs: Vec<Job>) {
    while desk.pause(400, 1_200).await {
        let Some(job) = desk.random.pick(&jobs).cloned() else {
            return;
        };
        run_by_hand(&mut desk, &job).await;
    }
}

/// Twice as many runs at once as the limit of their jobs lets be at work.
async fn burst(mut desk: Desk, jobs: Vec<Job>) {
    while !jobs.is_empty() && desk.pause(1_500, 3_000).await {
        for _ in 0..2 * limited::SLOTS {
            let Some(job) = desk.random.pick(&jobs).cloned() else {
                return;
            };
            run_by_hand(&mut desk, &job).await;
        }
    }
}

async fn run_by_hand(desk: &mut Desk, job: &Job) {
    let node = desk.random.below(3) as usize;
    let path = format!("api/v1/jobs/{}/run", job.id);
    let invoked_at = now();
    let nothing = json!({});
    let reply = desk.api.ask(node, Method::POST, &path, Some(&nothing)).await;
    let asked = (job.id, desk.api.name(node));
    note(&desk.calls, asked, Op::Run, invoked_at, &reply);
}

/// Writes down a call that has returned just now: the job, the node that was asked, and the answer.
pub fn note(calls: &Calls, asked: (i64, String), op: Op, invoked_at: i64, reply: &Reply) {
    let run = match (&op, reply) {
        (Op::Run, Reply::Ok(answer)) => answer["id"].as_i64(),
        _ => None,
    };
    note_run(calls, asked, op, invoked_at, reply, run);
}

/// The same of a call about this run or delayed trigger.
pub(super) fn note_run(
    calls: &Calls,
    (job, node): (i64, String),
    op: Op,
    invoked_at: i64,
    reply: &Reply,
    run: Option<i64>,
) {
    let call = Call { job, node: Some(node), op, invoked_at, returned_at: now(), outcome: reply.outcome(), run };
    calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(call);
}
