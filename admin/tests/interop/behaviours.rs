//! What is looked at, in the order of the table's columns.

use std::pin::Pin;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::Fixture;

type Seen<'f> = Pin<Box<dyn Future<Output = String> + 'f>>;
type Behaviour = for<'f> fn(&'f mut Fixture) -> Seen<'f>;

/// The last one ends the executor.
pub const BEHAVIOURS: [(&str, Behaviour); 13] = [
    ("registers", |it| Box::pin(registers(it))),
    ("success", |it| Box::pin(success(it))),
    ("log", |it| Box::pin(log(it))),
    ("failure", |it| Box::pin(failure(it))),
    ("unknown handler", |it| Box::pin(unknown_handler(it))),
    ("part of a broadcast", |it| Box::pin(part(it))),
    ("time-out", |it| Box::pin(time_out(it))),
    ("kill", |it| Box::pin(kill(it))),
    ("block serial", |it| Box::pin(second_run(it, "serial"))),
    ("block discard_later", |it| Box::pin(second_run(it, "discard_later"))),
    ("block cover_early", |it| Box::pin(second_run(it, "cover_early"))),
    ("result while the node is away", |it| Box::pin(result_after_restart(it))),
    ("stop", |it| Box::pin(stop(it))),
];

/// Waits for minutes with some executors: not a part of the gate.
pub const LONG: &str = "result while the node is away";

const ENDED: [&str; 6] = ["succeeded", "failed", "killed", "cancelled", "lost", "unknown"];

fn text<'r>(run: &'r Value, member: &str) -> &'r str {
    run[member].as_str().unwrap_or_default()
}

async fn registers(it: &Fixture) -> String {
    match it.until(60, async || it.executors().await.into_iter().next()).await {
        Some(_) => "yes".to_owned(),
        None => "no".to_owned(),
    }
}

async fn success(it: &Fixture) -> String {
    let run = it.fire(it.job("echo", "a \"b\" 你好", json!({})).await).await;
    let run = it.run_in(run, &ENDED, 20).await;
    match (text(&run, "state"), text(&run, "message")) {
        ("succeeded", "got a \"b\" 你好") => "with its text".to_owned(),
        ("succeeded", _) => "without its text".to_owned(),
        (state, message) => format!("{state}: {message:.60}"),
    }
}

async fn log(it: &Fixture) -> String {
    let run = it.fire(it.job("echo", "log", json!({})).await).await;
    it.run_in(run, &ENDED, 20).await;
    let has_line = async || {
        let page = it.api.get(&format!("/runs/{run}/log")).await;
        text(&page.json, "content").contains("got log").then_some(())
    };
    match it.until(5, has_line).await {
        Some(()) => "yes".to_owned(),
        None => "none".to_owned(),
    }
}

async fn failure(it: &Fixture) -> String {
    let run = it.fire(it.job("fail", "", json!({})).await).await;
    let run = it.run_in(run, &ENDED, 20).await;
    match (text(&run, "state"), text(&run, "message").contains("it is broken")) {
        ("failed", true) => "with its text".to_owned(),
        ("failed", false) => "without its text".to_owned(),
        (state, _) => state.to_owned(),
    }
}

async fn unknown_handler(it: &Fixture) -> String {
    let run = it.fire(it.job("nobody", "", json!({})).await).await;
    match text(&it.run_in(run, &ENDED, 10).await, "state") {
        "failed" => "fails".to_owned(),
        _ => "no result".to_owned(),
    }
}

async fn part(it: &Fixture) -> String {
    let run = it.fire(it.job("part", "", json!({"route": "broadcast"})).await).await;
    let run = it.run_in(run, &ENDED, 20).await;
    match (text(&run, "state"), text(&run, "message")) {
        ("succeeded", "0 of 1") => "0 of 1".to_owned(),
        ("succeeded", _) => "taken".to_owned(),
        (state, message) => format!("{state}: {message:.60}"),
    }
}

/// The node ends it too, a minute later.
async fn time_out(it: &Fixture) -> String {
    let run = it.fire(it.job("sleep", "20", json!({"timeout_seconds": 2})).await).await;
    let run_after = it.run_in(run, &ENDED, 8).await;
    match text(&run_after, "state") {
        "running" => {
            it.api.post(&format!("/runs/{run}/kill"), json!({})).await;
            it.run_in(run, &ENDED, 45).await;
            "left to the node".to_owned()
        }
        "failed" => "ends it".to_owned(),
        state => state.to_owned(),
    }
}

async fn kill(it: &Fixture) -> String {
    let run = it.fire(it.job("sleep", "600", json!({})).await).await;
    it.run_in(run, &["running"], 20).await;
    it.api.post(&format!("/runs/{run}/kill"), json!({})).await;
    match text(&it.run_in(run, &ENDED, 10).await, "state") {
        "killed" => "ends it".to_owned(),
        "running" => "does not confirm".to_owned(),
        state => state.to_owned(),
    }
}

/// What becomes of a run that lasts three seconds and one a moment later.
async fn second_run(it: &Fixture, block: &str) -> String {
    let job = it.job("sleep", "3", json!({"block": block})).await;
    let first = it.fire(job).await;
    it.run_in(first, &["running"], 20).await;
    let second = it.fire(job).await;
    let first = it.run_in(first, &ENDED, 20).await;
    let first_ended = Instant::now();
    let second = it.run_in(second, &ENDED, 20).await;
    let apart = first_ended.elapsed();
    match (text(&first, "state"), text(&second, "state")) {
        ("succeeded", "succeeded") if apart > Duration::from_secs(2) => "waits".to_owned(),
        ("succeeded", "succeeded") => "side by side".to_owned(),
        ("succeeded", "failed") => "second refused".to_owned(),
        ("failed" | "killed", "succeeded") => "first ended".to_owned(),
        (first, second) => format!("{first}, {second}"),
    }
}

async fn result_after_restart(it: &mut Fixture) -> String {
    let job = it.job("sleep", "2", json!({})).await;
    let run = it.fire(job).await;
    it.run_in(run, &["running"], 20).await;
    it.restart_node(Duration::from_secs(5)).await;
    match text(&it.run_in(run, &ENDED, 90).await, "state") {
        "running" => "not within 90 s".to_owned(),
        state => state.to_owned(),
    }
}

async fn stop(it: &mut Fixture) -> String {
    it.executor.signal("TERM").await;
    match it.until(8, async || it.executors().await.is_empty().then_some(())).await {
        Some(()) => "deregisters".to_owned(),
        None => "falls silent".to_owned(),
    }
}
