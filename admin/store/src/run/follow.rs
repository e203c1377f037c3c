//! What follows from the end of a run, as bits of `run.follow` and `job.follow`. Runs with none of them are settled by one statement.

use carillon_scheduler::JobDraft;

/// The next fire of the job is counted from the end of the run.
pub const CHAIN: i16 = 1;
/// The job has children.
pub const CHILDREN: i16 = 2;
/// It is the run of a node: its workflow goes on from its end.
pub const NODE: i16 = 4;
/// It has handed in items: its success is not its end.
pub const MAP: i16 = 8;
/// It delivers items of another run, or reads their results: that run goes on from its end.
pub const ITEM: i16 = 16;
/// It is a workflow on its way, or its items are: no executor has it.
pub const HELD: i16 = 32;
/// Failures in a row of the job are counted.
pub const COUNTED: i16 = 256;
/// It has slots of limits, since its mark.
pub const SLOTS: i16 = 512;

/// By the word of a mark in SQL.
pub(crate) fn bits(word: &str) -> Option<i16> {
    Some(match word {
        "chain" => CHAIN,
        "children" => CHILDREN,
        "node" => NODE,
        "map" => MAP,
        "item" => ITEM,
        "held_map" => MAP | HELD,
        "held" => HELD,
        "slots" => SLOTS,
        "without_slots" => i16::MAX - SLOTS,
        // What a further attempt has of the one before.
        "inherited" => i16::MAX - HELD - MAP - SLOTS,
        _ => return None,
    })
}

/// The bits that each run of a job gets. A run of a fixed delay gets [`CHAIN`] as well, when it is inserted.
pub(crate) fn of_job(draft: &JobDraft) -> i16 {
    let children = if draft.children.is_empty() { 0 } else { CHILDREN };
    let counted = if draft.pause_after_failures > 0 { COUNTED } else { 0 };
    children | counted
}
