//! A look at every process once a second: memory, descriptors, and what nodes count.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::now;
use crate::cluster::Cluster;
use crate::cluster::process::usage;
use crate::load::Api;
use crate::record::Sample;

#[derive(Clone, Default)]
pub struct Samples(Arc<Mutex<Vec<Sample>>>);

impl Samples {
    pub fn list(&self) -> Vec<Sample> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, sample: Sample) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
    }
}

/// The name under which the suite's own stalls are kept.
pub const SUITE: &str = "suite";
pub const STALL: &str = "stall_ms";
/// Per cent of the last ten seconds in which a process waited for a core.
pub const PRESSURE: &str = "cpu_pressure";

/// How late this machine wakes a thread that wanted to sleep 5 ms: the worst of each second, while `samples` are taken.
/// What it cannot do for us, it cannot do for the nodes either.
pub fn watch_the_machine(samples: Samples) {
    std::thread::spawn(move || {
        let nap = Duration::from_millis(5);
        // Ours is the last one when everybody else has dropped theirs: the run is over.
        while Arc::strong_count(&samples.0) > 1 {
            let (began, mut worst) = (Instant::now(), Duration::ZERO);
            while began.elapsed() < Duration::from_secs(1) {
                let asleep = Instant::now();
                std::thread::sleep(nap);
                worst = worst.max(asleep.elapsed().saturating_sub(nap));
            }
            samples.add(Sample {
                at: now(),
                process: SUITE.to_owned(),
                rss_kib: 0,
                descriptors: 0,
                metrics: BTreeMap::from([
                    (STALL.to_owned(), worst.as_millis() as f64),
                    (PRESSURE.to_owned(), pressure()),
                ]),
            });
        }
    });
}

/// 0 where the kernel does not say.
fn pressure() -> f64 {
    let text = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let value = text.split("avg10=").nth(1).and_then(|rest| rest.split(' ').next());
    value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
}

/// The name under which the most runs with a limit are kept that were at work at one moment, and which of them had no slot.
pub const LIMITS: &str = "limits";
pub const AT_WORK: &str = "at_work";
pub const WITHOUT_SLOT: &str = "without_slot";

/// Looks at the database all the time, and keeps the worst of each second, until it is dropped. Each look is one statement, so it sees one
/// moment.
pub async fn watch_limits(cluster: Arc<Cluster>, samples: Samples) {
    let limited = "FROM run WHERE run.state IN (1, 2) AND run.job_id IN (SELECT id FROM job WHERE limits IS NOT NULL)";
    let at_work = format!("SELECT COUNT(*) {limited}");
    let without = format!("{at_work} AND NOT EXISTS (SELECT 1 FROM limit_slot WHERE limit_slot.run_id = run.id)");
    loop {
        let (began, mut worst) = (Instant::now(), [0.0_f64; 2]);
        while began.elapsed() < Duration::from_secs(1) {
            for (worst, text) in worst.iter_mut().zip([&at_work, &without]) {
                // The server may be down.
                let asked = tokio::time::timeout(Duration::from_secs(1), cluster.database.count(text)).await;
                if let Ok(Ok(count)) = asked {
                    *worst = worst.max(count as f64);
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        samples.add(Sample {
            at: now(),
            process: LIMITS.to_owned(),
            rss_kib: 0,
            descriptors: 0,
            metrics: BTreeMap::from([(AT_WORK.to_owned(), worst[0]), (WITHOUT_SLOT.to_owned(), worst[1])]),
        });
    }
}

/// Until it is dropped.
pub async fn take(cluster: Arc<Cluster>, api: Arc<Api>, samples: Samples) {
    loop {
        for (number, admin) in cluster.admins.iter().enumerate() {
            let pid = admin.process.try_lock().ok().and_then(|slot| Some(slot.as_ref()?.pid));
            let Some((rss_kib, descriptors)) = pid.and_then(usage) else {
                continue;
            };
            // A paused node does not answer: the others must not wait for it.
            let asked = tokio::time::timeout(Duration::from_millis(500), api.text(number, "metrics"));
            let metrics = asked.await.ok().flatten().unwrap_or_default();
            samples.add(Sample {
                at: now(),
                process: admin.name.clone(),
                rss_kib,
                descriptors,
                metrics: counters(&metrics),
            });
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The text form of Prometheus, histograms but for their sums left out.
fn counters(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{"));
    lines
        .filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        })
        .collect()
}
