//! The checker: reads files and a dump, knows no line of the product, and believes nobody.

mod callbacks;
mod children;
mod delivery;
mod edits;
mod findings;
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

#[cfg(test)]
mod tests;

pub use findings::{Figure, Findings};
pub use lateness::ClassTimes;

use self::index::Index;
use crate::record::History;

/// For those who draw what was checked.
pub fn index_of(history: &History) -> Index<'_> {
    Index::new(history)
}

/// All checks, in the order of the plan.
pub fn check(history: &History) -> Findings {
    let targets = targets::of_all(history);
    let index = Index::new(history);
    let mut findings = Findings::default();
    recorded::check(history, &targets, &index, &mut findings);
    delivery::check(history, &targets, &index, &mut findings);
    lateness::check(history, &index, &mut findings);
    matching::check(history, &targets, &index, &mut findings);
    callbacks::check(history, &index, &mut findings);
    children::check(history, &index, &mut findings);
    retries::check(history, &index, &mut findings);
    edits::check(history, &mut findings);
    processes::check(history, &index, &mut findings);
    growth::check(history, &mut findings);
    findings
}
