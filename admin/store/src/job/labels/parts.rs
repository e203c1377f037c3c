//! The lists of jobs whose fires are split into parts with parameters of their own. They lie beside the job's row, as each may have
//! 64 KiB: an expansion reads them, and what shows or changes the job.

use carillon_scheduler::{Millis, Parts};
use foldhash::HashMap;
use sea_orm::{ConnectionTrait, Value};

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::job::stored_job::Job;
use crate::views::JobStore;

impl JobStore<'_> {
    /// Fills in the lists of those jobs that have one.
    pub(crate) async fn add_parts(self, db: &impl ConnectionTrait, jobs: &mut [Job]) -> Result<()> {
        let split: Vec<i64> = jobs.iter().filter(|job| !job.draft.parts.is_one()).map(|job| job.id).collect();
        if split.is_empty() {
            return Ok(());
        }
        let mut lists: HashMap<i64, Vec<String>> = HashMap::default();
        let text = "SELECT job_id, params FROM job_part WHERE job_id IN ({ids}) ORDER BY job_id, part";
        for (job_id, params) in self.tuples(db, text, values![self.ids(&split)]).await? {
            lists.entry(job_id).or_default().push(params);
        }
        for job in jobs {
            if let Some(texts) = lists.remove(&job.id) {
                job.draft.parts = Parts::Each(texts);
            }
        }
        Ok(())
    }

    pub(crate) async fn insert_parts(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        self.insert_rows(tx, "job_part", "job_id, part, params", jobs.iter().flat_map(rows).collect()).await
    }

    /// Fires that are expanded from now on get the new list.
    pub(crate) async fn write_parts(self, tx: &Transaction, old: &Job, new: &Job, now: Millis) -> Result<()> {
        if old.draft.parts == new.draft.parts {
            return Ok(());
        }
        self.keep_parts(tx, old, now).await?;
        self.drop_parts(tx, old.id).await?;
        self.insert_parts(tx, std::slice::from_ref(new)).await
    }

    pub(crate) async fn drop_parts(self, tx: &Transaction, job_id: i64) -> Result<()> {
        self.execute(tx, "DELETE FROM job_part WHERE job_id = ?", values![job_id]).await.map(drop)
    }
}

fn rows(job: &Job) -> Vec<Vec<Value>> {
    let texts = job.draft.parts.texts().unwrap_or_default();
    (0i32..).zip(texts).map(|(part, text)| values![job.id, part, text.as_str()]).collect()
}
