//! People at work: jobs that are edited, stopped and started every few seconds, and fires by hand.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Calls;
use super::api::{Api, Reply, schedule};
use super::jobs::step;
use crate::clock::now;
use crate::random::Random;
use crate::record::{Call, Job, Op};

/// Longer than any fault lasts for which a request may wait.
const UNCLEAR: Duration = Duration::from_secs(12);

/// Until it is told to stop: a request that is under way then comes to its end, or nobody could say what holds.
pub async fn work(api: Arc<Api>, jobs: Vec<Job>, calls: Calls, seed: u64, stop: CancellationToken) {
    let of = |group: &str| -> Vec<Job> {
        jobs.iter()
            .filter(|job| job.group == group)
            .cloned()
            .collect()
    };
    let desk = |number: u64| Desk {
        api: api.clone(),
        calls: calls.clone(),
        random: Random::new(seed ^ number),
        stop: stop.clone(),
    };
    let editors = of("edited")
        .into_iter()
        .enumerate()
        .map(|(number, job)| edit(desk(number as u64 + 1), job));
    let hands = trigger(desk(99), of("by_hand"));
    tokio::join!(futures_util::future::join_all(editors), hands);
}

/// Where a person works.
struct Desk {
    api: Arc<Api>,
    calls: Calls,
    random: Random,
    stop: CancellationToken,
}

impl Desk {
    /// False: it is time to go home.
    async fn pause(&mut self, from: u64, to: u64) -> bool {
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
        let reply = desk
            .api
            .ask(node, method, path.trim_end_matches('/'), Some(&body))
            .await;
        note(&desk.calls, job.id, op, invoked_at, &reply);
        if matches!(reply, Reply::Unclear(_)) {
            // It may still be under way. What comes next must not overtake it, or nobody could say what holds.
            tokio::time::sleep(UNCLEAR).await;
        }
    }
}

/// An edit says all of a job; it also enables it.
fn rhythm(job: &Job, wanted: Value) -> (Op, Value) {
    let op = Op::Edit {
        schedule: schedule(&wanted, &json!({})),
    };
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
        let node = desk.random.below(3) as usize;
        let path = format!("api/v1/jobs/{}/run", job.id);
        let invoked_at = now();
        let nothing = json!({});
        let asked = desk.api.ask(node, Method::POST, &path, Some(&nothing));
        note(&desk.calls, job.id, Op::Run, invoked_at, &asked.await);
    }
}

pub fn note(calls: &Calls, job: i64, op: Op, invoked_at: i64, reply: &Reply) {
    let run = match (&op, reply) {
        (Op::Run, Reply::Ok(answer)) => answer["id"].as_i64(),
        _ => None,
    };
    let call = Call {
        job,
        op,
        invoked_at,
        returned_at: now(),
        outcome: reply.outcome(),
        run,
    };
    calls
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .push(call);
}
