use carillon_engine::manage::Error;
use carillon_scheduler::job::http::{BasicAuth, HmacSecrets};
use carillon_scheduler::{HttpAuth, RunState};
use sea_orm::ConnectionTrait as _;

use super::service::{Reply, Service, answer};
use super::{allow_loopback, fired, job, run_of, with_database, with_node};
use crate::conformance::fixture::actor;
use crate::services::Kind;

const SECRET: &str = "s3cret/\"word\"";

// covers: 001-44
#[test]
fn a_secret_reaches_the_service_and_is_shown_nowhere_though_the_service_repeats_it() {
    with_node(async |node| {
        let service = Service::start(Reply::Echo).await;
        node.engine.app_secrets().set(node.app.id, "KEY", SECRET, &actor()).await.unwrap();
        let basic = HttpAuth::Basic(BasicAuth { user: "u".into(), password: "KEY".into() });
        for auth in [HttpAuth::Bearer("KEY".into()), basic, HttpAuth::Hmac("KEY".into())] {
            let job = job(node, &format!("{}?k={{{{secret.KEY}}}}", service.url), |_, request| {
                request.headers.insert("X-Key".into(), "{{secret.KEY}}".into());
                request.body = r#"{"key":"{{secret.KEY}}"}"#.into();
                request.auth = Some(auth.clone());
            })
            .await;
            let run = fired(node, &job).await;
            assert_eq!(run.state, RunState::Succeeded, "{}", run.message());
            let sent = service.received().pop().unwrap();
            assert!(
                sent.contains(&format!("x-key: {SECRET}\r\n")) && sent.contains("?k=s3cret%2F%22word%22"),
                "{sent}"
            );
            let expected = match &auth {
                HttpAuth::Bearer(_) => format!("authorization: Bearer {SECRET}\r\n"),
                HttpAuth::Basic(_) => "authorization: Basic dTpzM2NyZXQvIndvcmQi\r\n".to_owned(),
                HttpAuth::Hmac(_) => format!("webhook-id: {}\r\n", run.id),
                HttpAuth::Oauth2(_) => unreachable!("it has tests of its own"),
            };
            assert!(sent.contains(&expected), "{sent}");
            let log = node.engine.runs().log(run.id, 1, &actor()).await.unwrap().content;
            for text in [run.message(), log] {
                assert!(text.contains("***"), "{text}");
                for form in [SECRET, "s3cret%2F", "s3cret/\\\"", "dTpzM2NyZXQvIndvcmQi"] {
                    assert!(!text.contains(form), "{form} in {text}");
                }
            }
        }
    });
}

// covers: 001-44
#[test]
fn a_secret_named_as_a_header_is_masked_beside_the_one_that_is_derived() {
    with_node(async |node| {
        let service = Service::start(Reply::Echo).await;
        node.engine.app_secrets().set(node.app.id, "Authorization", SECRET, &actor()).await.unwrap();
        let job = job(node, &service.url, |_, request| {
            request.body = "{{secret.Authorization}}".into();
            let basic = BasicAuth { user: "u".into(), password: "Authorization".into() };
            request.auth = Some(HttpAuth::Basic(basic));
        })
        .await;
        let run = fired(node, &job).await;
        let log = node.engine.runs().log(run.id, 1, &actor()).await.unwrap().content;
        for text in [run.message(), log] {
            assert!(text.contains("***") && !text.contains("s3cret") && !text.contains("dTpz"), "{text}");
        }
    });
}

// covers: 001-44
#[test]
fn two_secrets_sign_while_one_takes_the_place_of_the_other() {
    with_node(async |node| {
        let service = Service::start(answer(200, "", "")).await;
        for (name, value) in [("NEW", "n3w-secret"), ("FORMER", "f0rmer-secret")] {
            node.engine.app_secrets().set(node.app.id, name, value, &actor()).await.unwrap();
        }
        let both = HttpAuth::Hmac(HmacSecrets::Two(["NEW".into(), "FORMER".into()]));
        let job = job(node, &service.url, |_, request| request.auth = Some(both)).await;
        assert_eq!(fired(node, &job).await.state, RunState::Succeeded);
        let request = service.received().pop().unwrap();
        let signatures = request.lines().find_map(|line| line.strip_prefix("webhook-signature: ")).unwrap();
        let signatures: Vec<&str> = signatures.split(' ').collect();
        assert!(signatures.len() == 2 && signatures.iter().all(|signature| signature.starts_with("v1,")), "{request}");
        assert_ne!(signatures[0], signatures[1]);
    });
}

// covers: 001-44
#[test]
fn a_run_whose_secret_is_missing_is_not_sent() {
    with_node(async |node| {
        let service = Service::start(Reply::Echo).await;
        let job = job(node, &service.url, |_, request| request.auth = Some(HttpAuth::Bearer("NONE".into()))).await;
        let run = fired(node, &job).await;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        assert!(run.message().ends_with("the secret NONE is not set"), "{}", run.message());
        assert!(service.received().is_empty());
    });
}

// covers: 001-44
#[test]
fn a_run_whose_secret_cannot_be_read_waits_and_others_reach_its_service() {
    with_database(Kind::Sqlite, allow_loopback, async |node, db| {
        let service = Service::start(answer(200, "", "")).await;
        node.engine.app_secrets().set(node.app.id, "KEY", SECRET, &actor()).await.unwrap();
        let named = job(node, &service.url, |_, request| request.auth = Some(HttpAuth::Bearer("KEY".into()))).await;
        let plain = job(node, &service.url, |_, _| {}).await;
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        raw.execute_unprepared("ALTER TABLE secret RENAME TO secret_behind").await.unwrap();
        assert_eq!(fired(node, &named).await.state, RunState::Claimed);
        assert_eq!(fired(node, &plain).await.state, RunState::Succeeded, "the breaker is closed");
        raw.execute_unprepared("ALTER TABLE secret_behind RENAME TO secret").await.unwrap();
        node.advance(1_000).await;
        assert_eq!(run_of(node, &named).await.state, RunState::Succeeded);
    });
}

// covers: 001-44
#[test]
fn a_secret_has_a_name_and_a_length() {
    with_node(async |node| {
        let secrets = node.engine.app_secrets();
        let wrong = match secrets.set(node.app.id, "1 x", "short", &actor()).await {
            Err(Error::Invalid(wrong)) => wrong,
            other => panic!("{other:?}"),
        };
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(
            wrong,
            [
                "name: `1 x` is no name of a secret; write up to 64 letters, digits, `-`, `_` and `.`, the first a letter",
                "value: has 5 bytes; a secret has 8 to 4096"
            ]
        );
        assert!(matches!(secrets.delete(node.app.id, "NONE", &actor()).await, Err(Error::Missing(_))));
    });
}
