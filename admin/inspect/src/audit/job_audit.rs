//! One job, looked at as a whole: its history, its cursor, its records.

use carillon_scheduler::Millis;

use crate::audit::compare::{CompareInput, Era, FireLimit, compare};
use crate::audit::difference::{Difference, GapReason};
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
    /// Its first instant that is not planned yet.
    pub next_fire_at: Option<Millis>,
    /// When it was deleted; it was looked at up to then.
    pub deleted_at: Option<Millis>,
}

/// A change lies at most so far before a span whose records it explains, in ms.
const BEFORE: i64 = 60_000;

/// Compares the records of a job with its schedule, of instants after `from`, up to and including `to`. At most `budget`
/// instants are worked out. None: there is no such job.
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
        let is_unchanged = store.jobs().get(job_id).await?.is_some_and(|job| job.revision == revision);
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
    pub eras: Vec<Era>,
    pub records: Records,
}

impl AuditInput {
    /// None: there is no such job.
    pub async fn read(store: &Store, job_id: i64, from: Millis, to: Millis) -> store::Result<Option<Self>> {
        // The cursor first: what lies before it was committed with it.
        let Some(job) = store.jobs().get(job_id).await? else {
            return Ok(None);
        };
        let (eras, records) = eras_and_records(store, job_id, (from, to), AuditedJob::Current(&job)).await?;
        Ok(Some(Self { job, eras, records }))
    }

    /// The differences after `from`, up to and including `to`, and how far it was looked.
    pub fn compare(&self, from: Millis, to: Millis, budget: usize) -> (Vec<Difference>, Millis) {
        compare(&self.span(from, to, budget))
    }

    fn span(&self, from: Millis, to: Millis, budget: usize) -> CompareInput<'_> {
        CompareInput {
            job_id: self.job.id,
            from,
            to,
            cursor: self.job.next_fire_at,
            resume_from: self.job.resume_from_at,
            is_deleted: false,
            eras: &self.eras,
            records: &self.records,
            budget,
        }
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
    let (differences, reached) = differences(store, &input.span(from, to, budget), Some(input.job.shard)).await?;
    let job = input.job;
    let look =
        JobAudit { name: job.draft.name, differences, reached, next_fire_at: job.next_fire_at, deleted_at: None };
    Ok(Some((look, job.revision)))
}

/// Compares the records of a deleted job, up to its deletion, with its definitions.
pub async fn audit_deleted_job(
    store: &Store,
    job: &Deleted,
    from: Millis,
    to: Millis,
    budget: usize,
) -> store::Result<JobAudit> {
    let (job_id, to) = (job.job_id, to.min(job.at));
    let (eras, records) = eras_and_records(store, job_id, (from, to), AuditedJob::Deleted(job)).await?;
    let (cursor, resume_from, is_deleted) = (None, None, true);
    let (eras, records) = (&eras, &records);
    let input = CompareInput { job_id, from, to, cursor, resume_from, is_deleted, eras, records, budget };
    let (differences, reached) = differences(store, &input, None).await?;
    Ok(JobAudit { name: job.name.clone(), differences, reached, next_fire_at: None, deleted_at: Some(job.at) })
}

#[derive(Clone, Copy)]
enum AuditedJob<'a> {
    Current(&'a Job),
    Deleted(&'a Deleted),
}

impl AuditedJob<'_> {
    async fn versions(self, store: &Store, since: Millis) -> store::Result<Vec<DefinitionVersion>> {
        match self {
            Self::Current(job) => store.jobs().definition_versions(job, since).await,
            Self::Deleted(job) => store.jobs().versions_of_deleted(job, since).await,
        }
    }
}

async fn eras_and_records(
    store: &Store,
    job_id: i64,
    (from, to): (Millis, Millis),
    job: AuditedJob<'_>,
) -> store::Result<(Vec<Era>, Records)> {
    let found = job.versions(store, from - BEFORE).await?;
    let records = store.runs().records_of(job_id, from, to).await?;
    let history = if has_limit(&found) { job.versions(store, Millis::MIN).await? } else { vec![] };
    let counts = AllFires { store, job_id, history, pruned_to: records.pruned_to };
    Ok((eras(counts, found).await?, records))
}

/// The differences, and up to where it was looked. `shard`: the one of a job that still exists.
async fn differences(
    store: &Store,
    input: &CompareInput<'_>,
    shard: Option<i32>,
) -> store::Result<(Vec<Difference>, Millis)> {
    let (mut differences, reached) = compare(input);
    if has_delay(input.eras) {
        let CompareInput { job_id, from, to, eras, records, .. } = *input;
        // The links first: a chain that is whole by then was whole before.
        let links = &store.runs().delay_fires(job_id, from, to).await?;
        let is_broken = match shard {
            Some(shard) => store.runs().is_fixed_delay_stalled(shard, job_id).await?,
            None => false,
        };
        differences.extend(FixedDelayAudit { job_id, from, to, eras, links, records, is_broken }.gaps());
        differences.sort_by_key(|difference| difference.from);
    }
    Ok((differences, reached))
}

fn has_delay(eras: &[Era]) -> bool {
    eras.iter().any(|era| era.version.schedule().is_some_and(|it| it.is_delay()))
}

fn has_limit(versions: &[DefinitionVersion]) -> bool {
    versions.iter().any(|version| max_fires(version).is_some())
}

fn max_fires(version: &DefinitionVersion) -> Option<u32> {
    version.schedule().and_then(|schedule| schedule.max_fires())
}

async fn eras(counts: AllFires<'_>, versions: Vec<DefinitionVersion>) -> store::Result<Vec<Era>> {
    let mut found: Vec<Era> = vec![];
    for version in versions {
        let before = found.last().map(|era| &era.version);
        // A definition with the same instants keeps only instants of its own; a new job has no definition before.
        let kept = match before {
            Some(before) if !before.is_like(&version) => {
                counts.store.runs().kept_ahead(counts.job_id, version.from).await?
            }
            _ => vec![],
        };
        let of_before = |at: &Millis| before.is_some_and(|version| version.may_include(*at));
        let kept = kept.into_iter().filter(of_before).max();
        let limit = counts.limit(&version).await?;
        found.push(Era { version, kept, limit });
    }
    Ok(found)
}

/// Counts the fires of a schedule that has a limit.
struct AllFires<'a> {
    store: &'a Store,
    job_id: i64,
    /// All definitions of the job, the oldest first.
    history: Vec<DefinitionVersion>,
    pruned_to: Option<Millis>,
}

impl AllFires<'_> {
    /// How many fires the schedule of a definition had by the definition's end. It cannot be known if records of them are deleted,
    /// or if the start of the schedule is not on record.
    async fn limit(&self, version: &DefinitionVersion) -> store::Result<Option<FireLimit>> {
        let Some(most) = max_fires(version) else {
            return Ok(None);
        };
        let limit = |last, reason| FireLimit { lacking: 0, last, skipped: 0, reason };
        let Some(start) = self.start(version) else {
            return Ok(Some(limit(Millis::MIN, GapReason::Unknown)));
        };
        let runs = self.store.runs();
        let (recorded, last) = runs.count_fires(self.job_id, start, version.to.unwrap_or(Millis::MAX)).await?;
        let last = last.unwrap_or(start);
        let lacking = (most as usize).saturating_sub(recorded);
        if lacking > 0 && self.pruned_to.is_some_and(|to| to > start) {
            return Ok(Some(limit(last, GapReason::Pruned)));
        }
        let skipped = if lacking > 0 { runs.count_skipped(self.job_id, last).await? } else { 0 };
        Ok(Some(FireLimit { lacking, skipped, ..limit(last, GapReason::UsedUp) }))
    }

    /// When the fires of its schedule began to be counted: with the first of the definitions in a row that have this schedule.
    fn start(&self, version: &DefinitionVersion) -> Option<Millis> {
        let draft = |version: &DefinitionVersion| version.schedule().map(|schedule| schedule.draft().clone());
        let wanted = draft(version);
        let until = self.history.iter().position(|it| it.to == version.to)?;
        let (mut start, mut is_known) = (version.from, false);
        for earlier in self.history[..=until].iter().rev() {
            match draft(earlier) {
                found if found == wanted => start = earlier.from,
                Some(_) => return Some(start),
                None => return None,
            }
            is_known = earlier.begun_by.is_some();
        }
        // The oldest definition that is on record: the job's first, or what is left of the history.
        is_known.then_some(start)
    }
}
