//! Services behind an authorization server: tokens are asked for, kept, and asked for again.

use std::time::Duration;

use carillon_scheduler::job::http::OauthClient;
use carillon_scheduler::{HttpAuth, RunState};
use carillon_store::Job;

use super::service::{Service, answer};
use super::{fired, job, with_node};
use crate::conformance::fixture::actor;
use crate::flow::node::Node;

const SECRET: &str = "cl1ent-secret";
const TOKEN: &str = r#"{"access_token":"t0ken-of-an-hour","token_type":"Bearer","expires_in":3600}"#;

async fn with_token(node: &Node, service: &Service, server: &Service) -> Job {
    let client = OauthClient {
        token_url: server.url.clone(),
        client_id: "carillon".into(),
        secret: "CLIENT".into(),
        scope: "reports all".into(),
        audience: String::new(),
        in_body: false,
    };
    node.engine.app_secrets().set(node.app.id, "CLIENT", SECRET, &actor()).await.unwrap();
    job(node, &service.url, |_, request| request.auth = Some(HttpAuth::Oauth2(client))).await
}

// covers: 001-44
#[test]
fn a_token_is_kept_until_shortly_before_its_end() {
    with_node(async |node| {
        let (service, server) =
            (Service::start(answer(200, "", "t0ken-of-an-hour")).await, Service::start(answer(200, "", TOKEN)).await);
        let first = with_token(node, &service, &server).await;
        let run = fired(node, &first).await;
        assert_eq!((run.state, run.message().as_str()), (RunState::Succeeded, "***"), "the token is masked");
        assert!(service.received()[0].contains("authorization: Bearer t0ken-of-an-hour"));
        let asked = server.received().pop().unwrap();
        assert!(asked.contains("authorization: Basic Y2FyaWxsb246Y2wxZW50LXNlY3JldA=="), "{asked}");
        assert!(asked.ends_with("grant_type=client_credentials&scope=reports+all"), "{asked}");
        let log = node.engine.runs().log(run.id, 1, &actor()).await.unwrap().content;
        assert!(!log.contains("t0ken") && !log.contains(SECRET), "{log}");
        node.clock.advance(Duration::from_secs(3_600 - 61));
        let second = with_token(node, &service, &server).await;
        assert_eq!(fired(node, &second).await.state, RunState::Succeeded);
        assert_eq!(server.received().len(), 1, "it is kept");
        node.clock.advance(Duration::from_secs(2));
        let third = with_token(node, &service, &server).await;
        assert_eq!(fired(node, &third).await.state, RunState::Succeeded);
        assert_eq!(server.received().len(), 2, "it ends soon");
    });
}

// covers: 001-44
#[test]
fn a_token_that_the_service_refuses_is_asked_for_again() {
    with_node(async |node| {
        let (service, server) =
            (Service::start(answer(401, "", "")).await, Service::start(answer(200, "", TOKEN)).await);
        let first = with_token(node, &service, &server).await;
        assert_eq!(fired(node, &first).await.state, RunState::Failed);
        service.reply(answer(200, "", ""));
        let second = with_token(node, &service, &server).await;
        assert_eq!(fired(node, &second).await.state, RunState::Succeeded);
        assert_eq!(server.received().len(), 2);
    });
}

// covers: 001-44
#[test]
fn a_server_that_is_away_puts_the_run_off_and_one_that_refuses_fails_it() {
    with_node(async |node| {
        let service = Service::start(answer(200, "", "")).await;
        let server = Service::start(answer(503, "", "")).await;
        let away = with_token(node, &service, &server).await;
        assert_eq!(fired(node, &away).await.state, RunState::Claimed);
        assert!(service.received().is_empty());
        let said = format!(r#"{{"error":"invalid_client","error_description":"not {SECRET}"}}"#);
        server.reply(answer(401, "", &said));
        node.advance(1_000).await;
        assert_eq!(node.states(&away).await, [RunState::Claimed], "the server is left alone for a while");
        node.advance(5_000).await;
        let run = node.runs(&away).await.remove(0);
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        assert!(
            run.message().ends_with("the authorization server: HTTP 401 invalid_client not ***"),
            "{}",
            run.message()
        );
        assert!(service.received().is_empty());
    });
}
