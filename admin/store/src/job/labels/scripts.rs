//! Scripts of jobs. A job's row names the current version; the sources lie in a table of their own, which no scan reads.

use carillon_scheduler::{Millis, ScriptDraft, ScriptKind};
use sea_orm::Value;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::rows::Word;
use crate::error::{Error, Result};
use crate::job::change::ChangeContext;
use crate::job::stored_job::{Definition, Job};
use crate::views::JobStore;

/// Former versions of a job's script that are kept.
const KEPT: usize = 30;

row_struct! {
    /// A version of a job's script, without its source.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ScriptVersion {
        pub version: Millis,
        pub kind: ScriptKind as Word,
        /// In hexadecimal digits.
        pub sha256: String,
        pub bytes: i64,
        pub remark: String,
        pub author: String,
        pub created_at: Millis,
    }
}

/// A source that is to be stored for a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewScript {
    pub version: Millis,
    pub kind: ScriptKind,
    pub source: String,
    pub remark: String,
    pub author: String,
    pub created_at: Millis,
}

impl NewScript {
    fn row(&self, job_id: i64) -> Vec<Value> {
        let Self { version, kind, source, remark, author, created_at } = self;
        let (sha256, bytes) = (ScriptDraft::digest(source), source.len() as i64);
        let (source, remark, author) = (source.as_str(), remark.as_str(), author.as_str());
        values![job_id, *version, kind.as_str(), source, sha256, bytes, remark, author, *created_at]
    }
}

const COLUMNS: &str = "job_id, version, type, source, sha256, bytes, remark, author, created_at";
const SOURCE: &str = "SELECT source FROM job_script WHERE job_id = ? AND version = ?";

impl JobStore<'_> {
    /// The versions of a job's script that are kept, the newest first.
    pub async fn script_versions(self, job_id: i64) -> Result<Vec<ScriptVersion>> {
        let text = "SELECT version, type AS kind, sha256, bytes, remark, author, created_at FROM job_script WHERE job_id = ? \
                    ORDER BY version DESC";
        self.all(&self.read, text, values![job_id]).await
    }

    /// The source of a version, if it is kept.
    pub async fn script_source(self, job_id: i64, version: Millis) -> Result<Option<String>> {
        self.tuple(&self.read, SOURCE, values![job_id, version]).await
    }

    /// The same for the dispatcher.
    pub async fn script_to_send(self, job_id: i64, version: Millis) -> Result<Option<String>> {
        self.tuple(&self.engine_reads, SOURCE, values![job_id, version]).await
    }

    pub(crate) async fn insert_scripts(self, tx: &Transaction, scripts: &[(i64, NewScript)]) -> Result<()> {
        let rows = scripts.iter().map(|(job_id, script)| script.row(*job_id)).collect();
        self.insert_rows(tx, "job_script", COLUMNS, rows).await
    }

    /// Gives a locked job the script of its new definition. Each version is greater than all before it, also than those that were
    /// imported: an executor knows a script by this number alone.
    pub(crate) async fn apply_script(
        self,
        tx: &Transaction,
        (old, new): (&Job, &mut Job),
        definition: &Definition,
        ChangeContext { now, actor, .. }: ChangeContext<'_>,
    ) -> Result<()> {
        let Some(script) = &mut new.draft.script else {
            return Ok(());
        };
        let Some(source) = &definition.script_source else {
            // The source stays: the one that the job has now.
            let kept = old.draft.script.as_ref().filter(|kept| kept.kind == script.kind);
            *script =
                kept.cloned().ok_or_else(|| Error::Changed(format!("job {} has another script by now", old.id)))?;
            return Ok(());
        };
        let text = "SELECT version FROM job_script WHERE job_id = ? ORDER BY version DESC";
        let versions: Vec<Millis> = self.tuples(tx, text, values![old.id]).await?;
        let version = versions.first().map_or(now, |newest| now.max(newest + 1));
        if let Some(oldest) = versions.get(KEPT) {
            let text = "DELETE FROM job_script WHERE job_id = ? AND version <= ?";
            self.execute(tx, text, values![old.id, *oldest]).await?;
        }
        script.version = Some(version);
        let stored = NewScript {
            version,
            kind: script.kind,
            source: source.clone(),
            remark: script.remark.clone(),
            author: actor.name.clone(),
            created_at: now,
        };
        self.insert_scripts(tx, &[(old.id, stored)]).await
    }

    pub(crate) async fn drop_scripts(self, tx: &Transaction, job_id: i64) -> Result<()> {
        self.execute(tx, "DELETE FROM job_script WHERE job_id = ?", values![job_id]).await.map(drop)
    }
}
