//! A workflow of nodes one after the other, whose jobs lie on all nodes of the cluster: what a step costs.

use serde_json::{Map, json};

use crate::Options;
use crate::cluster::{APP, Cluster, between, median};
use crate::executors::Executors;

/// From the end of a node to the start of the next, in the mean of a chain.
const WANTED_MS: f64 = 100.0;

pub async fn measure(options: &Options) {
    let (length, runs) = (options.length.unwrap_or(50), options.runs.unwrap_or(5));
    let cluster = Cluster::start(options).await;
    let _executors = Executors::start(&cluster.admins(), APP, 2).await;
    let mut nodes = Map::new();
    for number in 0..length {
        let job = cluster.create_job(json!({"app": APP, "name": format!("step {number}"), "handler": "step"})).await;
        let after: Vec<String> = number.checked_sub(1).map(name).into_iter().collect();
        nodes.insert(name(number), json!({"job": job, "after": after}));
    }
    let chain = json!({"app": APP, "name": "chain", "workflow": {"nodes": nodes}});
    let chain = cluster.create_job(chain).await;
    let mut took = vec![];
    println!("a chain of {length} nodes on {} nodes of the cluster, executors that answer at once", options.nodes);
    println!("run   ms in all   ms for a node");
    for number in 1..=runs {
        let run = cluster.ended(cluster.run(chain).await).await;
        assert_eq!(run["state"], "succeeded", "{run}");
        let ms = between(&run, "scheduled_at", "finished_at");
        println!("{number:3}   {ms:9.0}   {:13.1}", ms / length as f64);
        took.push(ms / length as f64);
    }
    let median = median(took);
    let verdict = if median < WANTED_MS { "held" } else { "MISSED" };
    println!("median {median:.1} ms for a node; wanted below {WANTED_MS} ms: {verdict}");
    let hints = cluster.count("carillon_shard_hints_sent_total").await;
    println!("hints of one node to another: {hints}");
    cluster.end().await;
}

fn name(number: usize) -> String {
    format!("n{number}")
}
