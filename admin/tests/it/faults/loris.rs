//! Clients that only hold connections open, on the listener of the executor API: others are answered meanwhile.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use crate::program::settings;
use carillon_testkit::{Program, http_client, wait_for};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// What is promised of others' callbacks; a debug build on a busy machine gets more.
const ANSWERED_WITHIN: Duration = Duration::from_secs(3);

async fn executors_at(node: &Program) -> SocketAddr {
    wait_for("it says where", async || !node.log("\"serving\"").is_empty()).await;
    let said = node.log("\"serving\"");
    let event: serde_json::Value = serde_json::from_str(&said[0]).unwrap();
    event["listen.executors"].as_str().unwrap().parse().unwrap()
}

/// From another address of this machine.
async fn connect(to: SocketAddr, from: Ipv4Addr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((from, 0)))?;
    socket.connect(to).await
}

async fn answered(to: SocketAddr, token: &str) -> Duration {
    let begun = Instant::now();
    let call = http_client(Duration::from_secs(20)).post(format!("http://{to}/api/callback"));
    let results = json!([{"logId": 1, "logDateTim": 1, "handleCode": 200, "handleMsg": ""}]);
    let call = call.header("XXL-JOB-ACCESS-TOKEN", token).json(&results);
    let answer: serde_json::Value = call.send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["code"], 200, "{answer}");
    begun.elapsed()
}

// covers: H26, S23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_keep_nobody_elses_callbacks_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path()).arg("--executor-listen=127.0.0.1:0");
    let node = setup.start().await;
    let executors = executors_at(&node).await;
    assert_ne!(executors, node.address);
    let mut held = vec![];
    let source = Ipv4Addr::new(127, 0, 0, 9);
    for number in 0..400 {
        let Ok(mut stream) = connect(executors, source).await else {
            continue;
        };
        // Half of them never end their head, the others never end their body.
        let start = if number % 2 == 0 {
            "POST /api/callback HTTP/1.1\r\nhost: x\r\nx-slow: "
        } else {
            "POST /api/callback HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n["
        };
        let _ = stream.write_all(start.as_bytes()).await;
        held.push(stream);
    }
    let took = answered(executors, &setup.access_token).await;
    eprintln!("answered in {took:?} beside {} slow ones", held.len());
    assert!(took < ANSWERED_WITHIN, "{took:?}");
    // All of them are cut in the end: heads after 10 s, bodies after 5 s and a bit.
    let cut = async {
        for stream in &mut held {
            let mut rest = vec![];
            let _ = stream.read_to_end(&mut rest).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(40), cut).await.is_ok(), "cut");
    assert!(answered(executors, &setup.access_token).await < ANSWERED_WITHIN);
}

/// Holds `count` connections from there that have been answered once. Returns those that were let in.
async fn idle(to: SocketAddr, source: Ipv4Addr, count: usize) -> Vec<TcpStream> {
    let mut held = vec![];
    for _ in 0..count {
        let Ok(mut stream) = connect(to, source).await else { continue };
        let mut answer = [0; 1024];
        if stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.is_ok()
            && matches!(stream.read(&mut answer).await, Ok(bytes) if bytes > 0)
        {
            held.push(stream);
        }
    }
    held
}

// covers: V7, S23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sources_that_hold_idle_connections_keep_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    // 320 connections: 40 for each source.
    let mut setup = settings(folder.path()).open_files(896);
    let node = setup.start().await;
    let mut held = vec![];
    for source in 20..32 {
        held.extend(idle(node.address, Ipv4Addr::new(127, 0, 0, source), 60).await);
    }
    assert!(held.len() > 600, "each was answered: an idle one makes room for the next: {}", held.len());
    assert!(answered(node.address, &setup.access_token).await < ANSWERED_WITHIN);
    let is_open = async |stream: &mut TcpStream| {
        tokio::time::timeout(Duration::from_millis(5), stream.read(&mut [0])).await.is_err()
    };
    let mut open = 0;
    for stream in &mut held {
        open += usize::from(is_open(stream).await);
    }
    assert!(open <= 281, "the last eighth is kept: {open}");
    // None of them has shown a credential, so all are closed after 10 s.
    let closed = async {
        for stream in &mut held {
            let _ = stream.read(&mut [0]).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(40), closed).await.is_ok());
}

// covers: H26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_listener_serves_its_part_and_a_head_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path()).arg("--executor-listen=127.0.0.1:0");
    let node = setup.start().await;
    let executors = executors_at(&node).await;
    let http = http_client(Duration::from_secs(20));
    let status = async |to: SocketAddr, path: &str, head: usize| {
        let call = http.post(format!("http://{to}/{path}")).header("x-long", "x".repeat(head));
        call.body("[]").send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(executors, "api/callback", 1).await, 200);
    assert_eq!(status(executors, "api/v1/jobs", 1).await, 404);
    let elsewhere = http.post(format!("http://{}/api/callback", node.address)).body("[]").send().await.unwrap();
    let said = elsewhere.text().await.unwrap();
    assert!(said.contains("another address of this server"), "the other listener no longer takes them: {said}");
    assert_eq!(status(executors, "api/callback", 17 << 10).await, 431);
    assert_eq!(status(node.address, "api/v1/jobs", 17 << 10).await, 431);
}
