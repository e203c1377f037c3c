use carillon_admin::config::Networks;
use carillon_engine::manage::{Error, RunRequest};
use carillon_scheduler::{Cause, RunState};

use super::service::{Service, answer};
use super::{fired, job, with_config, with_node};
use crate::conformance::fixture::actor;

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
