//! Clients that send large bodies and have no token: the memory of the node does not grow with them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::program::settings;
use carillon_testkit::http_client;
use futures_util::future::join_all;

/// What a flood of requests without a token may add to the peak of the resident memory.
const GROWTH: u64 = 48 << 20;

/// So many zeros as gzip writes them.
fn bomb(bytes: usize) -> Vec<u8> {
    let mut gzip = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = gzip.stdin.take().unwrap();
    let writing = std::thread::spawn(move || stdin.write_all(&vec![0; bytes]).unwrap());
    let output = gzip.wait_with_output().unwrap();
    writing.join().unwrap();
    output.stdout
}

/// Sends the body to the path over so many connections at once; answers the statuses and texts that came.
async fn flood(url: &str, connections: usize, encoding: &str, body: &[u8]) -> Vec<(u16, String)> {
    let http = http_client(Duration::from_secs(60));
    let calls = (0..connections).map(|_| {
        let call = http.post(url).header("content-encoding", encoding);
        let origin = url.parse::<reqwest::Url>().unwrap().origin().ascii_serialization();
        call.header("origin", origin).body(body.to_vec()).send()
    });
    let mut answers = vec![];
    // A connection that is closed before the whole body was sent counts as refused.
    for answer in join_all(calls).await.into_iter().flatten() {
        answers.push((answer.status().as_u16(), answer.text().await.unwrap_or_default()));
    }
    answers
}

// covers: V1, F17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_a_token_cost_no_memory_whatever_they_send() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path());
    let node = setup.start().await;
    let zeros = bomb(8 << 20);
    let before = node.peak_memory();

    let callback = format!("{}/api/callback", node.url());
    for (status, text) in flood(&callback, 200, "gzip", &zeros).await {
        assert_eq!(status, 200, "{text}");
        assert!(text.contains("The access token is wrong."), "{text}");
    }
    let grown = node.peak_memory() - before;
    assert!(grown < GROWTH, "{} MiB by compressed callbacks", grown >> 20);
    for path in ["login", "api/v1/jobs", "nowhere"] {
        for (status, text) in flood(&format!("{}/{path}", node.url()), 200, "gzip", &zeros).await {
            assert_eq!(status, 415, "{path}: {text}");
        }
    }
    // Not compressed: as long as a callback may be, from as many connections as one source has.
    let plain = vec![b'['; 4 << 20];
    for (status, text) in flood(&callback, 60, "identity", &plain).await {
        assert!(text.contains("The access token is wrong."), "{status} {text}");
    }
    let grown = node.peak_memory() - before;
    eprintln!("peak of the resident memory grew by {} KiB", grown >> 10);
    assert!(grown < GROWTH, "{} MiB", grown >> 20);
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
