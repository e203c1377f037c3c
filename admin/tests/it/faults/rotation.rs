//! The token of an app is replaced under load, with executors of the SDK: no call fails, and the old token is worth nothing
//! afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use carillon_executor::{Error, Executor, JobContext};
use carillon_scheduler::Millis;
use carillon_testkit::{LIMIT, Program, wait_for};
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::api::{Api, Run};
use super::load::{APP, every_second};
use crate::program::settings;
use crate::services::{Kind, TestDatabase, on};

/// Each fires each second.
const JOBS: usize = 200;
/// Runs before the rotation, and after it.
const RUNS: usize = 800;

/// An executor in this process.
struct Worker {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), Error>>,
}

struct Rotation {
    nodes: Vec<String>,
    folder: PathBuf,
    done: Arc<AtomicUsize>,
}

impl Rotation {
    /// It asks the nodes in turn, beginning with the `first`.
    async fn worker(&self, name: &str, first: usize, token: &str, second: Option<&str>) -> Worker {
        let nodes = self.nodes.iter().cycle().skip(first).take(self.nodes.len());
        let builder = nodes.fold(Executor::builder(), |builder, node| builder.admin(node));
        let builder = second.into_iter().fold(builder, |builder, token| builder.second_token(token));
        let done = self.done.clone();
        let executor = builder
            .app(APP)
            .token(token)
            .data_dir(self.folder.join(name))
            .job("handle", move |_: JobContext| {
                let done = done.clone();
                async move {
                    done.fetch_add(1, Ordering::Relaxed);
                    Ok("done")
                }
            })
            .build()
            .unwrap();
        let (handle, (stop, stopped)) = (executor.handle(), oneshot::channel());
        let ended = tokio::spawn(executor.run(async { drop(stopped.await) }));
        tokio::time::timeout(LIMIT, handle.registered()).await.unwrap();
        Worker { stop, ended }
    }

    async fn until_more(&self, runs: usize) {
        let goal = self.done.load(Ordering::Relaxed) + runs;
        wait_for(&format!("{runs} more runs"), async || self.done.load(Ordering::Relaxed) >= goal).await;
    }
}

/// A token of the app: its id, and the token.
async fn new_token(api: &Api, app: i64, name: &str) -> (i64, String) {
    let made = api.post(&format!("apps/{app}/tokens"), json!({"name": name})).await.ok();
    (made["id"].as_i64().unwrap(), made["token"].as_str().unwrap().to_owned())
}

async fn counted(node: &Program, metric: &str) -> u64 {
    let metrics = node.api().metrics().await;
    let lines = metrics.lines().filter(|line| line.starts_with(metric));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// The runs of each second in which all jobs were there, whenever they were sent.
fn seconds_of(runs: &[Run], until: Millis) -> BTreeMap<i64, usize> {
    let mut seconds = BTreeMap::new();
    for run in runs {
        *seconds.entry(run.scheduled_at.timestamp()).or_default() += 1;
    }
    let first = seconds.keys().next().copied().unwrap_or(0);
    // The jobs were made within the first second or two, and disabled one after the other.
    seconds.retain(|second, _| *second > first + 1 && *second < until.div_euclid(1000));
    seconds
}

// covers: S17
#[test]
fn tokens_are_replaced_under_load_without_a_call_that_fails() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let key: &Path = &db.folder().join("secret.key");
        std::fs::write(key, carillon_accounts::secret::random_secret()).unwrap();
        let setup = settings(db.folder())
            .arg(format!("--database-url={}", db.url().unwrap()))
            .arg(format!("--secret-key-file={}", key.display()));
        let mut setups: Vec<_> = (0..2).map(|n| setup.another(&db.folder().join(format!("n{n}")))).collect();
        let mut nodes = vec![];
        for setup in &mut setups {
            nodes.push(setup.start().await);
        }
        let api = Api::new(&nodes[0]);
        let app = api.post("apps", json!({"name": APP, "title": APP})).await.ok()["id"].as_i64().unwrap();
        let (old_id, old) = new_token(&api, app, "old").await;
        api.put(&format!("apps/{app}/tokens"), json!({"own_tokens_only": true})).await.ok();
        let rotation = Rotation {
            nodes: nodes.iter().map(Program::url).collect(),
            folder: db.folder().to_owned(),
            done: Arc::default(),
        };
        // The second one begins with a node that has not read the token yet.
        let before = [rotation.worker("a1", 0, &old, None).await, rotation.worker("b1", 1, &old, None).await];
        let jobs = api.create_jobs(vec![every_second(&json!({"catch_up": "all"})); JOBS]).await;
        rotation.until_more(RUNS).await;

        let (new_id, new) = new_token(&api, app, "new").await;
        let [a2, b2] = [("a2", 0), ("b2", 1)].map(|(name, first)| rotation.worker(name, first, &new, Some(&old)));
        let after = [b2.await, a2.await];
        rotation.until_more(JOBS).await;
        for worker in before {
            worker.stop.send(()).unwrap();
            tokio::time::timeout(LIMIT, worker.ended).await.unwrap().unwrap().unwrap();
        }
        // A heartbeat later they are registered by the new token, also if a node did not know it at their first one.
        let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let text = format!("SELECT address FROM executor WHERE token_id = {new_id}");
        let by_new = Statement::from_string(database.get_database_backend(), text);
        let is_used = async || database.query_all_raw(by_new.clone()).await.unwrap().len() == 2;
        wait_for("executors that have registered with the new token", is_used).await;
        // A request that was refused and sent again with the other token would be a failed call.
        for node in &nodes {
            assert_eq!(counted(node, "carillon_wrong_access_tokens_total").await, 0);
        }
        api.delete(&format!("apps/{app}/tokens/{old_id}")).await.ok();
        rotation.until_more(RUNS).await;
        let until = api.disable(&jobs).await;
        let runs = api.runs_at_the_end(Duration::from_secs(60)).await;

        let seconds = seconds_of(&runs, until);
        assert!(seconds.len() >= 6, "{seconds:?}");
        assert!(seconds.values().all(|runs| *runs == JOBS), "{JOBS} runs in each second: {seconds:?}");
        // What was recorded ahead and not sent is cancelled with the jobs' schedules.
        let runs: Vec<_> = runs.into_iter().filter(|run| run.state != "cancelled").collect();
        let failed: Vec<_> = runs.iter().filter(|run| run.state != "succeeded" || run.attempt > 1).collect();
        assert!(failed.is_empty(), "{} of {} runs: {:?}", failed.len(), runs.len(), &failed[..failed.len().min(3)]);
        for node in &nodes {
            // One that could not be sent, to an executor that has just stopped, goes to the next one.
            for outcome in ["refused", "unknown"] {
                assert_eq!(
                    counted(node, &format!("carillon_sends_total{{outcome=\"{outcome}\"}}")).await,
                    0,
                    "{outcome}"
                );
            }
        }
        let registration =
            json!({"registryGroup": "EXECUTOR", "registryKey": APP, "registryValue": "http://127.0.0.1:1/"});
        for node in &nodes {
            let call = reqwest::Client::new()
                .post(format!("{}/api/registry", node.url()))
                .header("XXL-JOB-ACCESS-TOKEN", &old);
            let answer: Value = call.json(&registration).send().await.unwrap().json().await.unwrap();
            assert_eq!(answer["msg"], "The access token is wrong.");
        }
        eprintln!("{} runs in {} seconds", runs.len(), seconds.len());
        for worker in after {
            worker.stop.send(()).unwrap();
            tokio::time::timeout(LIMIT, worker.ended).await.unwrap().unwrap().unwrap();
        }
    });
}
