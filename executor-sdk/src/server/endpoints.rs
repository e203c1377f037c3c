//! The endpoints of the xxl-job protocol.

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::{Payload, Server};
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use actix_web::web::{self, Bytes, Data, PayloadConfig};
use actix_web::{App, FromRequest, HttpRequest, HttpResponse, Route};
use carillon_listener::{Connection, ServeOptions, paced};
use carillon_protocol::{
    Answer, BatchAnswer, BatchRun, FAILURE, JobRef, LogRequest, LoopGrant, LoopRef, LoopStop, MAX_BATCH_RUNS,
    OTHER_JOURNAL, RunAnswer, RunBatch, RunRequest, SUCCESS, headers,
};
use futures_util::future::{LocalBoxFuture, join_all};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::{Notify, mpsc};

use super::admission::{Admission, Reply};
use super::request_check::RequestCheck;
use crate::job_log::JobLogs;
use crate::journal::{CompletionSink, Completions, Journal};
use crate::loops::Loops;
use crate::run::{Phase, RunMeta, wall_clock};

/// Bytes of a body of `/run`, as in Java; all others are small.
const MAX_RUN_BODY: usize = 5 << 20;
const MAX_BODY: usize = 16 << 10;
const KILLED: &str = "scheduling center kill job.";

/// What the endpoints use.
pub(crate) struct Endpoints {
    pub(crate) check: RequestCheck,
    pub(crate) boot_id: String,
    pub(crate) journal_id: String,
    pub(crate) admission: Admission,
    pub(crate) logs: JobLogs,
    pub(crate) loops: Arc<Loops>,
}

/// The HTTP server; it serves while the returned future is polled.
pub(crate) fn serve(
    listener: TcpListener,
    options: ServeOptions,
    endpoints: Arc<Endpoints>,
) -> std::io::Result<Server> {
    let endpoints = Data::from(endpoints);
    carillon_listener::serve(listener, options, move || {
        App::new()
            .app_data(endpoints.clone())
            .app_data(Data::new(completion_sink(endpoints.admission.journal.clone())))
            .app_data(PayloadConfig::new(MAX_BODY))
            .service(run_resource("/run", web::post().to(run)))
            .service(run_resource("/trigger", web::post().to(run)))
            .service(run_resource("/runs", web::post().to(run_batch)))
            .service(run_resource("/loop", web::post().to(start_loop)))
            .route("/loop/stop", web::post().to(stop_loop))
            .route("/loop/recent", web::post().to(recent_calls))
            .route("/beat", web::post().to(beat))
            .route("/idleBeat", web::post().to(idle_beat))
            .route("/kill", web::post().to(kill))
            .route("/log", web::post().to(read_log))
            .default_service(web::to(unknown))
    })
}

/// The sink of this server thread. Its tasks run on the same thread: one wakes the journal once for all requests that
/// were ready together, the other one distributes the completions.
fn completion_sink(journal: Journal) -> CompletionSink {
    let (completions, mut completed) = mpsc::unbounded_channel::<Completions>();
    let pushed = Arc::new(Notify::new());
    let notified = Arc::clone(&pushed);
    actix_web::rt::spawn(async move {
        loop {
            notified.notified().await;
            journal.wake();
        }
    });
    actix_web::rt::spawn(async move {
        while let Some(list) = completed.recv().await {
            for (request, is_written) in list {
                let _ = request.send(is_written);
            }
        }
    });
    CompletionSink { completions, pushed }
}

fn run_resource(path: &str, route: Route) -> actix_web::Resource {
    web::resource(path).app_data(PayloadConfig::new(MAX_RUN_BODY)).route(route).default_service(web::to(unknown))
}

/// The body of an admin's request; another one is refused before its body is read.
struct AuthenticatedBody(Bytes);

impl FromRequest for AuthenticatedBody {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let endpoints = request.app_data::<Data<Endpoints>>();
        let checked = endpoints.map_or(Err(String::new()), |all| all.check.check(request));
        let signature = match checked {
            Ok(signature) => signature,
            Err(problem) => return Box::pin(async { Err(refusal(problem)) }),
        };
        if is_encoded(request.headers()) {
            let text = "a body with a Content-Encoding is not taken; send it as it is";
            return Box::pin(async { Err(refusal(text.to_owned())) });
        }
        let connection = request.conn_data::<Connection>().cloned();
        if let Some(connection) = &connection {
            connection.set_known();
        }
        let paced = paced(payload.take(), connection, |_| Ok(()));
        let body = Bytes::from_request(request, &mut Payload::Stream { payload: Box::pin(paced) });
        Box::pin(async move {
            let problem = |error| refusal(format!("the request's body cannot be read: {error}"));
            let body = body.await.map_err(problem)?;
            let is_signed = signature.map_or(Ok(()), |signature| signature.check_body(&body));
            is_signed.map_err(|problem| refusal(problem.to_string()))?;
            Ok(Self(body))
        })
    }
}

/// Whether the body is compressed: actix-web inflates it before it applies the limit. No admin sends such bodies.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

impl AuthenticatedBody {
    fn parse<T: DeserializeOwned>(&self) -> Result<T, actix_web::Error> {
        serde_json::from_slice(&self.0).map_err(|error| refusal(format!("request error: {error}")))
    }
}

async fn run(
    request: HttpRequest,
    body: AuthenticatedBody,
    endpoints: Data<Endpoints>,
    sink: Data<CompletionSink>,
) -> Result<HttpResponse, actix_web::Error> {
    let meta = meta(request.headers()).map_err(refusal)?;
    let run: RunRequest = body.parse()?;
    let received_at = meta.received_at;
    let reply = match endpoints.is_for_another_journal(request.headers(), run.log_id) {
        true => Reply::OtherJournal,
        false => endpoints.admission.admit(run, meta, &sink).await,
    };
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, "application/json"))
        .insert_header((headers::BOOT_ID, endpoints.boot_id.as_str()));
    Ok(match reply {
        Reply::Accepted => response.insert_header((headers::RECEIVED_AT, received_at)).json(Answer::ok()),
        Reply::AlreadyHere(state) => response
            .insert_header((headers::RUN_STATE, state))
            .json(Answer::ok().with_msg(format!("already have it: {state}"))),
        Reply::Refused(reason) => response.json(Answer::fail(reason)),
        Reply::OtherJournal => response.json(Answer {
            code: OTHER_JOURNAL,
            ..Answer::fail("this executor keeps another journal and does not know the run")
        }),
    })
}

/// The journal writes the runs of a batch together, since all of them wait for it at once.
async fn run_batch(
    body: AuthenticatedBody,
    endpoints: Data<Endpoints>,
    sink: Data<CompletionSink>,
) -> Result<HttpResponse, actix_web::Error> {
    let batch: RunBatch = body.parse()?;
    if batch.runs.len() > MAX_BATCH_RUNS {
        return Err(refusal(format!("{} runs in one request; at most {MAX_BATCH_RUNS} are taken", batch.runs.len())));
    }
    let received_at = wall_clock::now_ms();
    let answers = batch.runs.into_iter().map(|item| endpoints.answer_one(item, received_at, &sink));
    let answer = BatchAnswer::new(join_all(answers).await);
    Ok(HttpResponse::Ok().insert_header((headers::BOOT_ID, endpoints.boot_id.as_str())).json(answer))
}

impl Endpoints {
    async fn answer_one(&self, item: BatchRun, received_at: i64, sink: &CompletionSink) -> RunAnswer {
        let log_id = item.run.log_id;
        let meta = RunMeta {
            fire_key: Some(item.fire_key),
            scheduled_at: Some(item.scheduled_at),
            attempt: item.attempt.max(1),
            not_after: Some(item.not_after),
            phase: item.phase,
            traceparent: item.traceparent,
            received_at,
        };
        let answer = |code, msg, run_state| RunAnswer { log_id, code, msg, run_state, received_at: None };
        match self.admission.admit(item.run, meta, sink).await {
            Reply::Accepted => RunAnswer { received_at: Some(received_at), ..answer(SUCCESS, None, None) },
            Reply::AlreadyHere(state) => answer(SUCCESS, None, Some(state.to_owned())),
            Reply::Refused(reason) => answer(FAILURE, Some(reason), None),
            Reply::OtherJournal => answer(OTHER_JOURNAL, None, None),
        }
    }

    /// Whether the run was sent to another journal before. It may have run there, so it must not start here, unless it is
    /// known here as well.
    fn is_for_another_journal(&self, from: &HeaderMap, log_id: i64) -> bool {
        let journal_id = from.get(headers::JOURNAL_ID);
        journal_id.is_some_and(|id| id.as_bytes() != self.journal_id.as_bytes())
            && self.admission.seen_runs.phase(log_id).is_none()
    }
}

async fn beat(_: AuthenticatedBody) -> HttpResponse {
    answer(Answer::ok())
}

async fn idle_beat(body: AuthenticatedBody, endpoints: Data<Endpoints>) -> Result<HttpResponse, actix_web::Error> {
    let job: JobRef = body.parse()?;
    Ok(answer(if endpoints.admission.lanes.is_idle(job.job_id) {
        Answer::ok()
    } else {
        Answer::fail("job thread is running or has trigger queue.")
    }))
}

async fn kill(
    request: HttpRequest,
    body: AuthenticatedBody,
    endpoints: Data<Endpoints>,
) -> Result<HttpResponse, actix_web::Error> {
    let job: JobRef = body.parse()?;
    let run_id = number(request.headers(), headers::RUN_ID).map_err(refusal)?;
    let lanes = &endpoints.admission.lanes;
    let found = match run_id {
        Some(run_id) => lanes.kill_run(job.job_id, run_id, KILLED),
        None => lanes.kill_job(job.job_id, KILLED),
    };
    Ok(answer(match (found, run_id) {
        (true, _) => Answer::ok(),
        (false, Some(_)) => Answer::ok().with_msg("the run is not here any more."),
        (false, None) => Answer::ok().with_msg("job thread already killed."),
    }))
}

async fn start_loop(body: AuthenticatedBody, endpoints: Data<Endpoints>) -> Result<HttpResponse, actix_web::Error> {
    let grant: LoopGrant = body.parse()?;
    Ok(answer(match endpoints.loops.start(grant) {
        Ok(()) => Answer::ok(),
        Err(reason) => Answer::fail(reason),
    }))
}

/// Confirms that the loop fires no more; its last report is the payload.
async fn stop_loop(body: AuthenticatedBody, endpoints: Data<Endpoints>) -> Result<HttpResponse, actix_web::Error> {
    let stop: LoopStop = body.parse()?;
    if stop.boot_id != endpoints.boot_id {
        return Ok(answer(Answer::fail("the loop is of another start of this executor")));
    }
    Ok(answer(match endpoints.loops.stop(stop.job_id, stop.epoch) {
        Some(report) => Answer::ok_with(json!(report)),
        None => Answer::ok().with_msg("the loop is not here any more."),
    }))
}

async fn recent_calls(body: AuthenticatedBody, endpoints: Data<Endpoints>) -> Result<HttpResponse, actix_web::Error> {
    let job: LoopRef = body.parse()?;
    Ok(answer(match endpoints.loops.history(job.job_id) {
        Some(history) => Answer::ok_with(json!(history)),
        None => Answer::fail("the loop is not here any more."),
    }))
}

async fn read_log(body: AuthenticatedBody, endpoints: Data<Endpoints>) -> Result<HttpResponse, actix_web::Error> {
    let request: LogRequest = body.parse()?;
    // Read before the file: otherwise lines written in between would be missing from a page marked as the end.
    let phase = endpoints.admission.seen_runs.phase(request.log_id);
    let open = matches!(phase, Some(Phase::Queued | Phase::Running));
    let logs = endpoints.logs.clone();
    let page = web::block(move || logs.page(request, !open)).await?;
    let mut response = HttpResponse::Ok();
    if let Some(phase) = &phase {
        response.insert_header((headers::RUN_STATE, phase.word()));
    }
    Ok(response.json(match page {
        Ok(Some(page)) => Answer::ok_with(page),
        Ok(None) if phase.is_some() => Answer::ok_with(carillon_protocol::LogPage {
            from_line: request.from_line.max(1),
            to_line: request.from_line.max(1) - 1,
            content: String::new(),
            is_end: !open,
        }),
        Ok(None) => Answer::fail(format!("this executor has no log of run {}", request.log_id)),
        Err(error) => Answer::fail(format!("the log cannot be read: {error}")),
    }))
}

/// All other requests, with the texts of the Java executor.
async fn unknown(request: HttpRequest) -> HttpResponse {
    if request.method() != actix_web::http::Method::POST {
        return answer(Answer::fail("invalid request, HttpMethod not support."));
    }
    let path: String = request.path().chars().take(200).collect();
    answer(Answer::fail(format!("invalid request, uri-mapping({path}) not found.")))
}

/// The protocol answers with HTTP 200 in all cases.
fn answer(answer: Answer) -> HttpResponse {
    HttpResponse::Ok().json(answer)
}

fn refusal(reason: String) -> actix_web::Error {
    let response = answer(Answer::fail(reason.clone()));
    actix_web::error::InternalError::from_response(reason, response).into()
}

fn meta(from: &HeaderMap) -> Result<RunMeta, String> {
    let attempt = number(from, headers::ATTEMPT)?.unwrap_or(1);
    Ok(RunMeta {
        fire_key: text(from, headers::FIRE_KEY)?,
        scheduled_at: number(from, headers::SCHEDULED_AT)?,
        attempt: u32::try_from(attempt.max(1)).unwrap_or(u32::MAX),
        not_after: number(from, headers::NOT_AFTER)?,
        phase: text(from, headers::PHASE)?,
        // A proxy may have spoiled it: the run does not depend on it.
        traceparent: text(from, headers::TRACEPARENT).unwrap_or_default(),
        received_at: wall_clock::now_ms(),
    })
}

/// The text in a header; `None` without the header.
fn text(from: &HeaderMap, name: &str) -> Result<Option<String>, String> {
    let value = from.get(name).map(|value| value.to_str().map(str::to_owned));
    value.transpose().map_err(|_| format!("{name} is not text"))
}

/// The number in a header; `None` without the header.
fn number(from: &HeaderMap, name: &str) -> Result<Option<i64>, String> {
    let Some(value) = from.get(name) else {
        return Ok(None);
    };
    let number = value.to_str().ok().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| format!("{name} is not a whole number"))
}
