//! The executor API over HTTP: who is answered, and what may be sent.

use carillon_accounts::secret::random_secret;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::client::{Api, api};
use crate::services::{Kind, TestDatabase, on};

const TOKEN: &str = "XXL-JOB-ACCESS-TOKEN";
const WRONG: &str = "The access token is wrong.";

const PATHS: [&str; 6] = [
    "/api/registry",
    "/api/registryRemove",
    "/api/callback",
    "/xxl-job-admin/api/registry",
    "/xxl-job-admin/api/registryRemove",
    "/xxl-job-admin/api/callback",
];

fn registration(app: &str) -> Value {
    json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": "http://127.0.0.1:9999/"})
}

fn body_of(path: &str) -> Value {
    match path.ends_with("callback") {
        true => json!([{"logId": 1, "logDateTim": 1, "handleCode": 200, "handleMsg": null}]),
        false => registration("billing"),
    }
}

/// The answer's HTTP status, code and text.
async fn told(api: &Api, path: &str, token: Option<&str>, body: &Value) -> (u16, i64, String) {
    let mut request = api.at(Method::POST, path).json(body);
    if let Some(token) = token {
        request = request.header(TOKEN, token);
    }
    let answer = api.send(request).await;
    let text = answer.json["msg"].as_str().unwrap_or_default().to_owned();
    let code = answer.json["code"].as_i64().unwrap();
    (answer.status.as_u16(), code, text)
}

async fn registered(api: &Api) -> Vec<String> {
    let all = api.store.apps().executors().await.unwrap();
    all.into_iter().map(|executor| executor.app).collect()
}

// covers: S16
#[test]
fn nothing_of_the_executor_api_is_done_without_the_right_token() {
    api(async |api| {
        let right = api.access_token.as_str();
        let (shorter, longer) = (&right[1..], format!("{right}x"));
        let blank = " ".to_owned();
        for path in PATHS {
            for wrong in [None, Some(""), Some(&*blank), Some(shorter), Some(&*longer), Some(&*api.token)] {
                let said = told(api, path, wrong, &body_of(path)).await;
                assert_eq!(said, (200, 500, WRONG.to_owned()), "{path} {wrong:?}");
            }
        }
        assert_eq!(registered(api).await, Vec::<String>::new());

        // With the token they are carried out; an empty list of results, because no service of this node writes any.
        for path in PATHS.iter().filter(|path| !path.ends_with("registryRemove")) {
            let body = if path.ends_with("callback") { json!([]) } else { body_of(path) };
            let said = told(api, path, Some(right), &body).await;
            assert_eq!(said, (200, 200, String::new()), "{path}");
        }
        assert_eq!(registered(api).await, ["billing"]);
        let remove = told(api, "/api/registryRemove", None, &registration("billing")).await;
        assert_eq!(remove.1, 500);
        assert_eq!(registered(api).await, ["billing"], "a wrong token removes nobody");
        let remove = told(api, "/api/registryRemove", Some(right), &registration("billing")).await;
        assert_eq!(remove.1, 200);
    });
}

// covers: V1
#[test]
fn a_compressed_body_is_refused_in_the_words_of_each_api() {
    api(async |api| {
        let right = api.access_token.clone();
        for path in PATHS {
            let gzip = api.at(Method::POST, path).header("content-encoding", "gzip");
            let answer = api.send(gzip.header(TOKEN, &right).body("x")).await;
            assert_eq!((answer.status.as_u16(), &answer.json["code"]), (200, &json!(500)));
            let text = answer.json["msg"].as_str().unwrap();
            assert!(text.contains("Content-Encoding"), "{path}: {text}");
        }
        for path in ["/api/v1/jobs", "/login", "/setup", "/metrics", "/nowhere"] {
            for encodings in [&["deflate"][..], &["identity", "gzip"]] {
                let mut request = api.at(Method::POST, path).bearer_auth(&api.token);
                for encoding in encodings {
                    request = request.header("content-encoding", *encoding);
                }
                let answer = api.send(request.body("x")).await;
                assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path}");
            }
        }
        let plain = api.at(Method::POST, "/api/registry").header("content-encoding", "Identity");
        let answer = api.send(plain.header(TOKEN, &right).json(&registration("billing"))).await;
        assert_eq!(answer.json["code"], 200);
    });
}

#[test]
fn a_body_that_is_too_long_is_refused_and_not_repeated() {
    api(async |api| {
        let right = Some(api.access_token.as_str());
        let long = json!({"x": "y".repeat(17 << 10)});
        let said = told(api, "/api/registry", right, &long).await;
        assert_eq!(said, (200, 500, "the body is longer than this path takes".to_owned()));
        let form = format!("name=admin&password={}", "x".repeat(17 << 10));
        let request = api.at(Method::POST, "/setup").body(form);
        let answer = api.send(request.header("sec-fetch-site", "same-origin")).await;
        assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    });
}

// covers: S22
#[test]
fn bodies_that_nest_too_deep_are_refused_by_each_api() {
    api(async |api| {
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        for path in PATHS {
            let request = api.at(Method::POST, path).header(TOKEN, &api.access_token);
            let answer = api.send(request.body(deep.clone())).await;
            assert_eq!((answer.status.as_u16(), &answer.json["code"]), (200, &json!(500)), "{path}");
        }
        for body in [deep.clone(), format!(r#"{{"app":"billing","params":{deep}}}"#)] {
            for path in ["/jobs", "/jobs:batch", "/apps"] {
                let answer = api.post_text(path, body.clone()).await;
                assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
            }
        }
        assert!(api.get("/jobs").await.column("id").is_empty());
    });
}

// covers: V1, F17, S22
#[test]
fn bodies_that_would_take_more_memory_than_there_is_are_refused_until_others_have_ended() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let token = random_secret();
        let mut config = db.config();
        config.api_token = Some(token.clone());
        config.body_memory = 100_000;
        let api = &Api::with(db, config, token).await;
        let held = async || -> i64 { api.metric("carillon_request_body_bytes").await as i64 };
        // One request stops in the middle of its body.
        let mut slow = tokio::net::TcpStream::connect(api.address()).await.unwrap();
        let head = format!(
            "POST /api/v1/jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 90001\r\n\r\n",
            api.token
        );
        slow.write_all(head.as_bytes()).await.unwrap();
        slow.write_all(&[b' '; 90_000]).await.unwrap();
        while held().await < 90_000 {
            tokio::task::yield_now().await;
        }
        let large = json!({"name": "x".repeat(20_000)});
        let busy = api.post("/apps", large.clone()).await;
        assert!(busy.error().starts_with("503 unavailable "), "{}", busy.error());
        assert_eq!(busy.headers["retry-after"], "1");
        let callback = api.at(Method::POST, "/api/callback").header(TOKEN, &api.access_token);
        let long = json!([{"logId": 1, "handleCode": 200, "handleMsg": "x".repeat(20_000)}]);
        assert!(callback.json(&long).send().await.is_err(), "cut, so that it is repeated");

        slow.write_all(b" ").await.unwrap();
        let mut answer = vec![0; 12];
        slow.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, b"HTTP/1.1 400");
        while held().await > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(api.post("/apps", large).await.status, StatusCode::BAD_REQUEST);
    });
}

// covers: V1, F17, S22
#[test]
fn forms_of_strangers_have_a_part_of_the_memory_of_their_own() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let token = random_secret();
        let mut config = db.config();
        config.api_token = Some(token.clone());
        config.admin_password = Some(random_secret());
        config.body_memory = 100_000;
        let api = &Api::with(db, config, token).await;
        let held = async || -> i64 { api.metric("carillon_request_body_bytes").await as i64 };
        // Two strangers stop in the middle of their forms.
        let mut slow = vec![];
        for _ in 0..2 {
            let mut stream = tokio::net::TcpStream::connect(api.address()).await.unwrap();
            let head = "POST /jobs HTTP/1.1\r\nhost: x\r\nsec-fetch-site: same-origin\r\ncontent-length: 12001\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&[b'x'; 12_000]).await.unwrap();
            slow.push(stream);
        }
        while held().await < 24_000 {
            tokio::task::yield_now().await;
        }
        let stranger = async || {
            let form = api.at(Method::POST, "/login").header("sec-fetch-site", "same-origin");
            api.send(form.body("x".repeat(2_000))).await.status
        };
        assert_eq!(stranger().await, StatusCode::SERVICE_UNAVAILABLE, "their part is a quarter");
        // Executors and people have the rest.
        let large = api.post("/apps", json!({"name": "x".repeat(60_000)})).await;
        assert_eq!(large.status, StatusCode::BAD_REQUEST, "{}", large.error());
        let no_results = "x".repeat(60_000);
        let callback = api.at(Method::POST, "/api/callback").header(TOKEN, &api.access_token).body(no_results);
        assert_eq!(api.send(callback).await.json["code"], 500, "it was read");
        drop(slow);
        while stranger().await == StatusCode::SERVICE_UNAVAILABLE {
            tokio::task::yield_now().await;
        }
    });
}

// covers: V9, V12.1, F24
#[test]
fn a_name_that_no_database_stores_is_refused_and_is_no_outage() {
    for kind in [Kind::Sqlite, Kind::Postgres, Kind::Mariadb] {
        on(kind, async |db: &TestDatabase| {
            let api = &Api::start(db).await;
            let right = Some(api.access_token.as_str());
            for (name, text) in [
                ("bill\0ing", "registryKey (the app name) has control characters"),
                ("bill\ning", "registryKey (the app name) has control characters"),
                (&*"x".repeat(65), "registryKey (the app name) is longer than 64 characters"),
            ] {
                for path in ["/api/registry", "/api/registryRemove"] {
                    let said = told(api, path, right, &registration(name)).await;
                    assert_eq!(said, (200, 500, text.to_owned()), "{path} {name:?}");
                }
            }
            for name in ["b", "Abrechnung \u{e4}\u{4f60}", &*"\u{4f60}".repeat(64)] {
                let said = told(api, "/api/registry", right, &registration(name)).await;
                assert_eq!(said.1, 500, "{kind:?} {name:?} {}", said.2);
                assert!(said.2.starts_with("registryKey (the app name): "), "{}", said.2);
            }
            assert_eq!(registered(api).await.len(), 0, "no app can have these names");
        });
    }
}

// covers: A4
#[test]
fn a_wrong_token_is_counted() {
    api(async |api| {
        let count = async || api.metric("carillon_wrong_access_tokens_total").await;
        assert_eq!(count().await, 0.0);
        told(api, "/api/registry", Some("wrong"), &registration("billing")).await;
        told(api, "/api/callback", None, &json!([])).await;
        assert_eq!(count().await, 2.0);
    });
}
