//! Where the database of xxl-job is, and what the commands of this folder share.

use carillon_import::xxl_job::{self, Source, SourceDatabase};
use carillon_store::Store;
use clap::Args;
use foldhash::HashMap;

use crate::cli::arguments::InvalidInput;
use crate::cli::secret_files::given_or_in_file;
use crate::config;

/// Where the database of xxl-job is.
#[derive(Args)]
pub struct SourceArgs {
    /// mysql://user:password@host:3306/xxl_job, for MariaDB too; SELECT on its tables is enough
    #[arg(long, env = "CARILLON_XXL_JOB_URL", value_name = "URL", hide_env_values = true)]
    from: Option<String>,
    /// File with what --from would hold
    #[arg(long, env = "CARILLON_XXL_JOB_URL_FILE", value_name = "FILE")]
    from_file: Option<String>,
    /// The name under which imports from it are remembered, where it must stay the same [default: the name of the database]
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
}

/// Characters of a source's name.
const SOURCE: usize = 64;

impl SourceArgs {
    pub async fn connect(&self) -> anyhow::Result<SourceDatabase> {
        if let Some(name) = self.source.as_ref().filter(|name| name.is_empty() || name.chars().count() > SOURCE) {
            return Err(InvalidInput(format!("--source: `{name:.80}` has no 1 to {SOURCE} characters")).into());
        }
        let found = given_or_in_file("from-file", self.from.as_deref(), self.from_file.as_deref());
        let address = found.map_err(|problem| config::Error { problems: vec![problem] })?;
        let right = "--from: give the address of xxl-job's database, mysql://user:password@host:3306/xxl_job";
        let address = address.ok_or_else(|| InvalidInput(right.to_owned()))?;
        SourceDatabase::connect(&address).await.map_err(usage)
    }

    pub async fn read(&self) -> anyhow::Result<Source> {
        let db = self.connect().await?;
        let source = db.read(self.source.as_deref()).await.map_err(usage);
        db.close().await?;
        source
    }
}

/// Wrong input ends with exit code 2.
pub fn usage(error: xxl_job::Error) -> anyhow::Error {
    match error {
        xxl_job::Error::Input(text) => InvalidInput(text).into(),
        error => error.into(),
    }
}

/// The numbers there of the jobs that were imported, by those here.
pub async fn numbers(store: &Store, source: &str) -> anyhow::Result<HashMap<i64, i64>> {
    let origins = store.imports().origins(source).await?;
    Ok(origins.iter().map(|origin| (origin.job_id, origin.source_id)).collect())
}
