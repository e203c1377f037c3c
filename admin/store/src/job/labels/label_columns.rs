//! The columns of description, notes and tags, and how they are read.

use carillon_scheduler::JobDraft;
use carillon_scheduler::job::NOTES;
use sea_orm::{DbErr, QueryResult};

use crate::job::labels::tags;

/// The columns of `job_label` beside the job's id; each note has the one of its name.
pub(super) fn columns() -> impl Iterator<Item = &'static str> {
    ["description", "tags"].into_iter().chain(NOTES.iter().map(|note| note.member))
}

/// The columns of a table `l`, for [`read_labels`].
pub(crate) fn selected() -> String {
    columns().map(|column| format!("l.{column}")).collect::<Vec<_>>().join(", ")
}

/// Reads what [`selected`] has selected. A job without labels has no row.
pub(crate) fn read_labels(row: &QueryResult, draft: &mut JobDraft) -> std::result::Result<(), DbErr> {
    let text = |column| Ok::<_, DbErr>(row.try_get::<Option<String>>("", column)?.unwrap_or_default());
    draft.description = text("description")?;
    draft.tags = tags::tags_of(&text("tags")?);
    for note in NOTES {
        note.set(draft, text(note.member)?);
    }
    Ok(())
}
