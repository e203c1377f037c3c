//! A map over four executors, of which one is killed when half of the items have their outcome.

use std::process::Command;
use std::time::Duration;

use carillon_testkit::{Process, now_ms};
use serde_json::{Value, json};

use crate::Options;
use crate::cluster::{APP, Cluster};
use crate::worker;

const EXECUTORS: usize = 4;
const POLL: Duration = Duration::from_millis(200);

pub async fn measure(options: &Options) {
    let cluster = Cluster::start(options).await;
    let mut executors: Vec<Process> = (0..EXECUTORS).map(|number| start(&cluster, options, number)).collect();
    for executor in &executors {
        executor.after("ready").await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let draft = json!({"app": APP, "name": "map", "handler": "map", "retries": 3, "retry_delay": {"kind": "fixed", "seconds": [1]}});
    let job = cluster.create_job(draft).await;
    let node = &cluster.nodes[0];
    let (before, begun) = (node.usage(), now_ms());
    let run = cluster.run(job).await;
    println!("{} items over {EXECUTORS} executors on {} nodes of the cluster", options.items, options.nodes);
    println!("seconds  ended items  deliveries  resident MiB");
    let mut resident = vec![];
    let mut killed = false;
    let mut next_line = 0;
    loop {
        let progress = cluster.api.get(&format!("runs/{run}/map")).await;
        let progress = if progress.status == 200 { progress.ok() } else { Value::Null };
        let ended = ["succeeded", "failed"].iter().filter_map(|name| progress[name].as_i64()).sum::<i64>();
        let seconds = (now_ms() - begun) / 1000;
        let memory = node.memory().resident;
        resident.push(memory);
        if seconds >= next_line {
            println!("{seconds:7}  {ended:11}  {:>10}  {memory:12.0}", progress["deliveries"]);
            next_line = seconds + 5;
        }
        if !killed && ended * 2 >= options.items as i64 {
            drop(executors.pop());
            println!("{seconds:7}  one executor was killed");
            killed = true;
        }
        let state = cluster.api.get(&format!("runs/{run}")).await.ok();
        if !state["finished_at"].is_null() {
            let seconds = (now_ms() - begun) as f64 / 1000.0;
            let after = node.usage();
            let cpu = after.user + after.system - before.user - before.system;
            println!("{}: {}", state["state"], state["message"]);
            println!(
                "{seconds:.1} s, {:.0} items a second; the first node used {cpu:.1} s of CPU",
                options.items as f64 / seconds
            );
            break;
        }
        tokio::time::sleep(POLL).await;
    }
    print_outcomes(&cluster, run, options.items).await;
    print_memory(&resident);
    drop(executors);
    cluster.end().await;
}

/// One more process of this program, as an executor.
fn start(cluster: &Cluster, options: &Options, number: usize) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let urls: Vec<String> = cluster.nodes.iter().map(|node| node.url()).collect();
    command
        .env(worker::ADMINS, urls.join(","))
        .env(worker::TOKEN, &cluster.settings.access_token)
        .env(worker::DATA, cluster.folder.path().join(format!("executor-{number}")))
        .env(worker::ITEMS, options.items.to_string())
        .env(worker::WORK, options.work_ms.to_string());
    Process::spawn(command)
}

/// Each item has one outcome.
async fn print_outcomes(cluster: &Cluster, run: i64, items: usize) {
    let progress = cluster.api.get(&format!("runs/{run}/map")).await.ok();
    let (mut succeeded, mut numbers, mut after) = (0, vec![], -1);
    loop {
        let page = cluster.api.get(&format!("runs/{run}/items?limit=1000&after={after}")).await.ok();
        for item in page["items"].as_array().unwrap() {
            numbers.push(item["item"].as_i64().unwrap());
            succeeded += i64::from(item["state"] == "succeeded");
        }
        match page["next"].as_i64() {
            Some(next) => after = next,
            None => break,
        }
    }
    let each_once = numbers == (0..items as i64).collect::<Vec<_>>();
    let verdict = if each_once && succeeded == items as i64 { "each once" } else { "WRONG" };
    println!("outcomes: {succeeded} succeeded of {items}, {} deliveries: {verdict}", progress["deliveries"]);
}

fn print_memory(resident: &[f64]) {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let thirds: Vec<f64> = resident.chunks(resident.len().div_ceil(3)).map(mean).collect();
    println!("resident memory of the first node, mean of each third: {:.0?} MiB", thirds);
}
