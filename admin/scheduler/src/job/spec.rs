use crate::route::Labels;
use crate::schedule::Schedule;

/// What the check of a [`JobDraft`](super::JobDraft) has parsed; the other members are used as they stand in the draft.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSpec {
    /// The name for users without blanks around it, 1 to 255 characters. Need not be unique.
    pub name: String,
    /// The name of the handler in the executor without blanks around it, 1 to 255 characters; empty: the job has a script.
    pub handler: String,
    /// When it fires.
    pub schedule: Schedule,
    /// The labels that an executor must have to get runs of the job.
    pub route_labels: Labels,
}
