//! Two small reverse proxies around an executor. Inwards: each run of `/run` and `/runs` is recorded before it is passed on, its
//! answer before it is passed back. Outwards: an acknowledged callback is.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use serde_json::Value;

use super::Arguments;
use super::batch_fault::{BatchFault, halve};
use super::loops::RENEWAL_CUT;
use crate::record::event::EventLog;
use crate::record::{Event, What};

/// Bodies of callbacks are the largest.
const MAX_BODY: usize = 16 << 20;
/// Longer than any limit of the two sides: the tap must not be what gives up first.
const PATIENCE: Duration = Duration::from_secs(60);

struct Tap {
    events: Arc<EventLog>,
    http: reqwest::Client,
    /// Inwards: the executor alone. Outwards: the admins, chosen by the first part of the path.
    targets: Vec<String>,
    inwards: bool,
    /// Where the suite arms a fault of the next batch, and cuts renewals of loops.
    faults: PathBuf,
}

/// Takes what admins send to the executor's address, and passes it on to `target`.
pub fn inbound(events: Arc<EventLog>, arguments: &Arguments, target: String) -> std::io::Result<SocketAddr> {
    serve(events, arguments.listen, vec![target], true, arguments.faults.clone())
}

/// Takes what the executor sends, and passes it on to the admin that the path begins with.
pub fn outbound(events: Arc<EventLog>, arguments: &Arguments) -> std::io::Result<SocketAddr> {
    serve(events, ([127, 0, 0, 1], 0).into(), arguments.admins.clone(), false, arguments.faults.clone())
}

fn serve(
    events: Arc<EventLog>,
    listen: SocketAddr,
    targets: Vec<String>,
    inwards: bool,
    faults: PathBuf,
) -> std::io::Result<SocketAddr> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder()
        .no_proxy()
        .timeout(PATIENCE)
        .pool_idle_timeout(Duration::from_secs(2))
        .build()
        .map_err(std::io::Error::other)?;
    let tap = web::Data::new(Tap { events, http, targets, inwards, faults });
    let server = HttpServer::new(move || {
        App::new().app_data(tap.clone()).app_data(web::PayloadConfig::new(MAX_BODY)).default_service(web::to(pass))
    })
    .workers(1)
    .disable_signals()
    .shutdown_timeout(0)
    .bind(listen)?;
    let address = server.addrs()[0];
    tokio::spawn(server.run());
    Ok(address)
}

async fn pass(request: HttpRequest, body: web::Bytes, tap: web::Data<Tap>) -> HttpResponse {
    let Some((url, path)) = tap.target(request.path()) else {
        return HttpResponse::NotFound().finish();
    };
    if tap.is_cut(&path) {
        return cut(&"the renewal of loops");
    }
    let fault = tap.batch_fault(&path);
    let body = if fault.is_some() { tap.halve(body) } else { body };
    let runs = tap.received(&request, &path, &body);
    let mut call = tap.http.post(url).body(body.clone());
    for (name, value) in request.headers() {
        if !matches!(name.as_str(), "host" | "content-length" | "connection" | "transfer-encoding") {
            call = call.header(name.as_str(), value.as_bytes());
        }
    }
    let answer = match call.send().await {
        Ok(answer) => answer,
        // As the executor's absence would look: the connection ends without an answer.
        Err(error) => return cut(&error),
    };
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = answer.headers().clone();
    let text = match answer.bytes().await {
        Ok(text) => text,
        Err(error) => return cut(&error),
    };
    let state = headers.get("carillon-run-state");
    let state = state.and_then(|value| value.to_str().ok()).unwrap_or("");
    match fault {
        Some(BatchFault::ExecutorKilled) => std::process::abort(),
        Some(BatchFault::AnswerCut) => return cut(&"the answer to half of a batch"),
        None => tap.answered(runs, &path, &body, &text, state),
    }
    let mut response = HttpResponse::build(status);
    for (name, value) in &headers {
        if !matches!(name.as_str(), "content-length" | "connection" | "transfer-encoding") {
            response.insert_header((name.as_str(), value.as_bytes()));
        }
    }
    response.body(text)
}

/// Actix cannot cut a connection from a handler; 502 from here means what a cut means on both sides: no verdict.
fn cut(error: &dyn std::fmt::Display) -> HttpResponse {
    HttpResponse::BadGateway().insert_header(("connection", "close")).body(error.to_string())
}

impl Tap {
    /// The address to pass on to, and the path without the admin's number.
    fn target(&self, path: &str) -> Option<(String, String)> {
        if self.inwards {
            let base = self.targets[0].trim_end_matches('/');
            return Some((format!("{base}{path}"), path.to_owned()));
        }
        let (index, rest) = path.strip_prefix('/')?.split_once('/')?;
        let base = self.targets.get(index.parse::<usize>().ok()?)?;
        let base = base.trim_end_matches('/');
        Some((format!("{base}/{rest}"), format!("/{rest}")))
    }

    fn batch_fault(&self, path: &str) -> Option<BatchFault> {
        (self.inwards && path == "/runs").then(|| BatchFault::take(&self.faults))?
    }

    /// Whether it is a renewal of loops, and none leaves the executor now.
    fn is_cut(&self, path: &str) -> bool {
        !self.inwards && path == "/api/loops" && self.faults.join(RENEWAL_CUT).exists()
    }

    /// The half of a batch that is passed on. All of its runs are recorded as cut: their sender gets no answer.
    fn halve(&self, body: web::Bytes) -> web::Bytes {
        let Some((half, rest)) = halve(&body) else {
            return body;
        };
        let cut = |state: &str, run: &Value| {
            self.events.write(Event { what: What::Cut, state: state.to_owned(), ..batched(run) });
        };
        let passed: Value = serde_json::from_slice(&half).unwrap_or_default();
        passed["runs"].as_array().into_iter().flatten().for_each(|run| cut("passed on", run));
        rest.iter().for_each(|run| cut("kept back", run));
        half.into()
    }

    /// The runs of a request, which are recorded.
    fn received(&self, request: &HttpRequest, path: &str, body: &[u8]) -> Vec<Event> {
        if !self.inwards {
            return vec![];
        }
        let header = |name: &str| {
            let value = request.headers().get(name);
            value.and_then(|value| value.to_str().ok()).unwrap_or("")
        };
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let runs: Vec<Event> = match path {
            "/run" => vec![Event {
                key: header("carillon-fire-key").to_owned(),
                attempt: header("carillon-attempt").parse().unwrap_or_default(),
                scheduled_at: header("carillon-scheduled-at").parse().unwrap_or_default(),
                ..received(&body)
            }],
            "/runs" => body["runs"].as_array().into_iter().flatten().map(batched).collect(),
            _ => vec![],
        };
        runs.iter().for_each(|run| self.events.write(run.clone()));
        runs
    }

    fn answered(&self, runs: Vec<Event>, path: &str, asked: &[u8], answer: &[u8], state: &str) {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let code = answer["code"].as_i64().unwrap_or_default();
        for run in runs {
            let answered = match path {
                "/runs" if code == 200 => answer_of(&answer, run.run),
                _ => Some((code, state.to_owned())),
            };
            if let Some((code, state)) = answered {
                self.events.write(Event { what: What::Answer, code, state, ..run });
            }
        }
        if self.inwards || code != 200 {
            return;
        }
        if path.ends_with("/registryRemove") {
            self.events.write(Event { what: What::Deregistered, ..Event::default() });
        }
        if path.ends_with("/map/results") {
            self.items_acked(asked);
        }
        if path.ends_with("/callback") {
            let results: Vec<Value> = serde_json::from_slice(asked).unwrap_or_default();
            for result in results {
                self.events.write(Event {
                    what: What::Acked,
                    run: result["logId"].as_i64().unwrap_or_default(),
                    code: result["handleCode"].as_i64().unwrap_or_default(),
                    ..Event::default()
                });
            }
        }
    }
}

impl Tap {
    /// Outcomes of items that an admin has taken.
    fn items_acked(&self, report: &[u8]) {
        let report: Value = serde_json::from_slice(report).unwrap_or_default();
        for result in report["results"].as_array().into_iter().flatten() {
            self.events.write(Event {
                what: What::ItemAcked,
                run: report["logId"].as_i64().unwrap_or_default(),
                item: result["item"].as_i64().unwrap_or_default(),
                code: result["code"].as_i64().unwrap_or_default(),
                ..Event::default()
            });
        }
    }
}

/// A run as `/run` carries it.
fn received(run: &Value) -> Event {
    Event {
        what: What::Receive,
        run: run["logId"].as_i64().unwrap_or_default(),
        job: run["jobId"].as_i64().unwrap_or_default(),
        due_at: run["logDateTime"].as_i64().unwrap_or_default(),
        ..Event::default()
    }
}

/// A run of a batch.
fn batched(item: &Value) -> Event {
    Event {
        key: item["fireKey"].as_str().unwrap_or_default().to_owned(),
        attempt: item["attempt"].as_i64().unwrap_or_default(),
        scheduled_at: item["scheduledAt"].as_i64().unwrap_or_default(),
        ..received(&item["run"])
    }
}

/// The code and the state that a batch's answer has for a run.
fn answer_of(answer: &Value, run: i64) -> Option<(i64, String)> {
    let mut answers = answer["content"].as_array()?.iter();
    let found = answers.find(|it| it["logId"].as_i64() == Some(run))?;
    Some((found["code"].as_i64()?, found["runState"].as_str().unwrap_or_default().to_owned()))
}
