//! One run: warm-up, faults, recover, quiet, stop, wait, dump.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::{Millis, now};
use crate::cluster::{Cluster, supervise};
use crate::load::{self, APP, Absent, Api, Calls, HANG, HOLE, Herd};
use crate::nemesis;
use crate::options::{Options, Rehearsal};
use crate::record::{History, Job, Meta, Op, Outcome, Phases, files};
use crate::samples;

const WARM_UP: Duration = Duration::from_secs(10);
const QUIET: Duration = Duration::from_secs(25);
/// For the last run to reach its end.
const SETTLE: Duration = Duration::from_secs(60);

/// Answers the folder with all that was recorded.
pub async fn run(options: &Options) -> anyhow::Result<PathBuf> {
    let seed = options.seed.unwrap_or_else(|| now().unsigned_abs() % 1_000_000);
    println!(
        "seed {seed}, {}, {} s of faults, control {}",
        options.db.as_str(),
        options.seconds,
        options.control.as_str()
    );
    let folder = new_folder(options, seed)?;
    println!("artefacts: {}", folder.display());
    let cluster = Arc::new(Cluster::start(options, &folder).await?);
    let outcome = session(options, seed, &cluster).await;
    let mut history = match outcome {
        Ok(history) => history,
        Err(error) => {
            cluster.stop().await;
            return Err(error);
        }
    };
    cluster.stop().await;
    history.exits = cluster.all_exits();
    history.events = files::events(&folder)?;
    history.fires = files::fires(&folder)?;
    history.meta.logged = logged(&folder);
    files::save(&history, &folder)?;
    Ok(folder)
}

fn new_folder(options: &Options, seed: u64) -> anyhow::Result<PathBuf> {
    let stamp = crate::clock::text(now()).replace([':', '.'], "-");
    let name = format!("{stamp}-{}-{seed}", options.db.as_str());
    let folder = options.out.join(name);
    std::fs::create_dir_all(&folder)?;
    folder.canonicalize().context("the folder of the run")
}

/// Tasks that run during the faults; dropping this value ends them.
struct Companions(Vec<JoinHandle<()>>);

impl Drop for Companions {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

async fn session(options: &Options, seed: u64, cluster: &Arc<Cluster>) -> anyhow::Result<History> {
    let roots: Vec<String> = cluster.admins.iter().map(|admin| admin.wire.url()).collect();
    let api = Arc::new(Api::new(roots.clone(), &cluster.secrets.api, Duration::from_secs(5)));
    let started_at = now();
    let (absent, jobs) = match options.rehearsal {
        Some(rehearsal) => (None, busy(&api, rehearsal).await?),
        None => {
            let (absent, jobs) = set_up(&api, cluster, roots).await?;
            (Some(absent), jobs)
        }
    };
    nemesis::control::apply(cluster, options).await?;

    let calls = Calls::default();
    // In a rehearsal no job is edited.
    let edited = options.rehearsal.map_or_else(|| jobs.clone(), |_| vec![]);
    let stop = CancellationToken::new();
    let longest_pause = Duration::from_millis(options.longest_pause_ms().unsigned_abs());
    let clients = load::work(api.clone(), edited, calls.clone(), seed, longest_pause, stop.clone());
    let samples = samples::Samples::default();
    samples::watch_the_machine(samples.clone());
    let mut companions = Companions(vec![
        tokio::spawn(samples::take(cluster.clone(), api.clone(), samples.clone())),
        tokio::spawn(supervise(cluster.clone())),
        tokio::spawn(samples::watch_limits(cluster.clone(), samples.clone())),
        tokio::spawn(clients),
    ]);
    tokio::time::sleep(WARM_UP).await;

    let faults_from = now();
    let faults = if let Some(rehearsal) = options.rehearsal {
        nemesis::rehearsal::play(cluster, rehearsal, seed).await
    } else if options.calm {
        tokio::time::sleep(Duration::from_secs(options.seconds)).await;
        vec![]
    } else {
        nemesis::inject(cluster, options, seed).await
    };
    let faults_to = now();
    nemesis::recover(cluster).await?;
    let recovered_at = now();
    println!("{} faults; quiet", faults.len());
    tokio::time::sleep(QUIET).await;

    // Edits end before the stop, so that the last word about each job is the suite's.
    stop.cancel();
    if let Some(clients) = companions.0.pop() {
        clients.await?;
    }
    let stopped_at = now();
    stop_all(&api, &jobs, &calls).await?;
    let in_time = settled(cluster).await?;
    let phases = Phases { started_at, faults_from, faults_to, recovered_at, stopped_at, dumped_at: now() };
    println!("dump{}", if in_time { "" } else { " (some runs are still open)" });
    let history = History {
        meta: meta(options, seed, phases).await,
        runs: cluster.database.runs().await?,
        misfires: cluster.database.misfires().await?,
        maps: cluster.database.maps().await?,
        deliveries: cluster.database.map_deliveries().await?,
        items: cluster.database.map_items().await?,
        calls: std::mem::take(&mut *calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner)),
        samples: samples.list(),
        jobs,
        faults,
        ..History::default()
    };
    drop(absent);
    Ok(history)
}

/// The load of a rehearsal.
async fn busy(api: &Api, rehearsal: Rehearsal) -> anyhow::Result<Vec<Job>> {
    api.create_app(APP).await?;
    api.create_jobs(load::busy(rehearsal.jobs())).await
}

async fn set_up(api: &Api, cluster: &Cluster, roots: Vec<String>) -> anyhow::Result<(Absent, Vec<Job>)> {
    for app in [APP, HOLE, HANG] {
        api.create_app(app).await?;
    }
    api.create_calendar(load::CALENDAR).await?;
    let absent = Absent::start(roots, &cluster.secrets.access).await?;
    // The herd comes in the middle of the faults, on a round moment.
    let herd = match cluster.options.soak {
        true => Herd::EveryFiveMinutes,
        false => Herd::Once(now() + 1000 * (10 + cluster.options.seconds as Millis / 2)),
    };
    let misfire = cluster.options.misfire_seconds();
    let mut jobs = api.create_jobs(load::plan(herd, misfire)).await?;
    let children = api.create_jobs(load::children()).await?;
    let ids: Vec<i64> = children.iter().map(|job| job.id).collect();
    jobs.extend(children);
    jobs.extend(api.create_jobs(load::parents(&ids, misfire)).await?);
    jobs.extend(workflows(api, misfire).await?);
    jobs.extend(api.create_jobs(load::maps(misfire)).await?);
    jobs.extend(api.create_jobs(load::delayed()).await?);
    jobs.extend(api.create_jobs(load::http(&cluster.services, misfire)).await?);
    api.create_limit(load::limited::LIMIT, load::limited::SLOTS).await?;
    jobs.extend(api.create_jobs(load::limited()).await?);
    jobs.extend(api.create_jobs(load::loops()).await?);
    load::poison(&cluster.database, &jobs).await?;
    Ok((absent, jobs))
}

async fn workflows(api: &Api, misfire_seconds: i64) -> anyhow::Result<Vec<Job>> {
    let mut jobs = api.create_jobs(load::steps()).await?;
    let steps: Vec<i64> = jobs.iter().map(|job| job.id).collect();
    let inner = api.create_jobs(vec![load::inner(&steps)]).await?;
    let flows = load::flows(&steps, inner[0].id, misfire_seconds);
    jobs.extend(inner);
    jobs.extend(api.create_jobs(flows).await?);
    Ok(jobs)
}

/// Disables every job. A node or a wire may still recover: it is tried until it was done.
async fn stop_all(api: &Api, jobs: &[Job], calls: &Calls) -> anyhow::Result<()> {
    let each = jobs.iter().enumerate().map(|(number, job)| async move {
        for attempt in 0..20 {
            let invoked_at = now();
            let path = format!("api/v1/jobs/{}/disable", job.id);
            let reply = api.ask(number + attempt, Method::POST, &path, Some(&json!({}))).await;
            let asked = (job.id, api.name(number + attempt));
            load::note(calls, asked, Op::Disable, invoked_at, &reply);
            if reply.outcome() == Outcome::Ok {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        anyhow::bail!("job {} cannot be disabled", job.id)
    });
    use futures_util::stream::{self, StreamExt as _};
    let done: Vec<anyhow::Result<()>> = stream::iter(each).buffer_unordered(8).collect().await;
    done.into_iter().collect()
}

/// Waits until every row is final, unknown or lost; false: not in time.
async fn settled(cluster: &Cluster) -> anyhow::Result<bool> {
    let until = Instant::now() + SETTLE;
    while Instant::now() < until {
        if cluster.database.open_runs().await? == 0 {
            // Executors may still hold results of runs that are final already: give them a moment.
            tokio::time::sleep(Duration::from_secs(2)).await;
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    Ok(false)
}

async fn meta(options: &Options, seed: u64, phases: Phases) -> Meta {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    Meta {
        seed,
        db: options.db.as_str().to_owned(),
        control: options.control.as_str().to_owned(),
        rehearsal: options.rehearsal.map_or("", |rehearsal| rehearsal.as_str()).to_owned(),
        soak: options.soak,
        chosen: !options.only.is_empty(),
        seconds: options.seconds,
        phases,
        ttl_ms: options.ttl_ms,
        look_ahead_ms: options.look_ahead_ms,
        versions: versions(&options.binary).await,
        load: load.trim().to_owned(),
        ..Meta::default()
    }
}

/// The number of errors, panics and deadlocks in the logs of nodes and servers.
fn logged(folder: &Path) -> std::collections::BTreeMap<String, u64> {
    let mut all = std::collections::BTreeMap::new();
    for name in ["a1.log", "a2.log", "a3.log", "database.log"] {
        let text = std::fs::read(folder.join(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        for (what, sign) in
            [("errors", "\"level\":\"ERROR\""), ("panics", "panicked at"), ("deadlocks", "deadlock detected")]
        {
            *all.entry(what.to_owned()).or_default() += text.matches(sign).count() as u64;
        }
    }
    all
}

async fn versions(binary: &Path) -> std::collections::BTreeMap<String, String> {
    let mut all = std::collections::BTreeMap::new();
    let asked = [
        ("carillon", binary.display().to_string()),
        ("redis", "redis-server".to_owned()),
        ("mariadb", "mariadbd".to_owned()),
        ("psql", "psql".to_owned()),
    ];
    for (name, program) in asked {
        let said = tokio::process::Command::new(program).arg("--version").output().await;
        if let Ok(said) = said {
            let text = String::from_utf8_lossy(&said.stdout);
            all.insert(name.to_owned(), text.lines().next().unwrap_or_default().to_owned());
        }
    }
    all
}
