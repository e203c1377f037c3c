use carillon_admin::config::Networks;
use carillon_engine::manage::{Error, RunRequest};
use carillon_scheduler::{Cause, HttpDraft, JobDraft, RunState};

use super::service::{Service, answer};
use super::{fired, job, run_of, with_config, with_node};
use crate::conformance::fixture::actor;
use crate::flow::node::Node;

// covers: 001-44
#[test]
fn a_private_address_is_called_only_if_the_settings_name_it() {
    with_config(
        |_| {},
        async |node| {
            let service = Service::start(answer(200, "", "")).await;
            let port = service.url.split(':').next_back().unwrap().to_owned();
            for (host, ip) in [("127.0.0.1", "127.0.0.1"), ("localhost", ""), ("[::ffff:127.0.0.1]", "127.0.0.1")] {
                let job = job(node, &format!("http://{host}:{port}"), |_, _| {}).await;
                let run = fired(node, &job).await;
                assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")), "{host}");
                let why = format!("{ip} is a private address; --http-networks names those that HTTP jobs may call");
                assert!(run.message().contains(why.trim_start_matches(' ')), "{host}: {}", run.message());
            }
            assert!(service.received().is_empty());
        },
    );
}

// covers: 001-44
#[test]
fn metadata_addresses_and_the_node_itself_are_never_called() {
    with_config(
        |config| config.http_networks = Some(Networks::parse("http-networks", "0.0.0.0/0,::/0").unwrap()),
        async |node| {
            for (url, why) in [
                ("http://169.254.169.254/latest/meta-data/", "is an address that no HTTP job may call"),
                (&format!("{}/api/v1/jobs", node.url), "belongs to this admin"),
            ] {
                let job = job(node, url, |_, _| {}).await;
                let run = fired(node, &job).await;
                assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")), "{url}");
                assert!(run.message().contains(why), "{url}: {}", run.message());
            }
        },
    );
}

/// Where no HTTP job gets, whatever the settings name.
const NEVER: &[&str] = &[
    "169.254.169.254",
    "169.254.1.1",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[ff02::1]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[fd00:c1::a9fe:a9fe]",
    "[::ffff:169.254.169.254]",
    "[::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1:a9fe:a9:fe00::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:a9fe:a9fe::1]",
    "[2001:db8::5efe:169.254.169.254]",
    "[::ffff:0.0.0.0]",
    // The same in other spellings.
    "2852039166",
    "0xA9FEA9FE",
    "0251.0376.0251.0376",
    "169.254.43518",
];

/// Where they get only if the settings name it.
const PRIVATE: &[&str] = &[
    "127.0.0.1",
    "127.8.8.8",
    "10.0.0.5",
    "172.31.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "198.18.0.1",
    "240.0.0.1",
    "[::1]",
    "[fd12::7]",
    "[fec0::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.5]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::1]",
    "[2001:db8::5efe:10.0.0.5]",
    "localhost",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
];

/// Saves and fires a job for each of these hosts. What cannot be saved gets nowhere either.
async fn none_is_called(node: &Node, hosts: &[&str], service: &Service) {
    let port = service.url.split(':').next_back().unwrap();
    let mut jobs = vec![];
    for host in hosts {
        let request = HttpDraft::new(format!("http://{host}:{port}"));
        let draft = JobDraft { http: Some(request), ..JobDraft::new("orders", *host, "") };
        match node.engine.jobs().create(draft, None, &actor()).await {
            Ok(job) => {
                node.fire(&job).await;
                jobs.push(job);
            }
            Err(Error::Invalid(wrong)) => assert_eq!(wrong[0].field, "http.url", "{host}: {wrong:?}"),
            Err(error) => panic!("{host}: {error}"),
        }
    }
    node.round().await;
    assert!(jobs.len() * 2 > hosts.len(), "{} of {} are saved", jobs.len(), hosts.len());
    for job in jobs {
        let run = run_of(node, &job).await;
        let host = &job.draft.name;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")), "{host}");
        let why = ["is an address that no HTTP job may call", "is a private address; --http-networks names those"];
        assert!(why.iter().any(|why| run.message().contains(why)), "{host}: {}", run.message());
    }
    assert!(service.received().is_empty());
}

// covers: 001-44
#[test]
fn no_request_of_an_http_job_reaches_an_internal_address() {
    with_config(
        |_| {},
        async |node| {
            let service = Service::start(answer(200, "", "")).await;
            none_is_called(node, &[NEVER, PRIVATE].concat(), &service).await;
        },
    );
    with_config(
        |config| config.http_networks = Some(Networks::parse("http-networks", "0.0.0.0/0,::/0").unwrap()),
        async |node| none_is_called(node, NEVER, &Service::start(answer(200, "", "")).await).await,
    );
}

// covers: 001-44
#[test]
fn no_redirect_leads_an_http_job_to_an_internal_address() {
    with_node(async |node| {
        let (service, inside) = (Service::start(answer(200, "", "")).await, Service::start(answer(200, "", "")).await);
        let port = inside.url.split(':').next_back().unwrap();
        let statuses = [301, 302, 303, 307, 308];
        let job = job(node, &service.url, |_, _| {}).await;
        for (host, status) in [NEVER, PRIVATE].concat().into_iter().zip(statuses.into_iter().cycle()) {
            // Loopback is allowed here, so only the redirect itself keeps the request from it.
            service.reply(answer(status, &format!("Location: http://{host}:{port}\r\n"), ""));
            let run = node.fire(&job).await;
            node.round().await;
            let run = node.engine.runs().get(run).await.unwrap();
            assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("result")), "{host}");
            assert!(run.message().contains("which is not followed"), "{host}: {}", run.message());
        }
        assert_eq!(service.received().len(), NEVER.len() + PRIVATE.len(), "one request for each run");
        assert!(inside.received().is_empty());
    });
}

// covers: 001-44
#[test]
fn an_executor_of_the_app_gets_no_run_of_an_http_job() {
    with_node(async |node| {
        let service = Service::start(answer(200, "", "")).await;
        let executor = carillon_testkit::RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = job(node, &service.url, |_, _| {}).await;
        assert_eq!(fired(node, &job).await.state, RunState::Succeeded);
        let address = Some(executor.address.clone());
        let (job_id, cause) = (job.id, Cause::Manual);
        let ask =
            RunRequest { job_id, cause, priority: None, address, params: None, parts: None, idempotency_key: None };
        let wrong = match node.engine.jobs().run(ask, &actor()).await {
            Err(Error::Invalid(wrong)) => wrong[0].to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(wrong, "address: must be empty: an HTTP job has no executors, its request goes to its URL");
        assert!(executor.runs().is_empty());
    });
}
