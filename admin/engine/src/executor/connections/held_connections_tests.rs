use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;
use crate::outgoing::NetworkRules;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/// An executor that gives these answers in turn, each to one request; an empty one is a closed connection. `true` after an
/// answer: the connection is closed behind it. Reports the number of the connection that each request came on.
async fn executor(answers: Vec<(&'static str, bool)>) -> (String, mpsc::UnboundedReceiver<(usize, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/base", listener.local_addr().unwrap());
    let (seen, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut answers = answers.into_iter();
        for connection in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            loop {
                let mut bytes = vec![0; 4096];
                let Ok(read @ 1..) = stream.read(&mut bytes).await else { break };
                seen.send((connection, String::from_utf8_lossy(&bytes[..read]).into_owned())).unwrap();
                let Some((answer, closes)) = answers.next() else {
                    return std::future::pending().await;
                };
                stream.write_all(answer.as_bytes()).await.unwrap();
                if answer.is_empty() || closes {
                    break;
                }
            }
            drop(stream);
            // The client may only go on once the connection is gone.
            seen.send((connection, "closed".into())).unwrap_or(());
        }
    });
    (address, requests)
}

fn on_loopback() -> Connector {
    Connector::new(NetworkRules { has_loopback_executors: true, ..NetworkRules::default() })
}

fn connections() -> HeldConnections {
    HeldConnections::new(Limits { connect: Duration::from_secs(5), request: Duration::from_secs(5) }, on_loopback())
}

async fn post(held: &HeldConnections, address: &str) -> Result<(u16, Vec<u8>), Outcome> {
    let target = held.target(address).unwrap();
    let answered = held.post(&target, "run", &RequestHeaders::new(), b"{\"a\":1}", 100).await?;
    Ok((answered.status, answered.body))
}

fn is_unknown(answer: &Result<(u16, Vec<u8>), Outcome>) -> bool {
    matches!(answer, Err(Outcome::Unknown { why }) if why != "no answer in time")
}

#[tokio::test]
async fn requests_share_a_connection() {
    let (address, mut requests) = executor(vec![(OK, false), (OK, false)]).await;
    let held = connections();
    for _ in 0..2 {
        assert_eq!(post(&held, &address).await, Ok((200, b"{}".to_vec())));
        let (connection, request) = requests.recv().await.unwrap();
        assert_eq!(connection, 0);
        assert!(request.starts_with("POST /base/run HTTP/1.1\r\n"), "{request}");
        assert!(
            request.contains("\r\ncontent-type: application/json\r\n") && request.ends_with("{\"a\":1}"),
            "{request}"
        );
    }
}

// covers: G1
#[tokio::test]
async fn an_idle_connection_is_closed_although_no_request_follows() {
    let held = connections();
    for _ in 0..2 {
        let (address, mut requests) = executor(vec![(OK, false)]).await;
        assert!(post(&held, &address).await.is_ok());
        assert_eq!(requests.recv().await.unwrap().0, 0);
        tokio::time::pause();
        assert_eq!(requests.recv().await.unwrap().1, "closed");
        assert!(held.targets.by_address.lock().is_empty(), "nor is its address kept");
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_connection_that_the_executor_closed_meanwhile_costs_nothing() {
    let (address, mut requests) = executor(vec![(OK, true), (OK, false)]).await;
    let held = connections();
    assert!(post(&held, &address).await.is_ok());
    assert_eq!(requests.recv().await.unwrap().0, 0);
    assert_eq!(requests.recv().await.unwrap().1, "closed");
    // Another request over the network: after it the runtime has heard of the end of the first connection.
    let (other, _requests) = executor(vec![(OK, false)]).await;
    assert!(post(&held, &other).await.is_ok());
    assert_eq!(post(&held, &address).await, Ok((200, b"{}".to_vec())));
    assert_eq!(requests.recv().await.unwrap().0, 1);
}

#[tokio::test]
async fn an_answer_that_is_cut_or_none_is_unknown_and_is_not_asked_for_again() {
    for cut in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
        "no HTTP at all\r\n\r\n",
    ] {
        let (address, mut requests) = executor(vec![(cut, true), (OK, false)]).await;
        let held = connections();
        let answer = post(&held, &address).await;
        assert!(is_unknown(&answer), "{cut:?}: {answer:?}");
        assert_eq!(requests.recv().await.unwrap().0, 0);
        assert_eq!(requests.recv().await.unwrap().1, "closed", "one request alone");
    }
}

#[tokio::test]
async fn no_answer_in_time_is_unknown() {
    let (address, _requests) = executor(vec![]).await;
    let held = HeldConnections::new(
        Limits { connect: Duration::from_secs(5), request: Duration::from_millis(50) },
        on_loopback(),
    );
    let answer = post(&held, &address).await;
    assert_eq!(answer, Err(Outcome::Unknown { why: "no answer in time".into() }));
}

#[tokio::test]
async fn what_could_not_be_written_was_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let answer = post(&connections(), &closed).await;
    assert!(matches!(&answer, Err(Outcome::NotSent { why }) if why.contains("refused")), "{answer:?}");
}

#[tokio::test]
async fn a_body_above_the_limit_is_cut_and_its_connection_closed() {
    let long: &'static str = String::leak(format!("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{}", "x".repeat(500)));
    let (address, mut requests) = executor(vec![(long, false), (OK, false)]).await;
    let held = connections();
    assert_eq!(post(&held, &address).await, Ok((200, vec![b'x'; 100])));
    assert_eq!(requests.recv().await.unwrap().0, 0);
    assert!(post(&held, &address).await.is_ok());
    assert_eq!(requests.recv().await.unwrap().1, "closed");
    assert_eq!(requests.recv().await.unwrap().0, 1);
}

#[tokio::test]
async fn an_executor_may_answer_before_it_has_read_a_request() {
    let refusal = "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno";
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answers = async {
        let (mut first, _) = listener.accept().await.unwrap();
        first.read_exact(&mut [0; 100]).await.unwrap();
        first.write_all(refusal.as_bytes()).await.unwrap();
        let (mut second, _) = listener.accept().await.unwrap();
        second.read_exact(&mut [0; 100]).await.unwrap();
        second.write_all(OK.as_bytes()).await.unwrap();
        (first, second)
    };
    let held = connections();
    let target = held.target(&address).unwrap();
    // More than two sockets take.
    let long = vec![b'x'; 64 << 20];
    let asks = async {
        let first = held.post(&target, "run", &RequestHeaders::new(), &long, 100).await;
        assert_eq!(first, Ok(Answered { status: 413, body: b"no".to_vec(), received_at: None }));
        // The rest of the first request was never written, so nothing may follow it.
        assert_eq!(post(&held, &address).await, Ok((200, b"{}".to_vec())));
    };
    tokio::join!(answers, asks);
}

#[test]
fn addresses_that_need_more_than_plain_http_are_left_to_reqwest() {
    let held = connections();
    for address in ["http://10.0.0.1:9999/", "http://[::1]:9999", "http://executor.example/xxl"] {
        assert!(held.target(address).is_some(), "{address}");
    }
    for address in
        ["https://10.0.0.1:9999/", "http://user:secret@10.0.0.1/", "10.0.0.1:9999", "http://", "http://a/?b=c"]
    {
        assert!(held.target(address).is_none(), "{address}");
    }
}
