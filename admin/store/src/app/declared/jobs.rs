//! What has become of each declared job.

use carillon_scheduler::Millis;

use crate::app::declared::words::DeclaredState;
use crate::db::sql::rows::Word;
use crate::error::Result;
use crate::views::DeclarationStore;

row_struct! {
    /// A declared job and the job that it stands for.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DeclaredJob {
        pub job_key: String,
        /// The key that it had in earlier builds; empty: it had no other.
        pub was: String,
        /// None: there is no job for it.
        pub job_id: Option<i64>,
        pub state: DeclaredState as Word,
        /// The build that declares it, or the last one that did.
        pub build: String,
        /// What its program asks for: warn, adopt, enforce.
        pub policy: String,
        /// File and line of its source.
        pub place: String,
        /// The members that the code names, as JSON.
        pub code: String,
        /// The members of the job when the mechanism wrote it last, as JSON.
        pub base: String,
        /// The members that differ, as JSON.
        pub report: String,
        /// Why the code was refused; empty: it was not.
        pub problem: String,
        /// Since when it is in this state.
        pub changed_at: Millis,
        /// Since when no live build declares it.
        pub orphan_at: Option<Millis>,
    }
}

const COLUMNS: &str =
    "job_key, was, job_id, state, build, policy, place, code, base, report, problem, changed_at, orphan_at";

impl DeclarationStore<'_> {
    /// The declared jobs of an app, by key.
    pub async fn jobs_of(self, app_id: i64) -> Result<Vec<DeclaredJob>> {
        let text = format!("SELECT {COLUMNS} FROM declared_job WHERE app_id = ? ORDER BY job_key");
        self.all(&self.read, &text, values![app_id]).await
    }

    /// What programs of its app declare of a job.
    pub async fn of_job(self, app_id: i64, job_id: i64) -> Result<Option<DeclaredJob>> {
        let text =
            format!("SELECT {COLUMNS} FROM declared_job WHERE job_id = ? AND app_id = ? ORDER BY job_key LIMIT 1");
        self.one(&self.read, &text, values![job_id, app_id]).await
    }

    /// All jobs of an app: id, key and revision, by id.
    pub async fn jobs_of_app(self, app_id: i64) -> Result<Vec<(i64, Option<String>, i64)>> {
        let text = "SELECT id, job_key, revision FROM job WHERE app_id = ? ORDER BY id";
        self.tuples(&self.read, text, values![app_id]).await
    }

    /// The job of the app with this name and handler; None: there is none, or several.
    pub async fn job_named(self, app_id: i64, name: &str, handler: &str) -> Result<Option<i64>> {
        let text = "SELECT id FROM job WHERE app_id = ? AND name = ? AND handler = ? ORDER BY id LIMIT 2";
        let found: Vec<i64> = self.tuples(&self.read, text, values![app_id, name, handler]).await?;
        Ok(if let [id] = found[..] { Some(id) } else { None })
    }

    /// Writes a declared job, in the place of the one with the key `was` if that is another one.
    pub async fn write_job(self, app_id: i64, was: &str, job: &DeclaredJob) -> Result<()> {
        let tx = self.begin_change().await?;
        let text = "DELETE FROM declared_job WHERE app_id = ? AND job_key IN (?, ?)";
        self.execute(&tx, text, values![app_id, was, job.job_key.as_str()]).await?;
        let DeclaredJob { job_key, was: former, job_id, build, policy, place, code, base, report, problem, .. } =
            job.clone();
        let (state, changed_at, orphan_at) = (job.state.as_str(), job.changed_at, job.orphan_at);
        let row = named![
            app_id, job_key, was: former, job_id, state, build, policy, place, code, base, report, problem, changed_at, orphan_at
        ];
        self.insert_row(&tx, "declared_job", row).await?;
        Ok(tx.commit().await?)
    }

    /// Forgets a declared job. The job itself stays.
    pub async fn forget_job(self, app_id: i64, key: &str) -> Result<()> {
        let text = "DELETE FROM declared_job WHERE app_id = ? AND job_key = ?";
        self.execute(&self.changes, text, values![app_id, key]).await.map(drop)
    }
}
