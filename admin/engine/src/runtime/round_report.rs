//! What a round did, as the page *Nodes* shows it: numbers with a word for what they count.

use std::fmt::Debug;

/// A word of the console's catalogue and a number, in the order of the page.
pub type Counts = Vec<(&'static str, usize)>;

/// What a round of a service reports.
pub trait RoundReport: Debug + Send {
    /// Without what is 0: empty if the round found nothing to do.
    fn counts(&self) -> Counts;
}

pub(super) fn without_zeros<const N: usize>(counts: [(&'static str, usize); N]) -> Counts {
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

impl RoundReport for () {
    fn counts(&self) -> Counts {
        vec![]
    }
}

/// Runs, alarms or apps: the name of the service says which.
impl RoundReport for usize {
    fn counts(&self) -> Counts {
        without_zeros([("handled", *self)])
    }
}

/// The shards whose scans were woken.
impl RoundReport for Vec<i32> {
    fn counts(&self) -> Counts {
        without_zeros([("woken", self.len())])
    }
}
