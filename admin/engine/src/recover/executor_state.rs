//! What an executor knows of a run that it has, or should have.

use carillon_scheduler::{Millis, RunEvent};

use crate::Pipeline;
use crate::executor::client::Look;
use crate::executor::outcome::Outcome;
use crate::recover::evidence::has_begun;
use crate::settings::ms;
use crate::store;
use crate::store::run::open::running::Watched;
use crate::store::run::settle::outcomes::Finding;

/// An executor that does not answer, or does not stop the run, has so much longer.
const PATIENCE: i64 = 60_000;
/// A run that has ended there reports it itself; so long at most.
const REPORT: i64 = 300_000;

/// What was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Running,
    /// It waits there behind another run.
    Queued,
    /// Its end is on its way here.
    Ended,
    /// It has no such run.
    Unknown,
    Silent,
}

/// Another process answers at the run's address.
pub async fn restarted(pipeline: &Pipeline, run: &Watched) -> store::Result<()> {
    match word(pipeline, run).await {
        // The process had changed before the request came: the new one has it.
        Word::Running | Word::Queued => {
            let boot_id = run.registered.as_ref().and_then(|it| it.boot_id.as_ref());
            if let Some(boot_id) = boot_id {
                pipeline.store.note_boot(run.run_id, boot_id).await?;
            }
        }
        Word::Unknown => pipeline.lose(run, "the executor was restarted"),
        // Its journal has the end, or that it was interrupted: a report is on its way, and worth waiting for.
        Word::Ended => {
            let since = run.registered.as_ref().map_or(0, |it| it.registered_at);
            if since + REPORT < pipeline.clock.now() {
                pipeline.lose(run, "ended there, and never reported");
            }
        }
        // It has just registered. If it stays silent its lease ends.
        Word::Silent => {}
    }
    Ok(())
}

pub async fn all_restarted(pipeline: &Pipeline, runs: Vec<Watched>) -> store::Result<()> {
    for run in runs.iter().filter(|run| run.has_restarted()) {
        restarted(pipeline, run).await?;
    }
    Ok(())
}

/// The run is over its time by more than its executor may need to end it.
pub async fn over_time(pipeline: &Pipeline, run: &Watched) -> store::Result<()> {
    let Some(end) = run.ends_by() else {
        return Ok(());
    };
    let over_by = pipeline.clock.now() - end - ms(crate::recover::monitor::OVER_TIME);
    match word(pipeline, run).await {
        Word::Running => end_it(pipeline, run, over_by).await?,
        Word::Unknown => pipeline.lose(run, "over its time, and not known there"),
        Word::Ended if over_by > REPORT => pipeline.lose(run, "ended there, and never reported"),
        Word::Silent if over_by > PATIENCE => {
            pipeline.lose(run, "over its time, and its executor does not answer");
        }
        Word::Queued | Word::Ended | Word::Silent => {}
    }
    Ok(())
}

async fn end_it(pipeline: &Pipeline, run: &Watched, over_by: Millis) -> store::Result<()> {
    // It may have waited behind another run, and begun only then.
    if let Some(began_at) = pipeline.store.last_end_beside(run).await?
        && began_at + run.timeout_ms + ms(crate::recover::monitor::OVER_TIME) > pipeline.clock.now()
    {
        return Ok(());
    }
    let (Some(app), Some(address)) = (&run.app, &run.address) else {
        return Ok(());
    };
    // It may have signed off since it was asked about the run.
    if pipeline.registered(app, address).is_err() {
        return Ok(());
    }
    let job_id = i32::try_from(run.job_id).unwrap_or(i32::MAX);
    match pipeline.client.kill(address, app, job_id, run.run_id).await {
        Outcome::Accepted => {
            let seconds = run.timeout_ms / 1000;
            pipeline.outcomes.found(Finding {
                run_id: run.run_id,
                event: RunEvent::TimedOut,
                code: None,
                message: Some(format!(
                    "over its time-out of {seconds} s by a minute: its executor was asked to end it"
                )),
                reason: Some("timeout"),
                sent_at: None,
            });
        }
        _ if over_by > PATIENCE => pipeline.lose(run, "over its time, and cannot be ended there"),
        _ => {}
    }
    Ok(())
}

async fn word(pipeline: &Pipeline, run: &Watched) -> Word {
    let (Some(app), Some(address)) = (&run.app, &run.address) else {
        return Word::Unknown;
    };
    if pipeline.registered(app, address).is_err() {
        return Word::Silent;
    }
    let is_own = run.registered.as_ref().is_some_and(|it| it.boot_id.is_some());
    if !is_own {
        let job_id = i32::try_from(run.job_id).unwrap_or(i32::MAX);
        let limit = pipeline.settings.send_limit;
        match pipeline.client.idle_beat(address, app, job_id, limit).await {
            // Neither a running nor a waiting run of the job.
            Outcome::Accepted => return Word::Unknown,
            Outcome::Refused { .. } => {}
            Outcome::NotSent { .. } | Outcome::Unknown { .. } => return Word::Silent,
        }
    }
    let look = pipeline.client.look(address, app, run.run_id, run.due_at).await;
    match look {
        Err(why) => {
            tracing::debug!(run.id = run.run_id, reason = why, "an executor does not answer");
            Word::Silent
        }
        Ok(look) if is_own => own_word(&look),
        Ok(look) => match look.page {
            Some(page) if has_begun(&page) => Word::Running,
            // It is busy with the job: perhaps with another run.
            _ => Word::Queued,
        },
    }
}

fn own_word(look: &Look) -> Word {
    match (look.run_state.as_deref(), &look.page) {
        (Some("queued"), _) => Word::Queued,
        (Some("running"), _) => Word::Running,
        (Some("finished"), _) => Word::Ended,
        (_, Some(page)) if !page.is_end => Word::Running,
        // A log of an earlier process.
        _ => Word::Unknown,
    }
}
