//! TLS of the listeners, on the real binary.

use std::path::Path;

use carillon_accounts::openid;
use carillon_executor::{Executor, JobContext};
use carillon_testkit::{Authority, Program, ProgramSettings, wait_for};
use reqwest::{Certificate, Client, Identity};
use serde_json::{Value, json};

use crate::program::{ended, settings};

/// With `--tls-cert` and `--tls-key`, signed by the authority.
fn with_pair(folder: &Path, authority: &Authority) -> ProgramSettings {
    let (cert, key) = authority.issue().write(folder, "node");
    let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
    settings(folder).arg(flag("tls-cert", &cert)).arg(flag("tls-key", &key))
}

/// One that trusts this authority alone, and shows `identity`.
fn client(authority: &Authority, identity: Option<&Authority>) -> Client {
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    let builder = Client::builder().tls_certs_only([Certificate::from_pem(authority.pem().as_bytes()).unwrap()]);
    let builder = match identity.map(Authority::issue) {
        Some(pair) => builder.identity(Identity::from_pem((pair.cert + &pair.key).as_bytes()).unwrap()),
        None => builder,
    };
    // Each request has a handshake of its own.
    builder.pool_max_idle_per_host(0).build().unwrap()
}

async fn executors_at(node: &Program) -> String {
    wait_for("its start", async || !node.log("\"serving\"").is_empty()).await;
    let event: Value = serde_json::from_str(&node.log("\"serving\"")[0]).unwrap();
    event["listen.executors"].as_str().unwrap().to_owned()
}

async fn is_alive(client: &Client, node: &Program) -> bool {
    client.get(format!("https://{}/healthz", node.address)).send().await.is_ok_and(|answer| answer.status() == 200)
}

// covers: S24, S6, S29
#[tokio::test]
async fn a_node_with_a_certificate_speaks_tls_alone() {
    let (folder, ours, other) = (tempfile::tempdir().unwrap(), Authority::new(), Authority::new());
    let node = with_pair(folder.path(), &ours).start().await;
    assert!(is_alive(&client(&ours, None), &node).await);
    assert!(!is_alive(&client(&other, None), &node).await, "another authority");

    let answer = client(&ours, None).get(format!("https://{}/login", node.address)).send().await.unwrap();
    assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");

    let plain = Client::new().get(node.url()).send().await.unwrap();
    assert_eq!(plain.status(), 400);
    assert_eq!(plain.text().await.unwrap(), "this port takes HTTPS only: write https:// in the address\n");
}

// covers: S24
#[tokio::test]
async fn a_new_certificate_is_taken_while_the_node_runs_and_a_broken_one_is_not() {
    let (folder, old, new) = (tempfile::tempdir().unwrap(), Authority::new(), Authority::new());
    let node = with_pair(folder.path(), &old).start().await;
    new.issue().write(folder.path(), "node");
    let with_new = client(&new, None);
    wait_for("the new certificate", async || is_alive(&with_new, &node).await).await;
    std::fs::write(folder.path().join("node.key"), "no key").unwrap();
    wait_for("the error", async || !node.log("the certificate in use is kept").is_empty()).await;
    assert!(node.log("the certificate in use is kept")[0].contains("node.key"));
    assert!(is_alive(&with_new, &node).await, "the old pair stays in use");
}

// covers: S24
#[tokio::test]
async fn executors_must_show_a_certificate_where_their_authority_is_given() {
    let (folder, ours, theirs) = (tempfile::tempdir().unwrap(), Authority::new(), Authority::new());
    let ca = theirs.write(folder.path());
    let mut setup = with_pair(folder.path(), &ours)
        .arg("--executor-listen=127.0.0.1:0")
        .arg(format!("--executor-tls-client-ca={}", ca.display()));
    let node = setup.start().await;
    let url = format!("https://{}/api/callback", executors_at(&node).await);
    let report = async |client: Client| {
        let call = client.post(&url).header("XXL-JOB-ACCESS-TOKEN", &setup.access_token);
        call.json(&json!([])).send().await.map(|answer| answer.status().as_u16()).ok()
    };
    assert_eq!(report(client(&ours, None)).await, None, "no certificate");
    assert_eq!(report(client(&ours, Some(&ours))).await, None, "one of another authority");
    assert_eq!(report(client(&ours, Some(&theirs))).await, Some(200));
    assert!(is_alive(&client(&ours, None), &node).await, "people need none");
}

// covers: S24
#[test]
fn files_that_cannot_be_used_end_the_start() {
    let (folder, ours) = (tempfile::tempdir().unwrap(), Authority::new());
    let refused = |setup: &ProgramSettings, said: &str| {
        let (code, _, err) = ended(setup.command());
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(said), "{said:?} is not in {err:?}");
    };
    let (key, _) = ours.issue().write(folder.path(), "executors");
    let missing = settings(folder.path()).arg("--executor-ca=missing.pem");
    refused(&missing, "--executor-ca (CARILLON_EXECUTOR_CA): missing.pem: cannot read it");
    let no_pair = settings(folder.path()).arg(format!("--executor-client-cert={}", key.display()));
    refused(&no_pair, "--executor-client-cert (CARILLON_EXECUTOR_CLIENT_CERT): it needs --executor-client-key");
    let setup = with_pair(folder.path(), &ours);
    std::fs::write(folder.path().join("node.key"), Authority::new().issue().key).unwrap();
    refused(&setup, "--tls-key (CARILLON_TLS_KEY): ");
    std::fs::write(folder.path().join("node.pem"), "").unwrap();
    refused(&setup, "node.pem: it holds no certificate in PEM form; name a PEM file");
    refused(&settings(folder.path()).arg("--tls-cert=node.pem"), "--tls-cert (CARILLON_TLS_CERT): it needs --tls-key");
}

// covers: S24
#[tokio::test]
async fn a_run_goes_to_an_executor_and_back_with_certificates_on_both_sides() {
    let (folder, ours) = (tempfile::tempdir().unwrap(), Authority::new());
    let ca = ours.write(folder.path());
    let (cert, key) = ours.issue().write(folder.path(), "client");
    let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
    let mut setup = with_pair(folder.path(), &ours)
        .arg("--executor-listen=127.0.0.1:0")
        .arg(flag("executor-tls-client-ca", &ca))
        .arg(flag("executor-ca", &ca))
        .arg(flag("executor-client-cert", &cert))
        .arg(flag("executor-client-key", &key));
    let node = setup.start().await;
    let executors = executors_at(&node).await;
    let api = async |method: reqwest::Method, path: &str, body: Value| -> Value {
        let call = client(&ours, None).request(method, format!("https://{}/api/v1{path}", node.address));
        let answer = call.bearer_auth(&setup.api_token).json(&body).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    };
    api(reqwest::Method::POST, "/apps", json!({"name": "orders", "title": "Orders"})).await;
    let (own_cert, own_key) = ours.issue().write(folder.path(), "executor");
    let executor = Executor::builder()
        .admin(format!("https://{executors}"))
        .app("orders")
        .token(&setup.access_token)
        .data_dir(folder.path().join("executor"))
        .tls(own_cert, own_key)
        .client_ca(&ca)
        .admin_ca(&ca)
        .client_certificate(&cert, &key)
        .job("close", |_: JobContext| async { Ok("closed") })
        .build()
        .unwrap();
    let handle = executor.handle();
    let serving = tokio::spawn(executor.run(std::future::pending()));
    tokio::time::timeout(carillon_testkit::LIMIT, handle.registered()).await.unwrap();
    let draft = json!({"app": "orders", "name": "Close", "handler": "close", "schedule": {"kind": "none"}});
    let job = api(reqwest::Method::POST, "/jobs", draft).await["id"].as_i64().unwrap();
    api(reqwest::Method::POST, &format!("/jobs/{job}/run"), json!({})).await;
    wait_for("the run's end", async || {
        let runs = api(reqwest::Method::GET, &format!("/runs?job_id={job}"), Value::Null).await;
        runs["items"][0]["state"] == "succeeded"
    })
    .await;
    serving.abort();
}

// covers: S24
#[tokio::test]
async fn the_certificate_of_an_openid_provider_may_be_of_a_private_authority() {
    let (folder, ours) = (tempfile::tempdir().unwrap(), Authority::new());
    let ca = ours.write(folder.path());
    // It speaks TLS and is no provider: the description is not what comes back.
    let node = with_pair(folder.path(), &ours).start().await;
    let failure = async |ca: Option<&Path>| {
        let settings = openid::Settings {
            ca: ca.map(Path::to_owned),
            ..openid::Settings::new(format!("https://{}", node.address), "c")
        };
        let authorities = settings.authorities().unwrap();
        let provider = openid::Provider::new(settings, "https://console.example/", authorities).unwrap();
        provider.look(0).await;
        provider.failure().unwrap()
    };
    let (unknown, known) = (failure(None).await, failure(Some(&ca)).await);
    assert!(unknown.contains("certificate"), "{unknown}");
    assert!(!known.contains("certificate"), "{known}");
    let missing = folder.path().join("missing.pem");
    let settings = openid::Settings { ca: Some(missing), ..openid::Settings::new("https://login.example", "c") };
    assert!(settings.authorities().unwrap_err().contains("missing.pem: cannot read it"));
}
