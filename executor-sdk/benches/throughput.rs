//! What an executor costs: a second process plays the executor, this one sends it runs and takes its results.
//!
//! `cargo bench -p carillon-executor --bench throughput -- [runs a second] [seconds] [in flight]`, by default
//! `1000 10 32`: a burst of that size at each whole second, as a thousand jobs that fire every second produce. Prints
//! CPU seconds per 1000 runs of the executor's process, how long a burst took to be accepted, and how many callbacks
//! it needed. Linux only: CPU and memory come from `/proc`.

use std::env;
use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use carillon_executor::{Durability, Executor, JobContext};
use carillon_protocol::{RunRequest, headers};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The child's settings: admin, token, data folder, port to listen on.
const CHILD: &str = "CARILLON_BENCH_EXECUTOR";

#[tokio::main]
async fn main() -> Outcome<()> {
    if let Ok(settings) = env::var(CHILD) {
        return be_executor(&settings).await;
    }
    if !env::args().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` runs it too, which shall cost nothing.
        return Ok(());
    }
    let numbers: Vec<usize> = env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [rate, seconds, in_flight] = std::array::from_fn(|index| {
        let default = [1000, 10, 32][index];
        numbers.get(index).copied().unwrap_or(default)
    });
    for durability in ["machine", "process"] {
        measure(rate, seconds, in_flight, durability).await?;
    }
    Ok(())
}

async fn be_executor(settings: &str) -> Outcome<()> {
    let [admin, token, data, listen, durability] =
        settings.split_whitespace().collect::<Vec<_>>().try_into().map_err(|_| "settings of the bench")?;
    let durability = match durability {
        "process" => Durability::Process,
        _ => Durability::Machine,
    };
    let executor = Executor::builder()
        .admin(admin)
        .app("bench")
        .token(token)
        .data_dir(data)
        .listen(listen)
        .durability(durability)
        .job("nothing", |_: JobContext| async { Ok(()) })
        .build()?;
    executor.run(std::future::pending()).await?;
    Ok(())
}

async fn measure(rate: usize, seconds: usize, in_flight: usize, durability: &str) -> Outcome<()> {
    let (results, callbacks) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let admin = TcpListener::bind("127.0.0.1:0").await?;
    let admin_address = format!("http://{}", admin.local_addr()?);
    let serving = tokio::spawn(serve(admin, Arc::clone(&results), Arc::clone(&callbacks)));
    let data = tempfile::tempdir_in(env::current_dir()?)?;
    let token = format!("{:032x}", rand::random::<u128>());
    let listen = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let settings = format!("{admin_address} {token} {} {listen} {durability}", data.path().display());
    let mut child = Command::new(env::current_exe()?).env(CHILD, settings).stdin(Stdio::null()).spawn()?;
    let mut lines = connect(&listen, in_flight).await?;

    burst(&mut lines, &listen, &token, 1, 100).await?;
    until(&results, 100).await?;
    let (cpu, begun) = (cpu_seconds(child.id())?, Instant::now());
    let mut bursts = Vec::new();
    for second in 0..seconds {
        tokio::time::sleep_until((begun + Duration::from_secs(second as u64)).into()).await;
        let now = Instant::now();
        burst(&mut lines, &listen, &token, 101 + second * rate, rate).await?;
        bursts.push(now.elapsed());
    }
    until(&results, 100 + seconds * rate).await?;
    tokio::time::sleep_until((begun + Duration::from_secs(seconds as u64)).into()).await;
    let cpu = cpu_seconds(child.id())? - cpu;
    bursts.sort_unstable();
    let runs = (seconds * rate) as f64;
    println!(
        "{durability:8} {rate} runs/s for {seconds} s, {in_flight} in flight: {:.4} CPU s per 1000 runs, \
         burst accepted in {:.1} ms (median) {:.1} ms (longest), {} callbacks, {} MiB",
        cpu / runs * 1000.0,
        bursts[bursts.len() / 2].as_secs_f64() * 1e3,
        bursts[bursts.len() - 1].as_secs_f64() * 1e3,
        callbacks.load(Ordering::Relaxed),
        memory_kib(child.id())? / 1024,
    );
    child.kill()?;
    child.wait()?;
    serving.abort();
    Ok(())
}

/// Connections to the executor, once it listens.
async fn connect(listen: &str, count: usize) -> Outcome<Vec<TcpStream>> {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut lines = Vec::new();
    while lines.len() < count {
        match TcpStream::connect(listen).await {
            Ok(line) => {
                line.set_nodelay(true)?;
                lines.push(line);
            }
            Err(error) if Instant::now() > deadline => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    Ok(lines)
}

/// Sends `count` runs, each of its own job, over all connections at once; one after the other on each.
async fn burst(lines: &mut [TcpStream], host: &str, token: &str, first: usize, count: usize) -> Outcome<()> {
    let next = AtomicUsize::new(0);
    let work = lines.iter_mut().map(async |line: &mut TcpStream| -> Outcome<()> {
        let mut answer = vec![0; 4096];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            let request = request(host, token, first + number, number);
            line.write_all(request.as_bytes()).await?;
            let length = line.read(&mut answer).await?;
            let text = std::str::from_utf8(&answer[..length])?;
            if !text.contains(r#""code":200"#) {
                return Err(format!("not accepted: {text}").into());
            }
        }
    });
    let ended = futures_util::future::join_all(work).await;
    ended.into_iter().collect()
}

fn request(host: &str, token: &str, log_id: usize, job: usize) -> String {
    let body = RunRequest {
        job_id: i32::try_from(job + 1).unwrap_or(1),
        handler: "nothing".to_owned(),
        block_strategy: "SERIAL_EXECUTION".to_owned(),
        log_id: log_id as i64,
        log_date_time: 1_790_000_000_000,
        glue_type: "BEAN".to_owned(),
        broadcast_total: 1,
        ..RunRequest::default()
    };
    let body = serde_json::to_string(&body).unwrap_or_default();
    format!(
        "POST /run HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{}: {token}\r\n\
         {}: {}:0:1790000000000:0\r\n{}: 1\r\n{}: 4000000000000\r\nContent-Length: {}\r\n\r\n{body}",
        headers::TOKEN,
        headers::FIRE_KEY,
        job + 1,
        headers::ATTEMPT,
        headers::NOT_AFTER,
        body.len()
    )
}

/// An admin that takes everything and counts.
async fn serve(listener: TcpListener, results: Arc<AtomicUsize>, callbacks: Arc<AtomicUsize>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (results, callbacks) = (Arc::clone(&results), Arc::clone(&callbacks));
        tokio::spawn(async move { drop(answer_all(stream, &results, &callbacks).await) });
    }
}

async fn answer_all(mut stream: TcpStream, results: &AtomicUsize, callbacks: &AtomicUsize) -> Outcome<()> {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"code\":200}";
    let (mut bytes, mut part) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let read = stream.read(&mut part).await?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() < length.unwrap_or("0").parse::<usize>()? {
            continue;
        }
        if head.starts_with("post /api/callback") {
            results.fetch_add(body.matches("\"logId\"").count(), Ordering::Relaxed);
            callbacks.fetch_add(1, Ordering::Relaxed);
        }
        bytes.clear();
        stream.write_all(ANSWER).await?;
    }
}

async fn until(results: &AtomicUsize, count: usize) -> Outcome<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while results.load(Ordering::Relaxed) < count {
        if Instant::now() > deadline {
            return Err("results are missing".into());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}

/// User and system time of a process; `/proc` counts in hundredths.
fn cpu_seconds(pid: u32) -> Outcome<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok(ticks / 100.0)
}

fn memory_kib(pid: u32) -> Outcome<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.unwrap_or("0 kB").trim().trim_end_matches(" kB").parse()?)
}
