//! Executors: killed, paused, stopped in order; their answers lost or falsified; their callbacks cut.

use std::time::Duration;

use super::{Scene, until};
use crate::executor::Kind;
use crate::executor::batch_fault::BatchFault;
use crate::nemesis::rest;
use crate::proxy::{Mode, Trap, Trick, Wire, http};

/// One run, or a batch of them.
const RUN: &str = "POST /run";
const BATCH: &str = "POST /runs ";
const CALLBACK: &str = "/api/callback ";
/// Number of requests that a fault plays its trick on.
const TIMES: u32 = 3;
/// Some jobs of the load fire every second.
const BATCH_WITHIN: Duration = Duration::from_secs(8);

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    match name {
        "executor_kill" | "executor_stop" | "executor_term" | "executor_unreachable" => process(name, scene).await,
        "executor_wiped" => wiped(scene).await,
        "batch_answer_cut" => batch(scene, BatchFault::AnswerCut).await,
        "batch_executor_killed" => batch(scene, BatchFault::ExecutorKilled).await,
        "callback_cut" => {
            scene.target = "all".into();
            // Executors keep to the admin that has answered last: which one it is does not matter.
            let admins = scene.cluster.admins.iter();
            let wires: Vec<Wire> = admins.map(|admin| admin.wire.clone()).collect();
            trick(scene, &wires, CALLBACK, Trick::LoseAnswer).await
        }
        _ => {
            let (kind, what) = match name {
                "answer_lost_stock" => (Some(Kind::Stock), Trick::LoseAnswer),
                "answer_lost_own" => (Some(Kind::Sdk), Trick::LoseAnswer),
                "run_cut" => (None, Trick::CutForwarded),
                "wrong_code" => (None, refusal()),
                _ => (None, bad_gateway()),
            };
            let wire = scene.executor(kind).await?.wire.clone();
            trick(scene, &[wire], RUN, what).await
        }
    }
}

/// The executor never sees it, so nothing has run: the word of a refusal is true.
fn refusal() -> Trick {
    let body = r#"{"code":500,"msg":"block strategy effect"}"#;
    Trick::Answer(http("200 OK", "application/json", body))
}

/// The executor has taken it; a gateway between says otherwise.
fn bad_gateway() -> Trick {
    let body = "<html><body><h1>502 Bad Gateway</h1></body></html>";
    Trick::Replace(http("502 Bad Gateway", "text/html", body))
}

async fn process(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    let executor = scene.executor(None).await?;
    match name {
        "executor_kill" => {
            executor.kill().await;
            rest(2_000).await;
            executor.start().await
        }
        "executor_stop" => {
            let lasts = scene.random.between(3_000, 10_000) as i64;
            executor.signal("STOP").await;
            rest(lasts).await;
            executor.signal("CONT").await;
            Ok(())
        }
        "executor_term" => {
            executor.stop().await;
            rest(1_000).await;
            executor.start().await
        }
        _ => {
            executor.wire.set(Mode { down: true, ..Mode::default() });
            rest(3_000).await;
            executor.wire.recover();
            Ok(())
        }
    }
}

/// An executor of our SDK takes a run, its answer is lost, and it comes back without its data directory: a container that
/// was created again under the same address. The executor must be asked, and must never get that run again.
async fn wiped(scene: &mut Scene) -> anyhow::Result<()> {
    let executor = scene.executor(Some(Kind::Sdk)).await?;
    let before = executor.wire.sprung();
    executor.wire.set_trap(Trap::new(RUN, Trick::LoseAnswer, TIMES));
    let taken = until(Duration::from_secs(4), || executor.wire.sprung() > before);
    let taken = taken.await;
    // The request has been passed on; the executor writes it into its journal now.
    rest(100).await;
    executor.kill().await;
    executor.wire.clear_traps(RUN);
    executor.wipe()?;
    scene.note = format!("{} answers lost", executor.wire.sprung() - before);
    anyhow::ensure!(taken, "no run was sent to it within 4 s");
    rest(1_000).await;
    executor.start().await
}

/// An executor of our SDK takes half of a batch, and the admin gets no answer. Each run must be asked about: those of the half
/// are there, also after a restart, and the others have not begun.
async fn batch(scene: &mut Scene, fault: BatchFault) -> anyhow::Result<()> {
    let executor = scene.executor(Some(Kind::Sdk)).await?;
    executor.arm(fault.name())?;
    executor.wire.set_trap(Trap::new(BATCH, Trick::LoseAnswer, 1));
    until(BATCH_WITHIN, || !executor.is_armed(fault.name())).await;
    let is_late = executor.disarm(fault.name());
    executor.wire.clear_traps(BATCH);
    anyhow::ensure!(!is_late, "no batch was sent to it in time");
    if fault == BatchFault::ExecutorKilled {
        // The process ends by itself once the half is in its journal.
        rest(300).await;
        executor.kill().await;
        rest(1_000).await;
        executor.start().await?;
    }
    Ok(())
}

async fn trick(scene: &mut Scene, wires: &[Wire], needle: &str, trick: Trick) -> anyhow::Result<()> {
    let sprung = || wires.iter().map(Wire::sprung).sum::<u64>();
    let before = sprung();
    for wire in wires {
        wire.set_trap(Trap::new(needle, trick.clone(), TIMES));
    }
    let wanted = before + u64::from(TIMES);
    until(Duration::from_secs(4), || sprung() >= wanted).await;
    wires.iter().for_each(|wire| wire.clear_traps(needle));
    scene.note = format!("{} requests", sprung() - before);
    Ok(())
}
