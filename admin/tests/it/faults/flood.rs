//! Clients that send large bodies and have no token: the memory of the node does not grow with them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::program::settings;
use carillon_testkit::http_client;
use futures_util::future::join_all;

/// What a flood of requests without a token may add to the peak of the resident memory.
const GROWTH: u64 = 48 << 20;

/// `bytes` zeros as gzip compresses them.
fn bomb(bytes: usize) -> Vec<u8> {
    let mut gzip = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = gzip.stdin.take().unwrap();
    let writing = std::thread::spawn(move || stdin.write_all(&vec![0; bytes]).unwrap());
    let output = gzip.wait_with_output().unwrap();
    writing.join().unwrap();
    output.stdout
}

/// Sources of a flood: one that has shown no credential has an eighth of the connections.
const SOURCES: u8 = 8;

/// Sends the body to the URL over `connections` connections at once, from several addresses of this machine; returns the statuses and
/// texts of the answers.
async fn flood(url: &str, connections: usize, encoding: &str, body: &[u8]) -> Vec<(u16, String)> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = |source: u8| {
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60));
        client.local_address(IpAddr::from([127, 0, 0, 50 + source])).build().unwrap()
    };
    let sources: Vec<reqwest::Client> = (0..SOURCES).map(client).collect();
    let calls = (0..connections).map(|number| {
        let call = sources[number % sources.len()].post(url).header("content-encoding", encoding);
        let origin = url.parse::<reqwest::Url>().unwrap().origin().ascii_serialization();
        call.header("origin", origin).body(body.to_vec()).send()
    });
    let mut answers = vec![];
    // A connection that is closed before the whole body was sent counts as refused.
    for answer in join_all(calls).await.into_iter().flatten() {
        answers.push((answer.status().as_u16(), answer.text().await.unwrap_or_default()));
    }
    eprintln!("{} of {connections} were answered: {url}", answers.len());
    answers
}

// covers: V1, F17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_a_token_cost_no_memory_whatever_they_send() {
    let folder = tempfile::tempdir().unwrap();
    let password = carillon_accounts::secret::random_secret();
    let mut setup = settings(folder.path()).env("CARILLON_ADMIN_PASSWORD", password);
    let node = setup.start().await;
    let zeros = bomb(8 << 20);
    let before = node.peak_memory();
    let check = |what: &str| {
        let grown = node.peak_memory() - before;
        eprintln!("{what}: the peak of the resident memory grew by {} KiB", grown >> 10);
        assert!(grown < GROWTH, "{what}: {} MiB", grown >> 20);
    };

    let callback = format!("{}/api/callback", node.url());
    let answers = flood(&callback, 200, "gzip", &zeros).await;
    assert!(answers.len() >= 100, "{}", answers.len());
    for (status, text) in answers {
        assert_eq!(status, 200, "{text}");
        assert!(text.contains("The access token is wrong."), "{text}");
    }
    check("compressed callbacks");
    for path in ["login", "api/v1/jobs", "nowhere"] {
        let answers = flood(&format!("{}/{path}", node.url()), 200, "gzip", &zeros).await;
        assert!(answers.len() >= 100, "{path}: {}", answers.len());
        for (status, text) in answers {
            assert_eq!(status, 415, "{path}: {text}");
        }
    }
    // Not compressed: as long as a callback may be.
    let answers = flood(&callback, 64, "identity", &vec![b'['; 4 << 20]).await;
    assert!(answers.len() >= 16, "{}", answers.len());
    for (status, text) in answers {
        assert!(text.contains("The access token is wrong."), "{status} {text}");
    }
    check("long callbacks");
    // Forms of strangers: no text, which would be nine times as long in the answer.
    for (path, expected) in [("jobs", 401), ("jobs/1/edit", 401), ("login", 413), ("login?kept", 413)] {
        let answers = flood(&format!("{}/{path}", node.url()), 200, "identity", &vec![0xff; 1 << 20]).await;
        assert!(answers.len() >= 100, "{path}: {}", answers.len());
        for (status, text) in answers {
            assert!(status == expected || status == 503, "{path}: {status} {text}");
            assert!(text.len() < 64 << 10, "{path}: {}", text.len());
        }
    }
    check("forms");
}

/// A hash takes 19 MiB, and two are computed at a time.
const OF_HASHES: u64 = 2 * (19 << 20) + GROWTH;

// covers: S2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sign_ins_at_once_take_the_memory_of_two() {
    let folder = tempfile::tempdir().unwrap();
    let password = carillon_accounts::secret::random_secret();
    let mut setup =
        settings(folder.path()).env("CARILLON_ADMIN_PASSWORD", password).arg("--trusted-proxies=127.0.0.0/8");
    let node = setup.start().await;
    let http = http_client(Duration::from_secs(300));
    let before = node.peak_memory();
    let tries = (0..200).map(|number| {
        // Each name and each address once: none of them has to wait.
        let call = http.post(format!("{}/login", node.url())).header("origin", node.url());
        let call = call.header("x-forwarded-for", format!("198.51.{}.{}", number / 100, number % 100));
        call.header("content-type", "application/x-www-form-urlencoded")
            .body(format!("name=n{number}&password=wrong"))
            .send()
    });
    let answers = join_all(tries).await;
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for answer in answers {
        let outcome = answer.map_or_else(|error| error.to_string(), |answer| answer.status().to_string());
        *outcomes.entry(outcome).or_default() += 1;
    }
    let refused = outcomes.get("401 Unauthorized").copied().unwrap_or(0);
    let grown = node.peak_memory() - before;
    eprintln!("{refused} sign-ins refused; peak of the resident memory grew by {} KiB", grown >> 10);
    // A busy machine closes some of the connections that wait.
    assert!(refused >= 50, "{outcomes:?}");
    assert!(grown < OF_HASHES, "{} MiB", grown >> 20);
}
