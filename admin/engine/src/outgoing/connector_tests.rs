use std::time::Duration;

use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolving};
use tokio::net::TcpListener;

use super::*;
use crate::executor::outcome::describe;
use crate::outgoing::{HttpClients, Purpose};

/// A resolver that answers one thing after the other, as one does that a stranger runs.
#[derive(Default)]
struct Answers(Mutex<Vec<Vec<&'static str>>>);

impl Answers {
    fn of(answers: &[&[&'static str]]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(answers.iter().rev().map(|ips| ips.to_vec()).collect())))
    }

    fn left(&self) -> usize {
        self.0.lock().len()
    }
}

impl Resolve for Answers {
    fn resolve(&self, _: Name) -> Resolving {
        let answer = self.0.lock().pop().expect("a further question");
        let ips: Vec<SocketAddr> = answer.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect();
        Box::pin(async move { Ok(Box::new(ips.into_iter()) as Addrs) })
    }
}

fn clients(connector: Connector) -> HttpClients {
    // Which provider is installed does not matter.
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    HttpClients::new(connector, |client| client.connect_timeout(Duration::from_millis(200))).unwrap()
}

async fn send(clients: &HttpClients, url: &str) -> reqwest::Result<reqwest::Response> {
    clients.post(url.parse().unwrap()).await.unwrap().send().await
}

fn denied<T>(result: io::Result<T>) -> String {
    let error = result.err().expect("denied");
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
    error.to_string()
}

/// A listener that must not be reached; whether it was.
fn canary() -> (u16, impl FnOnce() -> bool) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, move || listener.accept().is_ok())
}

// covers: V6, S19, S20
#[tokio::test]
async fn a_name_that_leads_elsewhere_after_its_registration_is_not_connected_to() {
    let (port, was_reached) = canary();
    let answers = Answers::of(&[&["10.0.0.5"], &["127.0.0.1"], &["169.254.169.254"]]);
    let connector = Connector::with_resolver(NetworkRules::default(), answers);
    let address = format!("http://rebinding.example:{port}/");
    assert_eq!(connector.admit(&address).await, Ok(()));
    let why = denied(connector.connect("rebinding.example", port).await);
    assert!(why.starts_with("127.0.0.1: loopback is allowed only"), "{why}");
    let why = denied(connector.connect("rebinding.example", port).await);
    assert_eq!(why, "169.254.169.254 is an address that no executor can have");
    assert!(!was_reached());
}

// covers: V6, S20
#[tokio::test]
async fn the_http_client_resolves_to_checked_addresses_alone() {
    let (port, was_reached) = canary();
    let answers = Answers::of(&[&["127.0.0.1"]]);
    let clients = clients(Connector::with_resolver(NetworkRules::default(), answers));
    let error = send(&clients, &format!("http://rebinding.example:{port}/log")).await.unwrap_err();
    assert!(error.is_connect(), "{error:?}");
    assert!(!was_reached());
}

// covers: 001-44, S20
#[tokio::test]
async fn an_http_job_is_not_rebound_to_an_internal_address() {
    let (port, was_reached) = canary();
    for inside in ["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"] {
        // First a public address, then one inside, and at last both in one answer.
        let answers = Answers::of(&[&["192.0.2.1"], &[inside], &["192.0.2.1", inside]]);
        let rules = NetworkRules { purpose: Purpose::HttpJobs, ..NetworkRules::default() };
        let clients = clients(Connector::with_resolver(rules, answers.clone()));
        let url = format!("http://rebinding.example:{port}/hook");
        send(&clients, &url).await.map(drop).unwrap_or(());
        assert_eq!(answers.left(), 2, "the address that was checked is the one that was connected to");
        let error = send(&clients, &url).await.unwrap_err();
        let why = describe(&error);
        assert!(
            error.is_connect() && (why.contains("private address") || why.contains("no HTTP job")),
            "{inside}: {why}"
        );
        send(&clients, &url).await.map(drop).unwrap_or(());
        assert_eq!(answers.left(), 0);
    }
    assert!(!was_reached());
}

// covers: V6, S19, S20
#[tokio::test]
async fn a_name_that_leads_to_the_database_by_its_second_answer_is_not_connected_to() {
    let (port, was_reached) = canary();
    for scheme in ["http", "https"] {
        let answers = Answers::of(&[&["192.0.2.1"], &["127.0.0.1"]]);
        let servers = vec![("127.0.0.1".to_owned(), port)];
        let rules = NetworkRules { servers, has_loopback_executors: true, ..NetworkRules::default() };
        let clients = clients(Connector::with_resolver(rules, answers.clone()));
        let url = format!("{scheme}://rebinding.example:{port}/log");
        // It goes to the harmless address, at which there is no one.
        send(&clients, &url).await.map(drop).unwrap_or(());
        assert_eq!(answers.left(), 1, "the address that was checked is the one that was connected to");
        let error = send(&clients, &url).await.unwrap_err();
        assert!(error.is_connect() && describe(&error).contains("belongs to this admin"), "{error:?}");
    }
    assert!(!was_reached());
}

// covers: S20
#[tokio::test]
async fn another_host_is_reached_at_a_port_of_the_database() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    // Of the executor, and of the database.
    let answers = Answers::of(&[&["127.0.0.1"], &["192.0.2.1"]]);
    let servers = vec![("db.internal".to_owned(), port)];
    let rules = NetworkRules { servers, has_loopback_executors: true, ..NetworkRules::default() };
    let clients = clients(Connector::with_resolver(rules, answers));
    let url = format!("http://worker:{port}/log");
    let (answer, accepted) = tokio::join!(send(&clients, &url), async { listener.accept().await.map(drop) });
    assert!(accepted.is_ok() && !answer.unwrap_err().is_connect(), "it was reached, and hung up");
}

// covers: S20
#[tokio::test]
async fn a_name_is_resolved_once_and_its_allowed_address_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    // A second question would have no answer.
    let answers = Answers::of(&[&["169.254.169.254", "127.0.0.1"]]);
    let rules = NetworkRules { has_loopback_executors: true, ..NetworkRules::default() };
    let connection = Connector::with_resolver(rules, answers).connect("worker", port).await.unwrap();
    assert_eq!(connection.peer_addr().unwrap(), listener.local_addr().unwrap());
}

// covers: V6, S19
#[tokio::test]
async fn addresses_that_lead_to_internal_hosts_are_not_admitted() {
    let names = Answers::of(&[&["169.254.169.254"], &["192.168.7.7"], &["10.1.1.1"]]);
    let networks = Some(vec!["10.0.0.0/8".parse().unwrap()]);
    let rules = NetworkRules { networks, ..NetworkRules::default() };
    let connector = Connector::with_resolver(rules, names);
    for (address, why) in [
        ("http://0XA9FEA9FE/latest", "neither a name nor an address"),
        ("http://0X7F000001:8080/", "neither a name nor an address"),
        ("http://[::ffff:169.254.169.254]/", "no executor can have"),
        ("http://[64:ff9b::a9fe:a9fe]/", "no executor can have"),
        ("http://169.254.169.254.nip.io/", "169.254.169.254 is an address that no executor can have"),
        ("http://worker/", "192.168.7.7 is in none of the networks"),
    ] {
        let said = connector.admit(address).await.unwrap_err();
        assert!(said.contains(why), "{address}: {said}");
    }
    assert_eq!(connector.admit("http://worker:9999/").await, Ok(()));
}

// covers: S19
#[tokio::test]
async fn the_database_and_redis_are_not_connected_to() {
    // The name of the database is resolved when a connection to its port is asked for.
    let names = Answers::of(&[&["10.0.0.9"], &["10.0.0.9"]]);
    let servers = vec![("db.internal".to_owned(), 5432), ("10.0.0.8".to_owned(), 6379)];
    let rules = NetworkRules { servers, has_loopback_executors: true, ..NetworkRules::default() };
    let connector = Connector::with_resolver(rules, names);
    assert!(connector.admit("http://10.0.0.9:5432/").await.unwrap_err().contains("its database"));
    assert!(denied(connector.connect("10.0.0.8", 6379).await).contains("10.0.0.8:6379 belongs to"));
    let url = "https://10.0.0.9:5432/log".parse().unwrap();
    assert!(denied(connector.check_literal(&url).await).contains("10.0.0.9:5432"));
    let other = "https://10.0.0.9:9999/log".parse().unwrap();
    assert!(connector.check_literal(&other).await.is_ok());
}

// covers: S19
#[tokio::test]
async fn a_server_of_this_machine_is_not_reached_by_another_address_of_it() {
    let names = Answers::of(&[&["127.0.0.1"], &["127.0.0.1"], &["127.0.0.1"]]);
    let servers = vec![("localhost".to_owned(), 5432)];
    let rules = NetworkRules { servers, has_loopback_executors: true, ..NetworkRules::default() };
    let connector = Connector::with_resolver(rules, names);
    for other in ["127.0.0.9", "::1"] {
        assert!(denied(connector.addresses(other, 5432).await).contains("its database"), "{other}");
    }
    assert!(connector.addresses("192.0.2.1", 5432).await.is_ok(), "it is another machine's");
    assert!(connector.addresses("127.0.0.9", 5433).await.is_ok());
}

// covers: S19
#[tokio::test]
async fn nothing_is_connected_to_on_the_port_of_a_database_that_cannot_be_resolved() {
    let servers = vec![("db.internal".to_owned(), 5432)];
    let rules = NetworkRules { servers, ..NetworkRules::default() };
    let connector = Connector::with_resolver(rules, Answers::of(&[&[], &[], &["10.0.0.9"]]));
    let why = connector.connect("10.0.0.8", 5432).await.unwrap_err().to_string();
    assert_eq!(why, "port 5432 is one of this admin's database or Redis, whose address cannot be resolved now");
    assert_eq!(connector.admit("http://10.0.0.8:5432/").await, Ok(()), "as a name that cannot be resolved");
    assert!(connector.addresses("10.0.0.8", 5432).await.is_ok(), "it is resolved again");
    assert!(connector.addresses("10.0.0.8", 9999).await.is_ok());
}

// covers: V6
#[tokio::test]
async fn a_stored_address_is_checked_when_it_is_used() {
    let connector = Connector::new(NetworkRules::default());
    for url in ["http://169.254.169.254/", "http://0XA9FEA9FE/", "https://[fd00:ec2::254]/", "http://127.0.0.1:9/"] {
        let url: Url = url.parse().unwrap();
        denied(connector.check_literal(&url).await);
        denied(connector.connect(url.host_str().unwrap(), 80).await);
    }
}

// covers: 001-44, V6, S20
#[tokio::test]
async fn a_name_that_leads_to_a_private_address_gets_no_request_of_an_http_job() {
    let (port, was_reached) = canary();
    let answers = Answers::of(&[&["127.0.0.1"], &["10.0.0.5"], &["169.254.169.254"], &["192.0.2.1", "10.0.0.5"]]);
    let rules = NetworkRules { purpose: Purpose::HttpJobs, has_loopback_executors: true, ..NetworkRules::default() };
    let connector = Connector::with_resolver(rules, answers);
    let clients = clients(connector.clone());
    let error = send(&clients, &format!("http://rebinding.example:{port}/hook")).await.unwrap_err();
    assert!(describe(&error).contains("--http-networks names those that HTTP jobs may call"), "{error:?}");
    let why = denied(connector.addresses("rebinding.example", port).await);
    assert!(why.starts_with("10.0.0.5 is a private address"), "{why}");
    let why = denied(connector.addresses("rebinding.example", port).await);
    assert_eq!(why, "169.254.169.254 is an address that no HTTP job may call");
    let allowed = connector.addresses("rebinding.example", port).await.unwrap();
    assert_eq!(allowed, [SocketAddr::from(([192, 0, 2, 1], port))]);
    assert!(!was_reached());
}
