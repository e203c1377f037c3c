//! What HTTP jobs have sent and got: the log of a run that no executor keeps.

use crate::error::Result;
use crate::views::RunStore;

impl RunStore<'_> {
    /// Stores the log of a run; one that was sent again has the log of its last request.
    pub async fn write_http_log(self, run_id: i64, text: &str) -> Result<()> {
        let update = "UPDATE http_log SET content = ? WHERE run_id = ?";
        if self.execute(&self.write, update, values![text, run_id]).await? == 0 {
            self.insert_row(&self.write, "http_log", named![run_id, content: text]).await?;
        }
        Ok(())
    }

    /// None: the run has sent no request.
    pub async fn http_log(self, run_id: i64) -> Result<Option<String>> {
        self.tuple(&self.read, "SELECT content FROM http_log WHERE run_id = ?", values![run_id]).await
    }

    /// The end of the run is wished for.
    pub async fn is_kill_requested(self, run_id: i64) -> Result<bool> {
        let text = "SELECT id FROM run WHERE id = ? AND kill_asked_at IS NOT NULL";
        Ok(self.tuple::<i64>(&self.engine_reads, text, values![run_id]).await?.is_some())
    }
}
