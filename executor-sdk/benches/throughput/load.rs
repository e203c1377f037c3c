//! Bursts of runs, as an admin sends them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use carillon_protocol::{BatchRun, MAX_BATCH_RUNS, RunBatch, RunRequest, headers};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Outcome;

const NOT_AFTER: i64 = 4_000_000_000_000;
const SCHEDULED_AT: i64 = 1_790_000_000_000;
const EPOCH: i64 = 1;

/// How runs travel.
#[derive(Clone, Copy)]
pub enum Wire {
    /// Each in a request of its own.
    Run,
    /// As many in a request as it may hold.
    Runs,
}

impl Wire {
    pub fn path(self) -> &'static str {
        match self {
            Self::Run => "/run",
            Self::Runs => "/runs",
        }
    }

    fn most(self) -> usize {
        match self {
            Self::Run => 1,
            Self::Runs => MAX_BATCH_RUNS,
        }
    }
}

pub struct Load {
    host: String,
    token: String,
    wire: Wire,
    lines: Vec<TcpStream>,
}

impl Load {
    /// Connections to the executor, once it listens.
    pub async fn connect(host: &str, token: &str, in_flight: usize, wire: Wire) -> Outcome<Self> {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut lines = Vec::new();
        while lines.len() < in_flight {
            match TcpStream::connect(host).await {
                Ok(line) => {
                    line.set_nodelay(true)?;
                    lines.push(line);
                }
                Err(error) if Instant::now() > deadline => return Err(error.into()),
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        Ok(Self { host: host.to_owned(), token: token.to_owned(), wire, lines })
    }

    /// Sends `count` runs, each of its own job, over all connections at once; one request after the other on each.
    pub async fn burst(&mut self, first: usize, count: usize) -> Outcome<()> {
        let Self { host, token, wire, lines } = self;
        let (next, most) = (AtomicUsize::new(0), wire.most());
        let work = lines.iter_mut().map(async |line: &mut TcpStream| -> Outcome<()> {
            loop {
                let start = next.fetch_add(most, Ordering::Relaxed);
                if start >= count {
                    return Ok(());
                }
                let runs = start..count.min(start + most);
                let expected = runs.len();
                let (head, body) = match wire {
                    Wire::Run => (head_of_run(start), serde_json::to_string(&run(first + start, start))?),
                    Wire::Runs => {
                        let runs = runs.map(|job| batch_run(first + job, job)).collect();
                        (String::new(), serde_json::to_string(&RunBatch { runs })?)
                    }
                };
                let (path, length) = (wire.path(), body.len());
                let request = format!(
                    "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{}: {token}\r\n{}: bench\r\n{head}\
                     Content-Length: {length}\r\n\r\n{body}",
                    headers::TOKEN,
                    headers::APP,
                );
                line.write_all(request.as_bytes()).await?;
                let answer = read_answer(line).await?;
                if accepted(*wire, &answer) != expected {
                    return Err(format!("not accepted: {answer}").into());
                }
            }
        });
        let ended = futures_util::future::join_all(work).await;
        ended.into_iter().collect()
    }
}

/// How many runs an answer accepts: that to a batch has a code of its own too.
fn accepted(wire: Wire, answer: &str) -> usize {
    let codes = answer.matches(r#""code":200"#).count();
    match wire {
        Wire::Run => codes,
        Wire::Runs => codes.saturating_sub(1),
    }
}

/// The body.
async fn read_answer(line: &mut TcpStream) -> Outcome<String> {
    let (mut bytes, mut part) = (Vec::new(), vec![0; 1 << 14]);
    loop {
        let read = line.read(&mut part).await?;
        if read == 0 {
            return Err("the executor closed a connection".into());
        }
        bytes.extend_from_slice(&part[..read]);
        let text = std::str::from_utf8(&bytes)?;
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).ok_or("no length")?;
        if body.len() >= length.parse::<usize>()? {
            return Ok(body.to_owned());
        }
    }
}

fn run(log_id: usize, job: usize) -> RunRequest {
    RunRequest {
        job_id: i32::try_from(job + 1).unwrap_or(1),
        handler: "nothing".to_owned(),
        block_strategy: "SERIAL_EXECUTION".to_owned(),
        log_id: log_id as i64,
        log_date_time: SCHEDULED_AT,
        glue_type: "BEAN".to_owned(),
        broadcast_total: 1,
        ..RunRequest::default()
    }
}

fn fire_key(job: usize) -> String {
    format!("{}:0:{SCHEDULED_AT}:0", job + 1)
}

fn batch_run(log_id: usize, job: usize) -> BatchRun {
    BatchRun {
        run: run(log_id, job),
        fire_key: fire_key(job),
        scheduled_at: SCHEDULED_AT,
        attempt: 1,
        epoch: EPOCH,
        not_after: NOT_AFTER,
        phase: None,
        traceparent: None,
    }
}

/// What travels with a single run in headers.
fn head_of_run(job: usize) -> String {
    let fire_key = fire_key(job);
    format!("{}: {fire_key}\r\n{}: 1\r\n{}: {NOT_AFTER}\r\n", headers::FIRE_KEY, headers::ATTEMPT, headers::NOT_AFTER)
}
