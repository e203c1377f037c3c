//! What became of a run that was sent and never answered: whoever may know is asked.
//!
//! An executor of our SDK keeps a journal of the runs that it was given, so it may be sent the same run again: it has it
//! already, or it takes it now, and it runs once in any case. Any other executor forgets; its log is the only witness, and
//! only of what has begun.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Millis, RunEvent};

use super::finding;
use crate::executor::{LogAnswer, LogPage, Outcome};
use crate::pipeline::Pipeline;
use crate::pipeline::dispatch::send::{headers, request};
use crate::pipeline::settings::ms;
use crate::store;
use crate::store::in_doubt::{Again, InDoubt};
use crate::store::settle::Finding;

/// Runs that are asked about at once; the others wait for the next round.
pub const AT_ONCE: usize = 64;

/// An executor that takes requests and answers none is not asked for ever.
const MOST_SENDS: i32 = 4;

/// What was learned.
enum Answer {
    /// It runs, has run, or will.
    Accepted,
    /// It has not run and will not.
    Refused { code: i32, message: String },
    /// Nothing yet, but its executor is there: again in the next round.
    Later,
    /// Nothing, and nobody is left to ask.
    Nothing,
}

pub async fn ask(pipeline: Arc<Pipeline>, run_id: i64) {
    match conclude(&pipeline, run_id).await {
        Ok(()) => {}
        Err(error) => {
            tracing::warn!(run.id = run_id, %error, "what became of a run could not be asked yet");
        }
    }
}

async fn conclude(pipeline: &Arc<Pipeline>, run_id: i64) -> store::Result<()> {
    let Some(doubt) = pipeline.store.in_doubt(run_id).await? else {
        return Ok(());
    };
    match answer(pipeline, &doubt).await? {
        Answer::Accepted => {
            // At once: it was accepted a while ago.
            pipeline
                .outcomes
                .accepted(run_id, first_sent_at(&doubt), Duration::ZERO);
            pipeline.outcomes.wake.notify_one();
        }
        Answer::Refused { code, message } => pipeline.outcomes.found(Finding {
            code: Some(code),
            ..finding(run_id, RunEvent::Refused, "refused", &message)
        }),
        Answer::Later => {}
        // Said once, here: the run may have arrived, so it is not sent again unless the job allows retries.
        Answer::Nothing => pipeline.outcomes.found(finding(
            run_id,
            RunEvent::Unresolved,
            "unknown",
            "sent, and no answer came",
        )),
    }
    Ok(())
}

/// When its first request may have left: the mark may be a little ahead of the instant, the request is not.
fn first_sent_at(doubt: &InDoubt) -> Millis {
    doubt.marked_at.max(doubt.run.due_at)
}

async fn answer(pipeline: &Pipeline, doubt: &InDoubt) -> store::Result<Answer> {
    let (Some(app), Some(address)) = (&doubt.app, &doubt.address) else {
        return Ok(Answer::Nothing);
    };
    let live = pipeline.executors.live(app, pipeline.clock.now());
    match live.iter().find(|candidate| candidate.address == *address) {
        Some(own) if own.keeps_a_journal && doubt.sends < MOST_SENDS => {
            let (token, now) = (rand::random(), pipeline.clock.now());
            let again = pipeline.store.mark_again(doubt, token, &pipeline.node, now);
            match again.await? {
                Again::Marked => {
                    pipeline.metrics.resends.inc();
                    send_again(pipeline, doubt, address).await
                }
                Again::Other => Ok(Answer::Later),
                Again::Disabled => Ok(look_into_the_log(pipeline, doubt, app, address).await),
            }
        }
        Some(_) => Ok(look_into_the_log(pipeline, doubt, app, address).await),
        // Only executors that are registered, or that an operator wrote down, are ever called.
        None => Ok(Answer::Nothing),
    }
}

async fn send_again(pipeline: &Pipeline, doubt: &InDoubt, address: &str) -> store::Result<Answer> {
    let run = &doubt.run;
    let params = pipeline.store.given_params(&[run.run_id]).await?.pop();
    // Read after the mark: an edit that was answered before it must be what is sent.
    let jobs = pipeline
        .jobs
        .current(&pipeline.store, &[run.job_id])
        .await?;
    let Some(job) = jobs.get(&run.job_id) else {
        return Ok(Answer::Later);
    };
    let until = pipeline.clock.now() + 2 * ms(pipeline.settings.send_limit);
    let request = request(run, job, params.map(|(_, params)| params));
    let outcome = pipeline
        .client
        .run(address, &request, &headers(run, job, until))
        .await;
    Ok(match outcome {
        Outcome::Accepted => Answer::Accepted,
        Outcome::Refused { code, message } => Answer::Refused { code, message },
        // It may just be starting again, or be slow. When its lease is over there is nobody left to ask.
        Outcome::NotSent { .. } | Outcome::Unknown { .. } => Answer::Later,
    })
}

async fn look_into_the_log(
    pipeline: &Pipeline,
    doubt: &InDoubt,
    app: &str,
    address: &str,
) -> Answer {
    let run = &doubt.run;
    let log = pipeline
        .client
        .read_log(address, app, run.run_id, run.due_at, 1);
    match log.await {
        Ok(LogAnswer::Page(page)) if has_begun(&page) => Answer::Accepted,
        // That there is no log yet proves nothing: it may be in a queue.
        _ => Answer::Nothing,
    }
}

/// What Java and pyxxl write into a page where they have no log.
const NO_LOG: [&str; 2] = ["readLog fail", "No such logid"];

/// Does this page of a log show that its run has begun?
pub fn has_begun(page: &LogPage) -> bool {
    let text = page.content.trim();
    page.to_line > 0 && !text.is_empty() && !NO_LOG.iter().any(|none| text.starts_with(none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_says_there_is_no_log_is_no_witness() {
        let page = |to_line, content: &str| LogPage {
            from_line: 1,
            to_line,
            content: content.into(),
            is_end: true,
        };
        assert!(has_begun(&page(1, "started\n")));
        assert!(!has_begun(&page(0, "readLog fail, logFile not exists")));
        assert!(!has_begun(&page(1, "No such logid logs.")));
        assert!(!has_begun(&page(3, " \n")));
    }
}
