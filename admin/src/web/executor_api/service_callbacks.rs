//! Callbacks of services: the end of a run of an HTTP job whose service has answered 202. The path proves itself, so no token is needed.

use actix_web::http::Method;
use actix_web::web;
use actix_web::web::{Json, Path, Payload};
use carillon_scheduler::{Outcome, RunEvent, RunReason};
use carillon_store::db::sql::text::printable;
use carillon_store::run::settle::finding::RunReport;
use serde::Deserialize;
use serde_json::{Value, json};

use super::callback::STORE_WITHIN;
use crate::web::access::{Access, Route, guarded};
use crate::web::api::{Error, ROOT};
use crate::web::state::Shared;

/// The result, and some more for its escapes.
const BODY_LIMIT: usize = 160 << 10;
/// Bytes of the result that a run keeps.
const RESULT_BYTES: usize = 65_536;
/// The code of a success.
const SUCCESS: i32 = 200;

/// What a service reports.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `code` and `result`")]
struct Report {
    /// 200: the run has succeeded; any other: it has failed.
    #[serde(default = "success")]
    code: i32,
    /// A text is kept as it is, any other value as its JSON.
    #[serde(default)]
    result: Option<Value>,
}

const fn success() -> i32 {
    SUCCESS
}

pub fn configure(config: &mut web::ServiceConfig) {
    for route in all() {
        let path = route.path.clone();
        let handler = guarded(route, |error| Error::from(error).into());
        config.route(&path, handler);
    }
}

pub fn all() -> Vec<Route> {
    vec![Route::new(Method::POST, format!("{ROOT}/callbacks/{{name}}"), Access::Open, callback)]
}

/// The end counts once: what is reported about a run that has ended changes nothing, and is answered with the state of the run.
async fn callback(state: Shared, name: Path<String>, payload: Payload) -> Result<Json<Value>, Error> {
    // Before the body is read: memory is not spent on clients that were given no URL.
    let run_id = state.engine.cx.callbacks.run_of(&name);
    let run_id = run_id.ok_or_else(|| Error::not_found("there is no such callback".to_owned()))?;
    let mut report = read(payload).await?;
    let unstored = || Error::unavailable("the result could not be stored; send it again".to_owned());
    // Before it is cut: a secret of which a part is left would not be found.
    if let Some(text) = report.text() {
        report.result = Some(state.engine.masked(run_id, &text).await.map_err(|_| unstored())?.into());
    }
    let stored =
        actix_web::rt::time::timeout(STORE_WITHIN, state.engine.report(vec![report.into_finding(run_id)])).await;
    if !matches!(stored, Ok(Ok(()))) {
        return Err(unstored());
    }
    let run = state.store.runs().get(run_id).await.map_err(Error::from)?;
    let run = run.ok_or_else(|| Error::not_found("the run is not kept any more".to_owned()))?;
    Ok(Json(json!({"run": run.id, "state": run.state.as_str()})))
}

async fn read(payload: Payload) -> Result<Report, Error> {
    let wrong = |message: String| Error::field("body", message);
    let body = match payload.to_bytes_limited(BODY_LIMIT).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => return Err(wrong(format!("cannot be read: {error}"))),
        Err(_) => return Err(wrong(format!("has more than {BODY_LIMIT} bytes"))),
    };
    if body.is_empty() {
        return Ok(Report { code: SUCCESS, result: None });
    }
    serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()))
}

impl Report {
    fn text(&self) -> Option<String> {
        match &self.result {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        }
    }

    fn into_finding(self, run_id: i64) -> RunReport {
        let (outcome, reason) = match self.code {
            SUCCESS => (Outcome::Succeeded, None),
            _ => (Outcome::Failed, Some(RunReason::Result)),
        };
        let text = self.text().map(|text| printable(&text[..text.floor_char_boundary(RESULT_BYTES)]));
        RunReport { code: Some(self.code), ..RunReport::found(run_id, RunEvent::Reported(outcome), reason, text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn a_result_is_a_text_or_json() {
        let read = |body: &str| serde_json::from_str::<Report>(body).map(|report| report.into_finding(7));
        let text = |body: &str| read(body).unwrap().message;
        assert_eq!(text(r#"{"code": 200, "result": "done"}"#).as_deref(), Some("done"));
        assert_eq!(text(r#"{"result": {"rows": 7}}"#).as_deref(), Some(r#"{"rows":7}"#));
        assert_eq!(text("{}"), None);
        let failed = read(r#"{"code": 500, "result": "no"}"#).unwrap();
        assert_eq!((failed.event, failed.code), (RunEvent::Reported(Outcome::Failed), Some(500)));
        assert!(read(r#"{"code": "200"}"#).is_err() && read(r#"{"state": "done"}"#).is_err());
        let long = text(&json!({"result": "x".repeat(70_000)}).to_string()).unwrap();
        assert!(long.len() < 70_000, "{} bytes", long.len());
    }
}
