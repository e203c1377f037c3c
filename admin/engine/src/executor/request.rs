//! What a run's request carries: its body, and the headers beside it.

use carillon_protocol::headers::{PHASE_ITEMS, PHASE_REDUCE};
use carillon_scheduler::job::placeholders::{MOST_FILLED, PlaceholderValues, fill, may_hold_placeholders};
use carillon_scheduler::{BlockStrategy, Cause, FireKey, Millis, ScriptKind, Traceparent, Zone};

use crate::executor::client::{RunHeaders, RunRequest};
use crate::job_cache::CachedJob;
use carillon_store::job::job_row::{GivenParams, Params};
use carillon_store::run::adopt::ClaimedRun;

/// The body of a run's request. `given`: what the run has in place of its job's parameters. `script`: the source of the job's script, if it has one.
pub fn body(run: &ClaimedRun, job: &CachedJob, given: Option<GivenParams>, script: Option<&str>) -> RunRequest {
    // Another one would refuse a delivery, or end one, where an executor gets two.
    let own_block = || job.rules.as_ref().map_or(BlockStrategy::default(), |rules| rules.block);
    let block = if run.cause == Cause::Item { BlockStrategy::Serial } else { own_block() };
    let glue_type = job.script().map_or("BEAN", ScriptKind::glue_type);
    let (cached, job) = (job, &job.stored);
    let params = filled_params(run, cached, given, || own_params(cached));
    RunRequest {
        job_id: i32::try_from(run.job_id).unwrap_or(i32::MAX),
        handler: job.handler.clone(),
        params,
        block_strategy: block_word(block).to_owned(),
        timeout_seconds: job.timeout_seconds,
        log_id: run.run_id,
        log_date_time: run.due_at,
        glue_type: glue_type.into(),
        glue_source: script.unwrap_or_default().to_owned(),
        // An executor knows a script by this number alone.
        glue_updatetime: job.script_version.unwrap_or(job.updated_at),
        // The number of a delivery is none of a part.
        broadcast_index: if run.cause == Cause::Item { 0 } else { run.part },
        broadcast_total: run.parts,
    }
}

/// The parameters of a job.
pub fn own_params(job: &CachedJob) -> String {
    match &job.stored.params {
        Params::Here(text) => text.clone(),
        // What is too long is refused before a request is made of it.
        Params::Apart | Params::TooLong => String::new(),
    }
}

/// The parameters of a run, given with its fire or else its job's own, with their placeholders replaced.
pub fn filled_params(
    run: &ClaimedRun,
    job: &CachedJob,
    given: Option<GivenParams>,
    own: impl FnOnce() -> String,
) -> String {
    // The result of a parent and the items of a run are texts of an executor, and a workflow has filled the parameters of its nodes.
    let is_given = given.as_ref().is_some_and(|given| !given.is_of_part);
    let is_result = matches!(run.cause, Cause::Child | Cause::Node | Cause::Item) && is_given;
    let params = given.map_or_else(own, |given| given.text);
    match may_hold_placeholders(&params) && !is_result {
        true => fill(&params, &placeholder_values(run, job.zone())).into_owned(),
        false => params,
    }
}

/// What placeholders stand for.
pub(super) fn placeholder_values(run: &ClaimedRun, zone: Zone) -> PlaceholderValues {
    let ClaimedRun { run_id, job_id, scheduled_at, attempt, part, parts, .. } = *run;
    PlaceholderValues { scheduled_at, zone, run_id, job_id, attempt, part, parts }
}

/// What a run takes in JSON beside its texts, at most: names of members, numbers, its fire key.
const MEMBERS: usize = 800;

/// Bytes of [`body`] and the headers as JSON, at most.
pub fn size_at_most(job: &CachedJob, given: Option<&GivenParams>) -> usize {
    let params = match (given, &job.stored.params) {
        (Some(GivenParams { text, .. }), _) | (None, Params::Here(text)) => {
            escaped_len(text) + if may_hold_placeholders(text) { MOST_FILLED } else { 0 }
        }
        (None, Params::Apart | Params::TooLong) => 0,
    };
    MEMBERS + params + escaped_len(&job.stored.handler)
}

/// Bytes of a text in JSON, as serde_json writes it.
fn escaped_len(text: &str) -> usize {
    let len = |byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(len).sum()
}

/// The word of the protocol for a block strategy.
const fn block_word(strategy: BlockStrategy) -> &'static str {
    match strategy {
        BlockStrategy::Serial => carillon_protocol::BlockStrategy::Serial,
        BlockStrategy::DiscardLater => carillon_protocol::BlockStrategy::DiscardLater,
        BlockStrategy::CoverEarly => carillon_protocol::BlockStrategy::CoverEarly,
    }
    .as_str()
}

/// The job's own parameters cannot be sent, and none were given with the fire.
pub fn is_unsendable(job: &CachedJob, given: Option<&GivenParams>) -> bool {
    given.is_none() && job.stored.params == Params::TooLong
}

/// What travels beside the body. An executor that gets it after `not_after` must refuse it.
pub fn headers<'a>(cluster: &str, run: &ClaimedRun, job: &'a CachedJob, not_after: Millis) -> RunHeaders<'a> {
    RunHeaders {
        app: &job.stored.app,
        fire_key: fire_key(run).to_string(),
        traceparent: traceparent(cluster, run),
        scheduled_at: run.scheduled_at,
        attempt: run.attempt,
        epoch: run.epoch,
        not_after,
        phase: phase_of(run),
        journal_id: None,
    }
}

pub fn fire_key(run: &ClaimedRun) -> FireKey {
    FireKey { job_id: run.job_id, cause: run.cause, fire_no: run.fire_no, part: run.part }
}

/// The trace of a run: that of the request which asked for it, or its fire's own.
pub fn traceparent(cluster: &str, run: &ClaimedRun) -> Traceparent {
    let incoming = run.traceparent.as_deref().and_then(Traceparent::parse);
    Traceparent::of_run(cluster, fire_key(run), run.run_id, incoming)
}

/// What a run has to do with the items of the run that its fire is named after: part 0 reads their results, the others deliver them.
fn phase_of(run: &ClaimedRun) -> Option<&'static str> {
    (run.cause == Cause::Item).then_some(if run.part == 0 { PHASE_REDUCE } else { PHASE_ITEMS })
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: G18
    #[test]
    fn the_length_of_a_text_is_that_of_its_json() {
        for text in ["", "plain", "\"quoted\" \\ \r\n\t", "\u{1}\u{8}\u{c}\u{1f}", "é 中 \u{7f}"] {
            assert_eq!(escaped_len(text) + 2, serde_json::to_string(text).unwrap().len(), "{text:?}");
        }
    }
}
