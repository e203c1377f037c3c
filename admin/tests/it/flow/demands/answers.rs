//! Demands 12 to 14: what each answer to an executor looks like.

use serde_json::Value;

use super::raw::{Message, registration, send, token};
use crate::flow::node::{Node, on_node};

/// What the strictest clients check: aiohttp the type, Flask and FastAPI the members and that there is no redirect, xxljob-sdk-rs `content`.
fn check(asked: &str, answer: &Message, is_success: bool) {
    let what = format!("{asked}: {} {:?} {}", answer.start, answer.head, answer.body);
    assert_eq!(answer.start, "HTTP/1.1 200 OK", "{what}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{what}");
    assert_eq!((answer.header("location"), answer.header("content-encoding")), (None, None), "{what}");
    let json = answer.json();
    let members = json.as_object().unwrap_or_else(|| panic!("no object: {what}"));
    let (code, text) = (members["code"].as_i64(), &members["msg"]);
    assert_eq!(code, Some(if is_success { 200 } else { 500 }), "{what}");
    assert!(if is_success { text.is_null() } else { text.as_str().is_some_and(|text| !text.is_empty()) }, "{what}");
    assert!(matches!(members["content"], Value::Null | Value::String(_)), "{what}");
}

struct Asked {
    request: String,
    body: String,
    has_token: bool,
    is_success: bool,
}

fn asked(request: &str, body: &str, is_success: bool) -> Asked {
    Asked { request: request.to_owned(), body: body.to_owned(), has_token: true, is_success }
}

/// Each path with bodies that are carried out and bodies that are not.
fn requests() -> Vec<Asked> {
    let good = registration("http://127.0.0.1:9/");
    let mut all = vec![];
    for prefix in ["/api", "/xxl-job-admin/api"] {
        let post = |name: &str| format!("POST {prefix}/{name}");
        for name in ["registry", "registryRemove"] {
            all.push(asked(&post(name), &good, true));
            for bad in ["", "null", "[]", "{", "{}", "text", &registration("no address at all")] {
                all.push(asked(&post(name), bad, false));
            }
            all.push(asked(&post(name), &"x".repeat(17 << 10), false));
        }
        all.push(asked(&post("callback"), "[]", true));
        // A result that cannot be used holds up no other.
        all.push(asked(&post("callback"), "[{}]", true));
        for bad in ["", "null", "7", "{\"callbackList\":3}", "text"] {
            all.push(asked(&post("callback"), bad, false));
        }
        all.push(asked(&format!("GET {prefix}/registry"), "", false));
        all.push(asked(&post("registr"), &good, false));
    }
    all.push(asked("POST /registry", &good, false));
    all
}

#[test]
fn each_answer_is_a_json_object_that_the_strictest_clients_take() {
    on_node(async |node| {
        let all = requests();
        let without_token = requests().into_iter().filter(|asked| asked.request.starts_with("POST"));
        let without_token = without_token.map(|asked| Asked { has_token: false, is_success: false, ..asked });
        for Asked { request, body, has_token, is_success } in all.into_iter().chain(without_token) {
            // Python's clients and Go take compressed answers; these are too short for it.
            let headers = if has_token { vec![token(node)] } else { vec![] };
            let headers: Vec<&str> = headers.iter().map(String::as_str).chain(["Accept-Encoding: gzip"]).collect();
            let answer = send(node, &request, &headers, &body).await.expect("an answer");
            check(&format!("{request} {body:.40}"), &answer, is_success);
            assert!(!is_success || answer.is_success(), "{request}: {}", answer.body);
        }
    });
}

async fn answer_to_token(node: &Node, token: &str) -> Message {
    let header = format!("XXL-JOB-ACCESS-TOKEN: {token}");
    send(node, "POST /xxl-job-admin/api/registry", &[&header], &registration("http://127.0.0.1:9/")).await.unwrap()
}

#[test]
fn a_wrong_token_is_answered_with_http_200_code_500_and_the_text_of_java() {
    on_node(async |node| {
        for wrong in ["", "wrong", &node.config.access_token[1..]] {
            let answer = answer_to_token(node, wrong).await;
            check("a wrong token", &answer, false);
            assert_eq!(answer.json()["msg"], "The access token is wrong.");
        }
        assert!(node.store.apps().executors().await.unwrap().is_empty());
    });
}
