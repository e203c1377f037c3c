//! The app that an object belongs to. A run keeps its app when its job is deleted.

use crate::error::Result;
use crate::store::Store;

impl Store {
    pub async fn app_of_job(&self, job_id: i64) -> Result<Option<i64>> {
        self.tuple(&self.read, "SELECT app_id FROM job WHERE id = ?", values![job_id]).await
    }

    pub async fn app_of_run(&self, run_id: i64) -> Result<Option<i64>> {
        self.tuple(&self.read, "SELECT app_id FROM run WHERE id = ?", values![run_id]).await
    }

    pub async fn app_of_backfill(&self, id: i64) -> Result<Option<i64>> {
        let text = "SELECT j.app_id FROM backfill b JOIN job j ON j.id = b.job_id WHERE b.id = ?";
        self.tuple(&self.read, text, values![id]).await
    }
}
