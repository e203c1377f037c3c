//! What the engine needs of a job's definition, by id; cached by its revision in the engine.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use carillon_scheduler::Millis;
use sea_orm::{ColIdx, FromQueryResult, QueryResult, TryGetError, TryGetable};

use crate::calendar::pinned::Calendars;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::long;
use crate::error::Result;
use crate::views::JobStore;

/// Parameters of up to this number of bytes are read with their definition.
const SHORT: usize = 1024;
/// The API accepts no more bytes; a row that was written past the API is not read, however large it is.
pub const MOST_PARAMS: usize = 65_536;

/// A job's own parameters. A scan must not load them all: they are read when a run is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Params {
    Here(String),
    /// Not read yet.
    Apart,
    /// More than can be sent.
    TooLong,
}

impl TryGetable for Params {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> std::result::Result<Self, TryGetError> {
        Ok(Option::try_get_by(row, index)?.map_or(Self::Apart, Self::Here))
    }
}

/// Parameters that a run has in place of those of its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenParams {
    pub text: String,
    /// From a list with a text for each part: no other part of the fire has them.
    pub is_of_part: bool,
}

/// A job as it is stored; words and schedule are parsed by the engine, so that one bad row spoils only itself.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct StoredDefinition {
    pub job_id: i64,
    pub revision: i64,
    pub app_id: i64,
    pub app: String,
    pub name: String,
    pub handler: String,
    /// None: it has a handler.
    pub script_type: Option<String>,
    /// The current version of its script.
    pub script_version: Option<Millis>,
    /// Which of its graphs is the current one; None: it is no workflow.
    pub graph_version: Option<Millis>,
    /// Its request as JSON; None: it sends none.
    pub http: Option<String>,
    pub params: Params,
    pub schedule_text: String,
    pub anchor_at: Millis,
    pub spread_offset: i32,
    /// In the versions that this revision is planned with.
    #[sea_orm(skip)]
    pub calendars: Calendars,
    pub catch_up: String,
    pub misfire: String,
    pub misfire_threshold_ms: i64,
    pub misfire_limit: i32,
    pub misfire_window_ms: i64,
    pub route: String,
    pub route_labels: String,
    pub overlap: String,
    pub overlap_queue: i32,
    pub max_concurrent: i32,
    /// The names of the limits that its runs keep as JSON; None: it names none.
    pub limits: Option<String>,
    /// In seconds.
    pub priority: i32,
    pub block: String,
    pub timeout_seconds: i32,
    pub retries: i32,
    /// Into how many runs each fire is split.
    pub parts: i32,
    pub updated_at: Millis,
}

/// Asked before and after each mark: the answer is empty unless a job was edited.
pub(crate) static OUTDATED: Bulk = Bulk::text(
    &[long("id"), long("revision")],
    "SELECT u.id, u.revision FROM {list} LEFT JOIN job ON job.id = u.id WHERE job.revision IS NULL OR job.revision <> u.revision",
);

impl JobStore<'_> {
    /// The definitions of these jobs; those that do not exist are left out. Longer parameters are left where they are.
    pub async fn definitions(self, job_ids: &[i64]) -> Result<Vec<StoredDefinition>> {
        self.definitions_with(job_ids, SHORT, &Params::Apart).await
    }

    /// The same with all parameters.
    pub async fn whole_definitions(self, job_ids: &[i64]) -> Result<Vec<StoredDefinition>> {
        self.definitions_with(job_ids, MOST_PARAMS, &Params::TooLong).await
    }

    /// Parameters of up to `most` bytes are read; `longer` stands for others.
    async fn definitions_with(self, job_ids: &[i64], most: usize, longer: &Params) -> Result<Vec<StoredDefinition>> {
        let text = format!(
            "SELECT job.id AS job_id, job.revision, job.app_id, app.name AS app, job.name, job.handler, job.script_type, job.script_version, job.graph_version, job.http, \
             CASE WHEN job_params.params IS NULL THEN '' WHEN OCTET_LENGTH(job_params.params) <= {most} THEN job_params.params END AS params, \
             job.schedule_text, job.anchor_at, \
             job.spread_offset, job.catch_up, job.misfire, job.misfire_threshold_ms, job.misfire_limit, job.misfire_window_ms, \
             job.route, job.route_labels, job.overlap, job.overlap_queue, job.max_concurrent, job.limits, job.priority, job.block, job.timeout_seconds, job.retries, job.parts, job.updated_at \
             FROM job JOIN app ON app.id = job.app_id LEFT JOIN job_params ON job_params.job_id = job.id WHERE job.id IN ({{ids}})"
        );
        let rows = self.query(&self.engine_reads, &text, values![self.ids(job_ids)]).await?;
        let mut found: Vec<StoredDefinition> = self.readable("job", &rows);
        // A definition that is newer than its calendars here fails at the claim, by its revision.
        let named = |it: &&StoredDefinition| it.schedule_text.contains("\"calendars\"");
        let ids: Vec<i64> = found.iter().filter(named).map(|it| it.job_id).collect();
        let mut calendars = self.calendars().calendars_of(&self.engine_reads, &ids).await?;
        for definition in &mut found {
            if definition.params == Params::Apart {
                definition.params = longer.clone();
            }
            definition.calendars = calendars.remove(&definition.job_id).unwrap_or_default();
        }
        Ok(found)
    }

    /// How many fires are left of those of these jobs that are counted.
    pub async fn fires_left(self, job_ids: &[i64]) -> Result<HashMap<i64, u32>> {
        if job_ids.is_empty() {
            return Ok(HashMap::new());
        }
        let text = "SELECT id, fires_left FROM job WHERE fires_left IS NOT NULL AND id IN ({ids})";
        let left = |(id, left): (i64, i32)| (id, left.max(0).unsigned_abs());
        let rows = self.tuples(&self.engine_reads, text, values![self.ids(job_ids)]).await?;
        Ok(rows.into_iter().map(left).collect())
    }

    /// The pairs of job and revision that are out of date: the job has another revision by now, or does not exist any more.
    pub async fn outdated_definitions(self, known: &[(i64, i64)]) -> Result<HashSet<(i64, i64)>> {
        if known.is_empty() {
            return Ok(HashSet::new());
        }
        Ok(self.bulk_tuples(&self.engine_reads, &OUTDATED, &[], known).await?.into_iter().collect())
    }

    /// The parameters that these runs have in place of those of their jobs.
    pub async fn given_params(self, run_ids: &[i64]) -> Result<Vec<(i64, GivenParams)>> {
        let text = "SELECT run_id, params, is_of_part FROM run_input WHERE params IS NOT NULL AND run_id IN ({ids})";
        let given = |(run_id, text, is_of_part)| (run_id, GivenParams { text, is_of_part });
        let rows = self.tuples(&self.engine_reads, text, values![self.ids(run_ids)]).await?;
        Ok(rows.into_iter().map(given).collect())
    }
}
