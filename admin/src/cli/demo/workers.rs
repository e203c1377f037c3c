//! Two executors of the demo and their handlers, written as a service of yours would write them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, UNIX_EPOCH};

use crate::config::Config;
use carillon_executor::{Declaration, Error, Executor, JobContext, JobError, log};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::app::APP;
use super::{orders, pictures};
use crate::cli::serve::url;

pub fn build(config: &Config, node: SocketAddr) -> Result<[Executor; 2], Error> {
    let worker = |name: &str| {
        Executor::builder()
            .admin(url(config, node, ""))
            .app(APP)
            .token(&config.access_token)
            .listen(SocketAddr::new(reachable(node.ip()), 0).to_string())
            .data_dir(config.data_dir.join(name))
            .grace(Duration::from_secs(4))
            .job("hello", hello)
            .job("report", report)
            .job("recount", recount)
            .job("fetch", fetch)
            .job("walk", walk)
            .job("copy", copy)
            .job("pulse", pulse)
            .job("extract", orders::extract)
            .job("load", orders::load)
            .job("note", orders::note)
            .job(tidy_declaration(), tidy)
            .version("demo 1.0")
            .map_reduce("pictures", (pictures::list, pictures::shrink, pictures::count))
            .build()
    };
    Ok([worker("worker-1")?, worker("worker-2")?])
}

/// Until `leave`, or until one of them fails; then the other one ends too.
pub async fn run([first, second]: [Executor; 2], leave: &CancellationToken) -> Result<(), Error> {
    let run = async |executor: Executor| {
        let ended = executor.run(leave.cancelled()).await;
        leave.cancel();
        ended
    };
    let (first, second) = tokio::join!(run(first), run(second));
    first.and(second)
}

/// A node that other machines reach takes no executor on loopback: then it is the address that leads to them.
fn reachable(node: IpAddr) -> IpAddr {
    if !node.is_unspecified() {
        return node;
    }
    // Nothing is sent: connecting a UDP socket only asks the kernel for its route.
    let outward = || {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        socket.local_addr()
    };
    outward().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip())
}

/// The job that is declared in code. A service writes `#[job(…)]` above its function; here that would declare the job in every program
/// with this library.
fn tidy_declaration() -> Declaration {
    let every = Duration::from_secs(45);
    Declaration::new("tidy-up").title("Tidy up (declared in code)").every(every).timeout(Duration::from_secs(60))
}

async fn tidy(ctx: JobContext) -> Result<&'static str, JobError> {
    log!(ctx, "nothing lies about");
    Ok("tidy")
}

async fn hello(ctx: JobContext) -> Result<String, JobError> {
    log!(ctx, "hello, {}", ctx.params());
    Ok(format!("said hello to {}", ctx.params()))
}

async fn report(ctx: JobContext) -> Result<String, JobError> {
    const PAGES: u32 = 6;
    for page in 1..=PAGES {
        log!(ctx, "page {page} of {PAGES}");
        sleep(Duration::from_millis(500)).await;
    }
    Ok(format!("{PAGES} pages"))
}

async fn recount(ctx: JobContext) -> Result<String, JobError> {
    let (index, total) = (ctx.broadcast_index(), ctx.broadcast_total());
    let mine = (0..100).filter(|customer| customer % total == index);
    let count = mine.inspect(|customer| log!(ctx, "customer {customer}")).count();
    Ok(format!("{count} customers"))
}

/// Fails at first, so that a retry is seen.
async fn fetch(ctx: JobContext) -> Result<String, JobError> {
    log!(ctx, "attempt {} of fire {}", ctx.attempt(), ctx.fire_key().unwrap_or_default());
    if ctx.attempt() == 1 {
        return Err(JobError::new("the service was busy"));
    }
    Ok("fetched".to_owned())
}

/// Fails each time, so that there is an alert.
async fn copy(ctx: JobContext) -> Result<String, JobError> {
    log!(ctx, "copying to /backup");
    Err(JobError::new("no space left on /backup"))
}

/// Called several times a second in a loop, without the network between the calls. Now and then it fails.
async fn pulse(ctx: JobContext) -> Result<&'static str, JobError> {
    let since_epoch = ctx.scheduled_at().duration_since(UNIX_EPOCH).unwrap_or_default();
    if since_epoch.as_secs() % 60 == 30 {
        return Err(JobError::new("no pulse in this second of the minute"));
    }
    Ok("beats")
}

async fn walk(ctx: JobContext) -> Result<String, JobError> {
    let steps: u32 = ctx.params().trim().parse()?;
    for step in 1..=steps {
        tokio::select! {
            () = sleep(Duration::from_secs(1)) => log!(ctx, "step {step} of {steps}"),
            () = ctx.cancelled() => return Err(JobError::new(format!("stopped at step {step}"))),
        }
    }
    Ok(format!("{steps} steps"))
}
