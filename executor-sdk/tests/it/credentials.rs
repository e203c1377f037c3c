//! How admin and executor show each other the access token: two at a time, and signatures in place of them.

use carillon_protocol::{SIGNED_FOR_ADMIN, Signature, SignedRequest, SigningKey, WRONG_TOKEN, headers, join_url};
use carillon_testkit::{Call, Reply, StubAdmin, now_ms};
use serde_json::Value;
use tempfile::TempDir;

use crate::worker::{Worker, new_token, run};

/// A signed request to the worker, as the admin makes it.
#[derive(Clone)]
struct Signed {
    path: &'static str,
    body: Vec<u8>,
    headers: Vec<(&'static str, String)>,
    signature: String,
}

impl Signed {
    fn new(worker: &Worker, path: &'static str, body: &Value) -> Self {
        Self::at(&worker.token, worker.handle.address(), path, body, now_ms())
    }

    fn at(token: &str, receiver: &str, path: &'static str, body: &Value, at: i64) -> Self {
        let headers = vec![(headers::APP, "tests".to_owned()), (headers::ATTEMPT, "1".to_owned())];
        let body = serde_json::to_vec(body).unwrap();
        let all = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        let request = SignedRequest { receiver, path, headers: all };
        let signature = SigningKey::new(token).sign(request, &body, at, rand::random());
        Self { path, body, headers, signature }
    }

    /// The message of the answer; empty: it was accepted.
    async fn send(&self, worker: &Worker) -> String {
        let call = reqwest::Client::new().post(join_url(worker.handle.address(), self.path));
        let call = self.headers.iter().fold(call, |call, (name, value)| call.header(*name, value));
        let call = call.header(headers::SIGNATURE, &self.signature).body(self.body.clone());
        let answer: Value = call.send().await.unwrap().json().await.unwrap();
        match answer["code"].as_i64() {
            Some(200) => String::new(),
            _ => answer["msg"].as_str().unwrap().to_owned(),
        }
    }
}

fn json<T: serde::Serialize>(body: T) -> Value {
    serde_json::to_value(body).unwrap()
}

async fn signed_worker(admin: &StubAdmin, data: &TempDir) -> Worker {
    Worker::with(admin, data.path(), &new_token(), |builder| builder.signed()).await
}

// covers: S25
#[tokio::test(flavor = "multi_thread")]
async fn a_signing_executor_sends_no_token() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = signed_worker(&admin, &data).await;
    assert_eq!(Signed::new(&worker, "/run", &json(run(7, "ok"))).send(&worker).await, "");
    admin.result(7).await;
    let calls = admin.calls();
    assert!(calls.iter().any(|call| call.path == "/api/callback"));
    let key = SigningKey::new(&worker.token);
    for call in &calls {
        assert_eq!(call.header(headers::TOKEN), None, "{}", call.path);
        assert_eq!(call.header(headers::CAPABILITIES), Some("idem,batch,loop,signed"));
        let signature = Signature::parse(call.header(headers::SIGNATURE).unwrap().as_bytes()).unwrap();
        let names = [headers::APP, headers::BOOT_ID, headers::JOURNAL_ID, headers::CAPABILITIES];
        let all = names.iter().map(|name| (*name, call.header(name).unwrap().as_bytes()));
        let request = SignedRequest { receiver: SIGNED_FOR_ADMIN, path: &call.path, headers: all };
        assert_eq!(signature.check(&key, request, now_ms()), Ok(()), "{}", call.path);
        assert_eq!(signature.check_body(call.body.as_bytes()), Ok(()));
    }
}

// covers: S25
#[tokio::test(flavor = "multi_thread")]
async fn a_signing_executor_takes_nothing_that_was_recorded_changed_or_sent_with_the_token() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = signed_worker(&admin, &data).await;
    let with_token = worker.run(&run(1, "ok")).await;
    assert_eq!((with_token.code(), with_token.msg()), (500, WRONG_TOKEN), "it has announced signatures");

    let beat = Signed::new(&worker, "/beat", &json(()));
    assert_eq!(beat.send(&worker).await, "");
    assert_eq!(beat.send(&worker).await, "a request with this signature was here before");

    let good = Signed::new(&worker, "/run", &json(run(1, "ok")));
    let other_body = Signed { body: serde_json::to_vec(&run(2, "ok")).unwrap(), ..good.clone() };
    assert_eq!(other_body.send(&worker).await, "the body is not the one that was signed");
    let other_header = vec![(headers::APP, "tests".to_owned()), (headers::ATTEMPT, "2".to_owned())];
    let with_phase = [good.headers.clone(), vec![(headers::PHASE, headers::PHASE_ITEMS.to_owned())]].concat();
    for changed in [
        Signed { headers: other_header, ..good.clone() },
        Signed { headers: with_phase, ..good.clone() },
        Signed { path: "/trigger", ..good.clone() },
        Signed { signature: good.signature.replace(";", ";0"), ..good.clone() },
        Signed::at(&new_token(), worker.handle.address(), "/run", &json(run(1, "ok")), now_ms()),
        Signed::at(&worker.token, "http://10.0.0.9:1/", "/run", &json(run(1, "ok")), now_ms()),
    ] {
        let message = changed.send(&worker).await;
        assert!([WRONG_TOKEN, "Carillon-Signature cannot be read"].contains(&message.as_str()), "{message}");
    }
    for minutes in [-2, 2] {
        let at = now_ms() + minutes * 60_000;
        let message =
            Signed::at(&worker.token, worker.handle.address(), "/run", &json(run(1, "ok")), at).send(&worker).await;
        assert!(message.ends_with("at most 60 s are allowed"), "{message}");
    }
    assert!(worker.is_idle_by_signature().await && admin.results().is_empty(), "nothing was run");
}

impl Worker {
    async fn is_idle_by_signature(&self) -> bool {
        Signed::new(self, "/idleBeat", &serde_json::json!({"jobId": 1})).send(self).await.is_empty()
    }
}

// covers: S17
#[tokio::test(flavor = "multi_thread")]
async fn while_tokens_are_changed_either_counts() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let old = new_token();
    let mut worker = Worker::with(&admin, data.path(), &new_token(), |builder| builder.second_token(&old)).await;
    let new = worker.token.clone();
    for (run_id, token, code) in [(1, &new, 200), (2, &old, 200), (3, &new_token(), 500)] {
        worker.token.clone_from(token);
        assert_eq!(worker.run(&run(run_id, "ok")).await.code(), code);
    }
    admin.result(2).await;
    assert!(admin.calls().iter().all(|call| call.header(headers::TOKEN) == Some(&new)), "the preferred one");

    // An admin that knows neither of them yet is asked with both.
    admin.reply(Reply::refused(WRONG_TOKEN));
    worker.token.clone_from(&old);
    worker.run(&run(4, "ok")).await;
    let of_four = |call: &Call| call.path == "/api/callback" && call.body.contains("\"logId\":4");
    let calls = admin.wait_for("both tokens", |calls| calls.iter().filter(|call| of_four(call)).count() >= 2).await;
    let tokens: Vec<_> =
        calls.iter().filter(|call| of_four(call)).filter_map(|call| call.header(headers::TOKEN)).collect();
    assert_eq!(tokens[..2], [&new, &old]);
    admin.reply(Reply::Accept);
    admin.wait_for("the result", |calls| calls.iter().filter(|call| of_four(call)).count() >= 3).await;
}

// covers: W26
#[tokio::test(flavor = "multi_thread")]
async fn what_was_signed_before_an_executor_began_counts_for_nothing() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = signed_worker(&admin, &data).await;
    let (token, address) = (worker.token.clone(), worker.handle.address().to_owned());
    let at = |at| Signed::at(&token, &address, "/beat", &json(Value::Null), at);
    assert_eq!(at(now_ms()).send(&worker).await, "");
    let said = at(now_ms() - 30_000).send(&worker).await;
    assert!(said.contains("before this process began"), "{said}");
}
