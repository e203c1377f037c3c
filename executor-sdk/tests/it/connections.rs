//! Connections to an executor: TLS, and clients that only hold them open.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use carillon_executor::{Error, Executor, JobContext};
use carillon_protocol::headers;
use carillon_testkit::{Authority, StubAdmin};
use reqwest::{Certificate, Client, ClientBuilder, Identity};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::worker::{Worker, new_token};

/// From another address of this machine.
async fn connect(to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, 9), 0))).unwrap();
    socket.connect(to).await.unwrap()
}

// covers: V7, S23
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_cannot_take_all_connections() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::with(&admin, data.path(), &new_token(), |builder| builder.max_connections(16)).await;
    let mut held = vec![];
    for _ in 0..40 {
        held.push(connect(worker.handle.local_addr()).await);
    }
    let mut closed = 0;
    for stream in &mut held {
        let end = tokio::time::timeout(Duration::from_millis(50), stream.read(&mut [0])).await;
        closed += usize::from(end.is_ok());
    }
    assert_eq!(closed, 32, "half of 16 stay");
    assert_eq!(worker.post("/beat", &json!({}), &[]).await.code(), 200);
}

// covers: V7, S23
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_body_is_cut() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let mut stream = connect(worker.handle.local_addr()).await;
    let token = &worker.token;
    let head = format!("POST /beat HTTP/1.1\r\nhost: x\r\n{}: {token}\r\ncontent-length: 9\r\n\r\n{{", headers::TOKEN);
    stream.write_all(head.as_bytes()).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut vec![])).await;
    assert!(ended.is_ok());
}

// covers: S24
#[tokio::test(flavor = "multi_thread")]
async fn with_a_certificate_the_executor_speaks_tls_to_clients_with_one() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let (ours, theirs) = (Authority::new(), Authority::new());
    let ca = theirs.write(data.path());
    let (cert, key) = ours.issue().write(data.path(), "executor");
    let settings = |builder: carillon_executor::ExecutorBuilder| builder.tls(cert, key).client_ca(ca);
    let worker = Worker::with(&admin, data.path(), &new_token(), settings).await;
    let address = worker.handle.address().to_owned();
    assert!(address.starts_with("https://127.0.0.1:"), "{address}");
    let trusting = || -> ClientBuilder {
        Client::builder().tls_certs_only([Certificate::from_pem(ours.pem().as_bytes()).unwrap()])
    };
    let beat = async |client: Client| {
        let call = client.post(format!("{address}beat")).header(headers::TOKEN, &worker.token).json(&json!({}));
        call.send().await.map(|answer| answer.status().as_u16()).ok()
    };
    let identity = |authority: &Authority| {
        let pair = authority.issue();
        Identity::from_pem((pair.cert + &pair.key).as_bytes()).unwrap()
    };
    assert_eq!(beat(trusting().build().unwrap()).await, None, "no certificate");
    assert_eq!(beat(trusting().identity(identity(&ours)).build().unwrap()).await, None, "of another authority");
    assert_eq!(beat(trusting().identity(identity(&theirs)).build().unwrap()).await, Some(200));
    let stranger = Client::builder().tls_certs_only([Certificate::from_pem(theirs.pem().as_bytes()).unwrap()]);
    assert_eq!(beat(stranger.identity(identity(&theirs)).build().unwrap()).await, None, "trusts another authority");
}

// covers: S24
#[test]
fn wrong_certificates_are_named() {
    let data = TempDir::new().unwrap();
    let (cert, key) = Authority::new().issue().write(data.path(), "executor");
    let (other, _) = Authority::new().issue().write(data.path(), "other");
    let base = || {
        let builder = Executor::builder().admin("https://127.0.0.1:1").app("tests").token(new_token());
        builder.data_dir(data.path()).job("ok", |_: JobContext| async { Ok(()) })
    };
    let missing = data.path().join("missing.pem");
    for (builder, setting, said) in [
        (base().tls(&other, &key), "tls", "executor.key: it does not fit"),
        (base().tls(&missing, &key), "tls", "missing.pem: cannot read it"),
        (base().client_ca(&cert), "client_ca", "needs tls()"),
        (base().tls(&cert, &key).client_ca(&key), "client_ca", "executor.key: it holds no certificate"),
        (base().admin_ca(&missing), "admin_ca", "missing.pem: cannot read it"),
        (base().admin_ca(&key), "admin_ca", "executor.key: it holds no certificate"),
        (base().client_certificate(&cert, &missing), "client_certificate", "missing.pem: cannot read it"),
        (base().max_connections(1), "max_connections", "1 is not within 8 and 65536"),
    ] {
        match builder.build() {
            Err(Error::Setting { name, problem }) => {
                assert_eq!(name, setting, "{problem}");
                assert!(problem.contains(said), "{problem}");
            }
            Err(other) => panic!("{setting}: {other}"),
            Ok(_) => panic!("{setting}: taken"),
        }
    }
}
