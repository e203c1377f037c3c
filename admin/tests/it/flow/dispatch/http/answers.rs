use carillon_scheduler::{HttpMethod, RetryDelay, RunReason, RunState};

use super::service::{Reply, Service, answer};
use super::{closed_address, fired, job, run_of, with_node};
use crate::conformance::fixture::actor;

// covers: 001-44
#[test]
fn a_request_has_its_values_and_its_answer_is_the_result_and_the_log() {
    with_node(async |node| {
        let service = Service::start(answer(201, "X-Made: 7\r\n", "{\"id\": 7}\n")).await;
        let job = job(node, &format!("{}/{{{{run_id}}}}", service.url), |draft, request| {
            draft.params = r#"{"day": "Mon\"day"}"#.into();
            request.method = HttpMethod::Put;
            request.headers.insert("X-Job".into(), "{{job_id}}".into());
            request.body = r#"{"day":"{{params#/day}}"}"#.into();
        })
        .await;
        let run = fired(node, &job).await;
        assert_eq!((run.state, run.reason.as_deref(), run.result_code), (RunState::Succeeded, None, Some(201)));
        assert_eq!(run.message(), "{\"id\": 7}\n");
        assert_eq!(run.address.as_deref(), service.url.strip_suffix("/hook"));
        let request = &service.received()[0];
        assert!(request.starts_with(&format!("PUT /hook/{} HTTP/1.1\r\n", run.id)), "{request}");
        assert!(request.ends_with("\r\n\r\n{\"day\":\"Mon\\\"day\"}"), "{request}");
        for (name, value) in [
            ("carillon-run-id", run.id.to_string()),
            ("carillon-attempt", "1".into()),
            ("carillon-scheduled-at", run.scheduled_at.to_string()),
            ("traceparent", run.traceparent(&node.engine.cx.cluster).to_string()),
            ("x-job", job.id.to_string()),
            ("content-type", "application/json".into()),
        ] {
            assert!(request.contains(&format!("{name}: {value}\r\n")), "{name}: {request}");
        }
        let of = |name: &str| request.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap();
        assert_eq!(of("idempotency-key"), of("carillon-fire-key"));
        assert!(!of("idempotency-key").is_empty());
        let log = node.engine.runs().log(run.id, 1, &actor()).await.unwrap();
        assert!(log.end && log.content.starts_with(&format!("PUT {}/{}\n", service.url, run.id)), "{}", log.content);
        assert!(log.content.contains("\nHTTP 201\n") && log.content.contains("\nx-made: 7\n"), "{}", log.content);
        assert!(log.content.ends_with("\n{\"id\": 7}\n\n"), "{}", log.content);
        let rest = node.engine.runs().log(run.id, log.to, &actor()).await.unwrap();
        assert_eq!((rest.from, rest.to), (log.to, log.to), "from any line on");
    });
}

// covers: 001-44
#[test]
fn each_answer_leads_to_its_state() {
    with_node(async |node| {
        let service = Service::start(Reply::Cut).await;
        let elsewhere = Service::start(answer(200, "", "")).await;
        let (result, unknown) = (Some(RunReason::Result), Some(RunReason::Unknown));
        let large = "x".repeat((1 << 20) + 1);
        for (reply, state, reason, message) in [
            (answer(204, "", ""), RunState::Succeeded, None, ""),
            (answer(200, "", "no JSON"), RunState::Succeeded, None, "no JSON"),
            (answer(404, "", "no such\n"), RunState::Failed, result, "HTTP 404: no such"),
            (answer(408, "", ""), RunState::Failed, result, "HTTP 408"),
            (answer(500, "", "ä"), RunState::Failed, result, "HTTP 500: ä"),
            (answer(503, "", ""), RunState::Failed, result, "HTTP 503"),
            (
                answer(503, "Retry-After: 5\r\n", ""),
                RunState::Failed,
                Some(RunReason::Refused),
                "HTTP 503: the service is busy",
            ),
            (
                answer(307, &format!("Location: {}\r\n", elsewhere.url), ""),
                RunState::Failed,
                result,
                &format!("HTTP 307: a redirect to {}, which is not followed", elsewhere.url),
            ),
            (answer(200, "", &large), RunState::Failed, result, "HTTP 200 with a body of more than 1 MiB"),
            (Reply::Cut, RunState::Unknown, unknown, "connection closed before message completed"),
            // Broken in the head, in the body, and in a chunk.
            (
                Reply::Bytes("HTTP/1.1 200 x\r\nContent-".into()),
                RunState::Unknown,
                unknown,
                "connection closed before message completed",
            ),
            (
                Reply::Bytes("HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nhalf".into()),
                RunState::Unknown,
                unknown,
                "end of file before message length reached",
            ),
            (
                Reply::Bytes("HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n".into()),
                RunState::Unknown,
                unknown,
                "unexpected EOF during chunk size line",
            ),
            (Reply::Bytes("no HTTP\r\n\r\n".into()), RunState::Unknown, unknown, "invalid HTTP version parsed"),
            (
                Reply::Bytes("HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n".into()),
                RunState::Succeeded,
                None,
                "done",
            ),
        ] {
            let shown = format!("{:.80}", format!("{reply:?}"));
            service.reply(reply);
            // A job of its own, and no breaker that an earlier one has opened.
            node.clock.advance(std::time::Duration::from_secs(11));
            let job = job(node, &service.url, |_, _| {}).await;
            let run = fired(node, &job).await;
            assert_eq!((run.state, run.reason.as_deref()), (state, reason.map(RunReason::as_str)), "{shown}");
            assert_eq!(run.message(), message, "{shown}");
        }
        assert_eq!(service.received().len(), 15, "each is sent once");
        assert!(elsewhere.received().is_empty(), "a redirect is not followed");
    });
}

// covers: 001-44
#[test]
fn what_a_job_expects_decides() {
    with_node(async |node| {
        let service = Service::start(answer(404, "", r#"{"ok": true}"#)).await;
        for (status, test, state) in [
            ("", None, RunState::Failed),
            ("200-299, 404", None, RunState::Succeeded),
            ("404", Some(r#"{"path": "/ok", "eq": true}"#), RunState::Succeeded),
            ("404", Some(r#"{"path": "/ok", "eq": false}"#), RunState::Failed),
            ("404", Some(r#"{"path": "/none", "eq": 1}"#), RunState::Failed),
        ] {
            let job = job(node, &service.url, |_, request| {
                request.expect.status = status.into();
                request.expect.body = test.map(|test| serde_json::from_str(test).unwrap());
            })
            .await;
            assert_eq!(fired(node, &job).await.state, state, "{status} {test:?}");
        }
    });
}

// covers: 001-44
#[test]
fn a_busy_service_is_tried_again_when_it_says_so() {
    with_node(async |node| {
        let service = Service::start(answer(429, "Retry-After: 120\r\n", "")).await;
        let job = job(node, &service.url, |draft, _| {
            (draft.retries, draft.retry_delay) = (1, RetryDelay::Fixed { seconds: vec![1] });
        })
        .await;
        node.fire(&job).await;
        node.round().await;
        let runs = node.runs(&job).await;
        assert_eq!((runs.len(), runs[0].state, runs[0].reason.as_deref()), (2, RunState::Failed, Some("refused")));
        assert!(
            (119_000..=121_000).contains(&(runs[1].due_at - runs[0].due_at)),
            "{}",
            runs[1].due_at - runs[0].due_at
        );
        service.reply(answer(200, "", "now"));
        node.advance(60_000).await;
        assert_eq!(service.received().len(), 1);
        node.advance(62_000).await;
        assert_eq!(node.states(&job).await, [RunState::Failed, RunState::Succeeded]);
        assert!(service.received()[1].contains("carillon-attempt: 2\r\n"));
    });
}

// covers: 001-44
#[test]
fn what_was_not_written_is_tried_again_until_it_is_too_late() {
    with_node(async |node| {
        let address = closed_address();
        let job = job(node, &format!("http://{address}/"), |_, _| {}).await;
        assert_eq!(fired(node, &job).await.state, RunState::Claimed, "it waits for the service");
        // The breaker is over: one more try.
        node.advance(11_000).await;
        assert_eq!(run_of(node, &job).await.state, RunState::Claimed);
        for _ in 0..8 {
            node.advance(10_000).await;
        }
        let run = run_of(node, &job).await;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        assert!(run.message().contains(&address.to_string()), "{}", run.message());
    });
}

// covers: 001-44
#[test]
fn a_run_that_is_given_up_says_why_its_service_could_not_be_reached() {
    with_node(async |node| {
        let url = format!("http://{}/", closed_address());
        let job = job(node, &url, |draft, _| draft.misfire_threshold_seconds = 5).await;
        assert_eq!(fired(node, &job).await.state, RunState::Claimed);
        // The service is left alone for longer than that.
        node.advance(3_000).await;
        node.advance(3_000).await;
        let run = run_of(node, &job).await;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        let message = run.message();
        assert!(message.contains("could not be reached lately: Connection refused"), "{message}");
    });
}

// covers: 001-44
#[test]
fn each_part_of_a_fire_is_a_request_of_its_own() {
    with_node(async |node| {
        let service = Service::start(answer(200, "", "done")).await;
        let job = job(node, &format!("{}?part={{{{part}}}}-{{{{parts}}}}", service.url), |draft, _| {
            draft.parts = carillon_scheduler::Parts::Count(3);
        })
        .await;
        node.fire(&job).await;
        node.round().await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded; 3]);
        let mut parts: Vec<String> =
            service.received().iter().map(|it| it.lines().next().unwrap().to_owned()).collect();
        parts.sort();
        assert_eq!(parts, [0, 1, 2].map(|part| format!("POST /hook?part={part}-3 HTTP/1.1")));
    });
}
