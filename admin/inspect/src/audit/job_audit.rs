//! One job, looked at as a whole: its history, its cursor, its records.

use carillon_scheduler::Millis;

use crate::audit::compare::{CompareInput, compare};
use crate::audit::difference::Difference;
use crate::audit::fixed_delay::FixedDelayAudit;
use carillon_store as store;
use carillon_store::job::deleted::Deleted;
use carillon_store::job::history::DefinitionVersion;
use carillon_store::run::view::records::Records;
use carillon_store::{Job, Store};

/// What was found of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobAudit {
    pub name: String,
    pub differences: Vec<Difference>,
    /// Instants after `from` were looked at up to here.
    pub reached: Millis,
    /// When it was deleted; it was looked at up to then.
    pub deleted_at: Option<Millis>,
}

/// A change lies at most so far before a span whose records it explains, in ms.
const BEFORE: i64 = 60_000;

/// Compares the records of a job with its schedule, of instants after `from`, up to and including `to`. At most `budget`
/// instants are worked out. None: there is no such job.
///
/// # Errors
/// The database could not be input.
pub async fn audit_job(
    store: &Store,
    job_id: i64,
    from: Millis,
    to: Millis,
    budget: usize,
) -> store::Result<Option<JobAudit>> {
    let mut found = None;
    // An edit between two reads would look like a gap: then it is read again.
    for _ in 0..5 {
        let Some((look, revision)) = try_audit(store, job_id, from, to, budget).await? else {
            return Ok(None);
        };
        let is_unchanged = store.job(job_id).await?.is_some_and(|job| job.revision == revision);
        found = Some(look);
        if is_unchanged {
            break;
        }
    }
    Ok(found)
}

/// All that a comparison needs.
pub struct AuditInput {
    pub job: Job,
    pub eras: Vec<(DefinitionVersion, Option<Millis>)>,
    pub records: Records,
}

impl AuditInput {
    /// None: there is no such job.
    pub async fn read(store: &Store, job_id: i64, from: Millis, to: Millis) -> store::Result<Option<Self>> {
        // The cursor first: what lies before it was committed with it.
        let Some(job) = store.job(job_id).await? else {
            return Ok(None);
        };
        let eras = store.eras(&job, from - BEFORE).await?;
        let eras = with_kept(store, job_id, eras).await?;
        let records = store.records_of(job_id, from, to).await?;
        Ok(Some(Self { job, eras, records }))
    }

    /// The differences after `from`, up to and including `to`, and how far it was looked.
    pub fn compare(&self, from: Millis, to: Millis, budget: usize) -> (Vec<Difference>, Millis) {
        compare(&CompareInput {
            job_id: self.job.id,
            from,
            to,
            cursor: self.job.next_fire_at,
            resume_from: self.job.resume_from_at,
            is_used_up: self.job.fires_left == Some(0),
            is_deleted: false,
            eras: &self.eras,
            records: &self.records,
            budget,
        })
    }
}

async fn try_audit(
    store: &Store,
    job_id: i64,
    from: Millis,
    to: Millis,
    budget: usize,
) -> store::Result<Option<(JobAudit, i64)>> {
    let Some(input) = AuditInput::read(store, job_id, from, to).await? else {
        return Ok(None);
    };
    let (mut differences, reached) = input.compare(from, to, budget);
    if has_delay(&input.eras) {
        // The links first: a chain that is whole by then was whole before.
        let links = store.delay_fires(job_id, from, to).await?;
        let is_broken = store.is_fixed_delay_stalled(input.job.shard, job_id).await?;
        let chain =
            FixedDelayAudit { job_id, from, to, eras: &input.eras, links: &links, records: &input.records, is_broken };
        differences.extend(chain.gaps());
        differences.sort_by_key(|difference| difference.from);
    }
    let job = input.job;
    let look = JobAudit { name: job.draft.name, differences, reached, deleted_at: None };
    Ok(Some((look, job.revision)))
}

/// Compares the records of a deleted job, up to its deletion, with its definitions.
///
/// # Errors
/// The database could not be input.
pub async fn audit_deleted_job(
    store: &Store,
    job: &Deleted,
    from: Millis,
    to: Millis,
    budget: usize,
) -> store::Result<JobAudit> {
    let (job_id, to) = (job.job_id, to.min(job.at));
    let eras = store.versions_of_deleted(job, from - BEFORE).await?;
    let eras = with_kept(store, job_id, eras).await?;
    let records = store.records_of(job_id, from, to).await?;
    let (mut differences, reached) = compare(&CompareInput {
        job_id,
        from,
        to,
        cursor: None,
        resume_from: None,
        is_used_up: false,
        is_deleted: true,
        eras: &eras,
        records: &records,
        budget,
    });
    if has_delay(&eras) {
        let chain = FixedDelayAudit {
            job_id,
            from,
            to,
            eras: &eras,
            links: &store.delay_fires(job_id, from, to).await?,
            records: &records,
            is_broken: false,
        };
        differences.extend(chain.gaps());
        differences.sort_by_key(|difference| difference.from);
    }
    Ok(JobAudit { name: job.name.clone(), differences, reached, deleted_at: Some(job.at) })
}

fn has_delay(eras: &[(DefinitionVersion, Option<Millis>)]) -> bool {
    let is_delay = |era: &DefinitionVersion| era.schedule().is_some_and(|it| it.is_delay());
    eras.iter().any(|(era, _)| is_delay(era))
}

/// Before which instant each finds records of the one before.
async fn with_kept(
    store: &Store,
    job_id: i64,
    eras: Vec<DefinitionVersion>,
) -> store::Result<Vec<(DefinitionVersion, Option<Millis>)>> {
    let mut found: Vec<(DefinitionVersion, Option<Millis>)> = vec![];
    for era in eras {
        let before = found.last().map(|(era, _)| era);
        // A definition with the same instants keeps only instants of its own; a new job has no definition before.
        let kept = match before {
            Some(before) if !before.is_like(&era) => store.kept_ahead(job_id, era.from).await?,
            _ => vec![],
        };
        let of_before = |at: &Millis| before.is_some_and(|era| era.may_include(*at));
        let kept = kept.into_iter().filter(of_before).max();
        found.push((era, kept));
    }
    Ok(found)
}
