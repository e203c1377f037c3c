//! The checker: it reads files and a dump, uses no code of the product, and compares each source with the others.

mod bounds;
mod callbacks;
mod delivery;
mod edits;
mod exclusive;
mod findings;
mod followers;
mod growth;
mod index;
mod lateness;
mod machine;
mod matching;
mod processes;
mod recorded;
mod retries;
mod targets;
mod unclear;
mod unknown_outcomes;

#[cfg(test)]
mod tests;

pub use findings::{Figure, Findings};
pub use lateness::ClassTimes;

use self::bounds::Bounds;
use self::index::Index;
use crate::record::History;

/// For the drawing of the time line.
pub fn index_of(history: &History) -> Index<'_> {
    Index::new(history)
}

/// All checks, in the order of the plan.
pub fn check(history: &History) -> Findings {
    let targets = targets::of_all(history);
    let index = Index::new(history);
    let bounds = Bounds::new(history);
    let mut findings = Findings::default();
    recorded::check(history, &targets, &index, &mut findings);
    delivery::check(history, &targets, &index, &mut findings);
    lateness::check(history, &index, &bounds, &mut findings);
    matching::check(history, &targets, &index, &bounds, &mut findings);
    callbacks::check(history, &index, &mut findings);
    followers::children::check(history, &index, &mut findings);
    followers::delayed::check(history, &index, &bounds, &mut findings);
    followers::flows::check(history, &index, &mut findings);
    followers::items::check(history, &index, &mut findings);
    retries::check(history, &index, &mut findings);
    edits::check(history, &mut findings);
    exclusive::limits::check(history, &mut findings);
    exclusive::loops::check(history, &bounds.machine, &mut findings);
    processes::check(history, &index, &mut findings);
    growth::check(history, &mut findings);
    unknown_outcomes::check(history, &index, &mut findings);
    findings
}
