//! Demands 27 to 29: how the logs of each client are read to their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use carillon_scheduler::RunState;
use carillon_store::Actor;
use serde_json::{Value, json};

use super::published::{Published, Reply, accepted, go, java, json_type};
use crate::flow::node::Node;

const LINES: [&str; 5] = ["one", "two", "three", "four", "five"];

/// How a client answers a request from a line on, when its log has this number of [`LINES`].
type Pages = fn(from: usize, written: usize) -> Reply;

fn page(from: usize, to: usize, text: &str, is_end: bool) -> Value {
    json!({"fromLineNum": from, "toLineNum": to, "logContent": text, "isEnd": is_end})
}

fn lines(range: std::ops::Range<usize>) -> String {
    LINES.get(range).unwrap_or_default().iter().map(|line| format!("{line}\n")).collect()
}

/// All lines from there on; never an end; without a new line the number of the last one lags behind.
fn java_2(from: usize, written: usize) -> Reply {
    java(&json!({"code": 200, "content": page(from, written, &lines(from - 1..written), false)}))
}

/// The same under another name, and 0 for no new line.
fn java_3(from: usize, written: usize) -> Reply {
    let to = if from > written { 0 } else { written };
    java(&json!({"code": 200, "data": page(from, to, &lines(from - 1..written), false)}))
}

/// Pages of two lines here, and the end where the file ends, though the run goes on.
fn pyxxl(from: usize, written: usize) -> Reply {
    let to = written.min(from + 1);
    // The number of its last line is never below that of the first.
    let page = page(from, to.max(from), &lines(from - 1..to), written < from + 1);
    json_type(&json!({"code": 200, "msg": null, "content": page, "data": page}))
}

/// Reads as the console does, page after page, up to the end or this number of pages: the text, and whether it ended.
async fn read(node: &Node, run: i64, from: &mut i32, pages: usize) -> (String, bool) {
    let mut text = String::new();
    for _ in 0..pages {
        let page = node.engine.runs().log(run, *from, &Actor::engine()).await.unwrap();
        assert_eq!(page.from, *from);
        text += &page.content;
        *from = page.to + 1;
        if page.end {
            return (text, true);
        }
    }
    (text, false)
}

/// A run of an executor whose log grows.
async fn reads_all(client: &str, pages: Pages) {
    let node = &Node::start().await;
    let written = Arc::new(AtomicUsize::new(3));
    let executor = Published::start({
        let written = written.clone();
        move |path, body| match path {
            "/log" => pages(body["fromLineNum"].as_u64().unwrap() as usize, written.load(Ordering::SeqCst)),
            _ => json_type(&accepted()),
        }
    })
    .await;
    executor.register(node).await;
    let job = node.job(|_| ()).await;
    let run = node.fire(&job).await;
    node.round().await;
    let mut from = 1;
    let begun = read(node, run, &mut from, 5).await;
    assert_eq!(begun, ("one\ntwo\nthree\n".to_owned(), false), "{client}: the run goes on, so its log does");
    written.store(5, Ordering::SeqCst);
    node.callback(&[(run, 200, "done")]).await;
    assert_eq!(node.states(&job).await, [RunState::Succeeded]);
    let rest = read(node, run, &mut from, 5).await;
    assert_eq!(rest, ("four\nfive\n".to_owned(), true), "{client}: it ends");
}

#[test]
fn a_log_ends_with_its_run_whatever_its_executor_says() {
    crate::services::runtime().block_on(async {
        let clients: [(&str, Pages); 3] = [("Java 2.x", java_2), ("Java 3.x", java_3), ("pyxxl", pyxxl)];
        for (client, pages) in clients {
            reads_all(client, pages).await;
        }
    });
}

/// What is read of a log, or why there is none: of the run that goes on, then of it after its end.
async fn reads(log: impl Fn(usize) -> Reply + Send + Sync + 'static) -> [Result<(String, bool), String>; 2] {
    let node = &Node::start().await;
    let executor = Published::start(move |path, body| match path {
        "/log" => log(body["fromLineNum"].as_u64().unwrap() as usize),
        _ => json_type(&accepted()),
    })
    .await;
    executor.register(node).await;
    let run = node.fire(&node.job(|_| ()).await).await;
    node.round().await;
    let read_from_start = async || match node.engine.runs().log(run, 1, &Actor::engine()).await {
        Ok(_) => Ok(read(node, run, &mut 1, 5).await),
        Err(why) => Err(why.to_string()),
    };
    let going_on = read_from_start().await;
    node.callback(&[(run, 200, "done")]).await;
    [going_on, read_from_start().await]
}

#[test]
fn a_text_that_comes_with_each_answer_is_shown_once() {
    const GO: &str = "这是日志默认返回，说明没有设置LogHandler";
    crate::services::runtime().block_on(async {
        let shown = |text: &str| [Ok((text.to_owned(), false)), Ok((text.to_owned(), true))];
        let pyxxljob = |_| json_type(&json!({"code": 200, "msg": null, "content": page(1, 1, "xxx", true)}));
        assert_eq!(reads(pyxxljob).await, shown("xxx"));
        // Its number of the last line is a constant too, so that the second answer has no lines.
        let of_go = |from| go(&json!({"code": 200, "content": page(from, 2, GO, true)}));
        assert_eq!(reads(of_go).await, shown(GO));
    });
}

#[test]
fn a_log_that_is_not_there_is_shown_as_the_executors_text_when_the_run_has_ended() {
    const JAVA: &str = "readLog fail, logFile not exists";
    const PYXXL: &str = "No such logid logs.";
    crate::services::runtime().block_on(async {
        let shown = |text: &str| [Ok((String::new(), false)), Ok((text.to_owned(), true))];
        let of_java = |from| java(&json!({"code": 200, "data": page(from, 0, JAVA, true)}));
        assert_eq!(reads(of_java).await, shown(JAVA));
        // The same text from each line on, and never an end.
        let of_pyxxl = |from| json_type(&json!({"code": 200, "content": page(from, from, PYXXL, false)}));
        assert_eq!(reads(of_pyxxl).await, shown(PYXXL));
    });
}

#[test]
fn an_executor_without_logs_is_shown_as_one() {
    crate::services::runtime().block_on(async {
        // xxljob-sdk-rs.
        for read in reads(|_| json_type(&json!({"code": 200, "content": null}))).await {
            assert!(read.unwrap_err().ends_with("this executor keeps no log"));
        }
    });
}
