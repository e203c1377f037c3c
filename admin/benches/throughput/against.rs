//! This build and another scheduler under the same load, in turn: jobs that fire each second, one executor that answers at
//! once, the wire of xxl-job.
//!
//! ratch-job does not send the instant that a run is due at, so lateness is counted for both from the whole second before the
//! receipt. A run that is a second late therefore counts as missed in its own second.

use std::path::PathBuf;

use carillon_testkit::{Process, Receipt};

use crate::executors::Executors;
use crate::options::Options;
use crate::ratchjob::{self, RatchJob};
use crate::report::{Figures, shares};
use crate::trial::{self, START, Trial};

enum System {
    /// This build, or the one of `--binary`.
    Ours,
    OtherBuild(PathBuf),
    RatchJob(PathBuf),
}

pub async fn compare(peer: &str, options: &Options) {
    let peer = match peer {
        "ratchjob" => match ratchjob::build() {
            Ok(binary) => System::RatchJob(binary),
            Err(why) => return println!("skipped: ratch-job {} could not be built: {why}", ratchjob::VERSION),
        },
        path => System::OtherBuild(path.into()),
    };
    println!("{} jobs that fire each second, {} rounds of {} s", options.jobs, options.rounds, options.seconds);
    println!("system            runs/s  lateness p50/p99/max ms  missed  CPU s per 1000 runs (user + system)  MiB");
    let systems = [System::Ours, peer];
    let mut rounds: [Vec<Figures>; 2] = [vec![], vec![]];
    for _ in 0..options.rounds {
        for (system, figures) in systems.iter().zip(&mut rounds) {
            let round = round(system, options).await;
            print_line(&system.name(), &round);
            figures.push(round);
        }
    }
    println!("medians");
    for (system, figures) in systems.iter().zip(rounds) {
        print_line(&system.name(), &median(&figures));
    }
}

impl System {
    fn name(&self) -> String {
        match self {
            Self::Ours => "carillon".to_owned(),
            Self::OtherBuild(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Self::RatchJob(_) => format!("ratch-job {}", ratchjob::VERSION),
        }
    }
}

async fn round(system: &System, options: &Options) -> Figures {
    if let System::RatchJob(binary) = system {
        let peer = RatchJob::start(binary).await;
        let executors = Executors::start(&[peer.admin()], "bench", options.executors).await;
        peer.create_jobs(options.jobs).await;
        return steady(&peer.process, &executors, options).await;
    }
    let trial = match system {
        System::OtherBuild(path) => Trial::start_build(options, Some(path)).await,
        _ => Trial::start(options).await,
    };
    trial.create_jobs(options, options.jobs).await;
    let figures = steady(&trial.nodes[0], &trial.executors, options).await;
    trial.end().await;
    figures
}

async fn steady(process: &Process, executors: &Executors, options: &Options) -> Figures {
    tokio::time::sleep(START).await;
    trial::measure(process, executors, options, count_from_the_second).await
}

fn count_from_the_second(receipt: &mut Receipt) {
    receipt.due_at = receipt.received_at / 1000 * 1000;
}

/// The median of each figure by itself.
fn median(rounds: &[Figures]) -> Figures {
    let of = |figure: fn(&Figures) -> f64| shares(rounds.iter().map(figure).collect())[0];
    // The parts of one round, so that their sum is the median of the sums.
    let cpu = of(|it| it.user + it.system);
    let middle = rounds.iter().find(|it| it.user + it.system == cpu);
    let (user, system) = middle.map_or((0.0, 0.0), |it| (it.user, it.system));
    Figures {
        rate: of(|it| it.rate),
        missed: of(|it| it.missed as f64) as usize,
        lateness: [of(|it| it.lateness[0]), of(|it| it.lateness[1]), of(|it| it.lateness[2])],
        user,
        system,
        resident: of(|it| it.resident),
        ..Figures::default()
    }
}

fn print_line(name: &str, figures: &Figures) {
    let Figures { rate, lateness: [p50, p99, max], missed, user, system, resident, .. } = figures;
    println!(
        "{name:16}  {rate:6.0}  {p50:6.0} / {p99:5.0} / {max:6.0}  {missed:6}  {:.4} ({user:.4} + {system:.4})  {resident:16.0}",
        user + system
    );
}
