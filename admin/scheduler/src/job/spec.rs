use super::draft::JobDraft;
use super::labels::NOTES;
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

impl JobSpec {
    /// The draft that was checked, in the form in which the server keeps it: what was parsed, texts without blanks around them, tags in
    /// order.
    pub fn normal(&self, draft: &JobDraft) -> JobDraft {
        let mut tags = draft.tags.clone();
        tags.sort_unstable();
        tags.dedup();
        let mut normal = JobDraft {
            name: self.name.clone(),
            handler: self.handler.clone(),
            description: draft.description.trim().replace("\r\n", "\n"),
            tags,
            schedule: self.schedule.draft(),
            route_labels: self.route_labels.to_string(),
            ..draft.clone()
        };
        for note in NOTES {
            note.set(&mut normal, note.of(draft).trim().to_owned());
        }
        normal
    }
}
