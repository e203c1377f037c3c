//! Description, notes and tags of a job. They lie beside its row, which each claim reads.

use carillon_scheduler::JobDraft;
use carillon_scheduler::job::NOTES;
use sea_orm::Value;

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::job::labels::label_columns::columns;
use crate::job::labels::tags;
use crate::job::stored_job::Job;
use crate::people::grants::VisibleApps;
use crate::views::JobStore;

const TAG: &str = "tag, job_id";

impl JobStore<'_> {
    pub(crate) async fn insert_labels(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        let has_one = |job: &&Job| texts(&job.draft).iter().any(|text| !text.is_empty());
        let labels = jobs.iter().filter(has_one).map(label_row).collect();
        let columns = ["job_id"].into_iter().chain(columns()).collect::<Vec<_>>().join(", ");
        self.insert_rows(tx, "job_label", &columns, labels).await?;
        self.insert_rows(tx, "job_tag", TAG, jobs.iter().flat_map(tag_rows).collect()).await
    }

    pub(crate) async fn write_labels(self, tx: &Transaction, old: &Job, new: &Job) -> Result<()> {
        if texts(&old.draft) == texts(&new.draft) {
            return Ok(());
        }
        self.drop_labels(tx, old.id).await?;
        self.insert_labels(tx, std::slice::from_ref(new)).await
    }

    pub(crate) async fn drop_labels(self, tx: &Transaction, job_id: i64) -> Result<()> {
        for text in ["DELETE FROM job_label WHERE job_id = ?", "DELETE FROM job_tag WHERE job_id = ?"] {
            self.execute(tx, text, values![job_id]).await?;
        }
        Ok(())
    }

    /// The tags of visible jobs, by name, at most `limit`.
    pub async fn tags_in_use(self, visible: &VisibleApps, limit: u32) -> Result<Vec<String>> {
        let condition = visible.and_job("job_id");
        let text = format!("SELECT DISTINCT tag FROM job_tag WHERE tag > ''{condition} ORDER BY tag LIMIT ?");
        self.tuples(&self.read, &text, values![i64::from(limit)]).await
    }

    /// The owners of visible jobs, by name, at most `limit`.
    pub async fn owners_in_use(self, visible: &VisibleApps, limit: u32) -> Result<Vec<String>> {
        let condition = visible.and_job("job_id");
        let text = format!("SELECT DISTINCT owner FROM job_label WHERE owner > ''{condition} ORDER BY owner LIMIT ?");
        self.tuples(&self.read, &text, values![i64::from(limit)]).await
    }
}

/// In the order of [`columns`].
fn texts(draft: &JobDraft) -> Vec<String> {
    let first = [draft.description.clone(), tags::joined(&draft.tags)];
    first.into_iter().chain(NOTES.iter().map(|note| note.of(draft).to_owned())).collect()
}

fn label_row(job: &Job) -> Vec<Value> {
    [job.id.into()].into_iter().chain(texts(&job.draft).into_iter().map(Value::from)).collect()
}

fn tag_rows(job: &Job) -> Vec<Vec<Value>> {
    job.draft.tags.iter().map(|tag| values![tag.as_str(), job.id]).collect()
}
