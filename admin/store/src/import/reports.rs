//! What the last import of each source said, and how far the apps have come.

use carillon_scheduler::Millis;
use sea_orm::FromQueryResult;

use crate::db::sql::retry;
use crate::error::Result;
use crate::views::ImportStore;

/// The report of an import.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct StoredReport {
    pub source: String,
    pub imported_at: Millis,
    /// JSON, as the importer wrote it.
    pub report: String,
}

/// The jobs of an app that were imported.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct ImportProgress {
    pub app: String,
    pub jobs: i64,
    pub enabled: i64,
    /// Disabled, with the tag that was asked for.
    pub waiting: i64,
}

impl ImportStore<'_> {
    /// Keeps the report of the last import of a source in place of an earlier one.
    pub async fn keep_report(self, report: &StoredReport) -> Result<()> {
        retry::on_race(|| async {
            let tx = self.begin_change().await?;
            let StoredReport { source, imported_at, report } = report;
            let text = "UPDATE import_report SET imported_at = ?, report = ? WHERE source = ?";
            let values = values![*imported_at, report.as_str(), source.as_str()];
            if self.execute(&tx, text, values).await? == 0 {
                let row = values![source.as_str(), *imported_at, report.as_str()];
                self.insert_rows(&tx, "import_report", "source, imported_at, report", vec![row]).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }

    /// The last import first.
    pub async fn reports(self) -> Result<Vec<StoredReport>> {
        let text = "SELECT source, imported_at, report FROM import_report ORDER BY imported_at DESC, source";
        self.all(&self.read, text, values![]).await
    }

    /// Of each app with jobs from a source, by name; `tag` marks the jobs that wait while they are disabled.
    pub async fn progress(self, source: &str, tag: &str) -> Result<Vec<ImportProgress>> {
        let text = "SELECT a.name AS app, COUNT(*) AS jobs, \
             COUNT(CASE WHEN j.enabled = TRUE THEN 1 END) AS enabled, \
             COUNT(CASE WHEN j.enabled = FALSE AND t.job_id IS NOT NULL THEN 1 END) AS waiting \
             FROM import_origin o JOIN job j ON j.id = o.job_id JOIN app a ON a.id = j.app_id \
             LEFT JOIN job_tag t ON t.job_id = j.id AND t.tag = ? WHERE o.source = ? GROUP BY a.name ORDER BY a.name";
        self.all(&self.read, text, values![tag, source]).await
    }
}
