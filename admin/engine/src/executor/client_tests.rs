use carillon_accounts::secret_keys::SecretKeys;
use carillon_scheduler::ManualClock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::executor::address::gate::AddressGate;
use crate::executor::tokens::tests::executor;
use crate::outgoing::NetworkRules;

/// At its address an executor of `orders` is registered.
fn client(has_loopback_executors: bool, address: &str) -> ExecutorClient {
    // Which provider is installed does not matter.
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    let limits = Limits { connect: Duration::from_secs(5), request: Duration::from_secs(5) };
    let rules = NetworkRules { has_loopback_executors, ..NetworkRules::default() };
    let tokens = ExecutorTokens::new(Some("a-token-of-a-test"), SecretKeys::default()).unwrap();
    tokens.update(vec![], &mut vec![executor("orders", address, None)], 0);
    ExecutorClient::new(
        Arc::new(tokens),
        limits,
        Connector::new(rules),
        ClientTls::default(),
        Arc::new(ManualClock::new(0)),
    )
    .unwrap()
}

/// A listener that must not be reached.
fn canary() -> (String, impl FnOnce() -> bool) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    (address, move || listener.accept().is_ok())
}

/// An executor that sends each request elsewhere.
async fn redirecting(to: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 4096];
            let _request = stream.read(&mut bytes).await.unwrap();
            let answer = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

/// A stock executor with a log of lines of 100 bytes: it answers with all of them from the one asked for.
async fn with_log(lines: i64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![];
            while !String::from_utf8_lossy(&request).contains("}") {
                stream.read_buf(&mut request).await.unwrap();
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let from = request.split("\"fromLineNum\":").nth(1).unwrap();
            let from: i64 = from.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
            let text: String = (from..=lines).map(|line| format!("{line:098}\\n")).collect();
            let body = format!(
                "{{\"code\":200,\"msg\":null,\"content\":{{\"fromLineNum\":{from},\"toLineNum\":{lines},\"logContent\":\"{text}\",\"isEnd\":false}}}}"
            );
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            // The client closes the connection when it has enough.
            let _ = stream.write_all((head + &body).as_bytes()).await;
        }
    });
    address
}

/// A stock executor whose log has a gigabyte. It says how many bytes it could send until the connection was closed.
async fn with_gigabyte() -> (String, tokio::sync::oneshot::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let (say, said) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![];
        while !String::from_utf8_lossy(&request).contains("}") {
            stream.read_buf(&mut request).await.unwrap();
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\nconnection: close\r\n\r\n\
                    {\"code\":200,\"msg\":null,\"content\":{\"fromLineNum\":1,\"toLineNum\":9000000,\"isEnd\":false,\"logContent\":\"";
        stream.write_all(head.as_bytes()).await.unwrap();
        let lines = format!("{}\\n", "x".repeat(98)).repeat(1_000);
        let mut sent = 0;
        while sent < 1 << 30 && stream.write_all(lines.as_bytes()).await.is_ok() {
            sent += lines.len();
        }
        let _ = say.send(sent);
    });
    (address, said)
}

// covers: H23
#[tokio::test]
async fn a_gigabyte_of_a_stock_executors_log_is_cut() {
    let (address, said) = with_gigabyte().await;
    let client = client(true, &address);
    let LogAnswer::Page(page) = client.read_log(&address, "orders", 1, 0, 1).await.unwrap() else { panic!("no log") };
    assert!((LOG_LIMIT * 9 / 10..=LOG_LIMIT).contains(&page.content.len()), "{} bytes", page.content.len());
    assert!(page.content.lines().all(|line| line == "x".repeat(98)), "whole lines");
    let sent = said.await.unwrap();
    assert!(sent < 256 << 20, "the rest is not read: {sent} bytes");
}

// covers: A8
#[tokio::test]
async fn a_log_that_is_longer_than_an_answer_may_be_is_read_in_pages() {
    let lines = 100_000;
    let address = with_log(lines).await;
    let client = client(true, &address);
    let (mut from, mut pages) = (1, 0);
    while from <= lines {
        let page = match client.read_log(&address, "orders", 1, 0, from).await.unwrap() {
            LogAnswer::Page(page) => page,
            LogAnswer::NoLog => panic!("no log from line {from} on"),
        };
        assert!(page.content.starts_with(&format!("{from:098}\n")), "from line {from} on");
        assert!(page.content.len() > 1_000_000 || pages > 0, "{} bytes", page.content.len());
        from += page.content.lines().count() as i64;
        pages += 1;
    }
    assert_eq!((from, pages), (lines + 1, 3));
}

// covers: V6, S20
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (elsewhere, was_reached) = canary();
    let address = redirecting(elsewhere.clone()).await;
    let client = client(true, &address);
    let of_batch = client.run_batch(&address, "orders", &RunBatch { runs: vec![] }).await.unwrap_err();
    let message = format!("HTTP 307: a redirect to {elsewhere}, which is not followed");
    let refused = Outcome::Refused { code: 307, message };
    assert_eq!(of_batch, refused, "on a held connection");
    let of_kill = client.kill(&address, "orders", 1, 1).await;
    assert_eq!(of_kill, refused);
    assert!(client.query_run(&address, "orders", 1, 0).await.unwrap_err().contains("307"));
    assert!(!was_reached());
}

// covers: V6, S20
#[tokio::test]
async fn a_stored_address_that_is_not_allowed_gets_no_request() {
    let (address, was_reached) = canary();
    let client = client(false, &address);
    let of_batch = client.run_batch(&address, "orders", &RunBatch { runs: vec![] }).await.unwrap_err();
    let limit = Duration::from_secs(5);
    for outcome in [of_batch, client.kill(&address, "orders", 1, 1).await, client.beat(&address, "orders", limit).await]
    {
        let Outcome::NotSent { why } = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("loopback is allowed only"), "{why}");
    }
    let why = client.read_log(&address, "orders", 1, 0, 1).await.unwrap_err();
    assert!(why.contains("loopback is allowed only"), "{why}");
    assert!(!was_reached());
}

// covers: S20, V5
#[tokio::test]
async fn an_address_without_a_token_gets_no_request_and_its_gate_stays_open() {
    let (address, was_reached) = canary();
    let client = client(true, &address);
    let gate = AddressGate::new(1, "payroll", Arc::default());
    let (now, pause) = (Duration::from_secs(1), Duration::from_secs(10));
    let limit = Duration::from_secs(5);
    for outcome in [
        client.run_batch(&address, "payroll", &RunBatch { runs: vec![] }).await.unwrap_err(),
        client.beat(&address, "payroll", limit).await,
        client.idle_beat("http://127.0.0.1:9/", "orders", 1, limit).await,
    ] {
        let Outcome::Withheld { why } = &outcome else { panic!("{outcome:?}") };
        assert!(why.starts_with("no token of "), "{why}");
        assert!(!gate.record_outcome(&outcome, now, pause));
    }
    // A journal's id comes from an executor.
    let about = RunHeaders {
        app: "orders",
        fire_key: "1:schedule:1".into(),
        scheduled_at: 0,
        attempt: 1,
        epoch: 1,
        not_after: 0,
        phase: None,
        traceparent: Traceparent::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap(),
        journal_id: Some("a\nb"),
    };
    let (outcome, _) = client.run(&address, &RunRequest::default(), &about).await;
    assert!(matches!(outcome, Outcome::Withheld { .. }), "{outcome:?}");
    assert!(!gate.record_outcome(&outcome, now, pause) && !gate.is_closed(now));
    assert!(!was_reached());
}
