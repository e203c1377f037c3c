//! Delayed triggers: runs that are asked for some seconds ahead; some are given another time, some are cancelled.

use reqwest::Method;
use serde_json::{Value, json};

use super::APP;
use super::api::Reply;
use super::clients::{Desk, note_run};
use super::jobs::Planned;
use crate::clock::{Millis, now, text};
use crate::executor::work::MIXED;
use crate::random::secret;
use crate::record::{Job, Op};

const JOBS: usize = 20;
/// How far ahead runs are asked for, ms: inside the look-ahead, and behind it.
const AHEAD: (u64, u64) = (500, 12_000);
/// A trigger is cancelled at least this long before its time, ms. A later request would mostly meet a run that was sent.
const CANCELLED_BEFORE: Millis = 3_000;
/// Requests with one key before its outcome stays unclear.
const TRIES: usize = 12;

/// Jobs without a schedule, half of them at most once.
pub fn delayed() -> Vec<Planned> {
    let job = |number: usize| Planned {
        group: "delayed",
        draft: json!({
            "app": APP, "name": format!("delayed {number}"), "handler": "work", "params": MIXED,
            "schedule": {"kind": "none"}, "retries": if number.is_multiple_of(2) { 0 } else { 2 },
        }),
    };
    (0..JOBS).map(job).collect()
}

/// One trigger after the other, until the work is over.
async fn trigger(mut desk: Desk, jobs: Vec<Job>) {
    while desk.pause(200, 900).await {
        let Some(job) = desk.random.pick(&jobs).cloned() else { return };
        let Some((trigger, due_at)) = create(&mut desk, &job).await else { continue };
        match desk.random.below(10) {
            0..=3 => move_to(&mut desk, &job, trigger).await,
            4 | 5 => cancel(&mut desk, &job, trigger, due_at).await,
            _ => {}
        }
    }
}

/// Asks for a run; a request whose outcome is unclear is repeated with its key, and must find the trigger of the first one. Answers the
/// number and the time of the trigger.
async fn create(desk: &mut Desk, job: &Job) -> Option<(i64, Millis)> {
    let (node, ahead) = (desk.random.below(3) as usize, desk.random.between(AHEAD.0, AHEAD.1));
    let (invoked_at, key) = (now(), secret().ok()?);
    let at = invoked_at + ahead as Millis;
    let path = format!("api/v1/jobs/{}/run", job.id);
    let body = json!({"at": text(at)});
    let mut reply = desk.api.ask_once(node, Method::POST, &path, &body, &key).await;
    for again in 1..TRIES {
        // A refusal says nothing of the request before it.
        if !matches!(reply, Reply::Unclear(_)) || !desk.pause(500, 1_000).await {
            break;
        }
        let repeated = desk.api.ask_once(node + again, Method::POST, &path, &body, &key).await;
        if matches!(repeated, Reply::Ok(_)) {
            reply = repeated;
        }
    }
    let trigger = match &reply {
        Reply::Ok(answer) => trigger_of(answer),
        _ => None,
    };
    note_run(&desk.calls, (job.id, desk.api.name(node)), Op::Delay { at }, invoked_at, &reply, trigger);
    trigger.map(|trigger| (trigger, at))
}

/// The answer is that of the trigger, or of the run that it has become.
fn trigger_of(answer: &Value) -> Option<i64> {
    answer["scheduled_id"].as_i64().or(answer["id"].as_i64())
}

async fn move_to(desk: &mut Desk, job: &Job, trigger: i64) {
    if !desk.pause(50, 1_500).await {
        return;
    }
    let (node, ahead) = (desk.random.below(3) as usize, desk.random.between(AHEAD.0, AHEAD.1));
    let invoked_at = now();
    let at = invoked_at + ahead as Millis;
    let path = format!("api/v1/runs/{trigger}");
    let reply = desk.api.ask(node, Method::PATCH, &path, Some(&json!({"at": text(at)}))).await;
    let asked = (job.id, desk.api.name(node));
    note_run(&desk.calls, asked, Op::Move { at }, invoked_at, &reply, Some(trigger));
}

async fn cancel(desk: &mut Desk, job: &Job, trigger: i64, due_at: Millis) {
    if !desk.pause(50, 1_500).await || now() > due_at - CANCELLED_BEFORE {
        return;
    }
    let (node, invoked_at) = (desk.random.below(3) as usize, now());
    let path = format!("api/v1/runs/{trigger}/kill");
    let reply = desk.api.ask(node, Method::POST, &path, Some(&json!({}))).await;
    let never_sent = matches!(&reply, Reply::Ok(answer) if answer["outcome"] == "cancelled");
    let asked = (job.id, desk.api.name(node));
    note_run(&desk.calls, asked, Op::Cancel { never_sent }, invoked_at, &reply, Some(trigger));
}

/// Some clients, which work side by side.
pub async fn clients(desk: impl Fn(u64) -> Desk, jobs: Vec<Job>) {
    let each = (0..3).map(|number| trigger(desk(200 + number), jobs.clone()));
    futures_util::future::join_all(each).await;
}
