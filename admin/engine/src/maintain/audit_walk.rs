//! The slow part of the audit: a walk over all jobs of this node's shards, a fixed number a step.
//!
//! A pass compares one span for all jobs of a shard; the next pass begins where that span ended. So each instant is looked at, at
//! the latest when a pass has been completed after it. The walk goes by the jobs and not by their cursors: a job whose last fire is
//! planned has no cursor any more.

use std::collections::VecDeque;

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use carillon_scheduler::Millis;

use crate::job_cache::{CachedJob, JobCache};
use carillon_store as store;
use carillon_store::Store;
use carillon_store::run::view::records::ScheduledJob;

/// Jobs of the shards that are held at which a step looks, and jobs that it reads for it: the others are for other nodes.
const JOBS: usize = 2_000;
const READ: usize = 20_000;
/// Instants of one job. One that has more within a pass fires so often that the quick part never loses sight of it.
const INSTANTS: usize = 500;
/// Jobs that a step looks at one by one, because they seem to lack something.
const SUSPECTS: usize = 50;
/// A node that takes a shard looks this far back: the pass of the holder before it was not completed.
pub const AT_START: i64 = 24 * 3_600_000;

/// How far a shard was looked at, by the holder with this epoch.
#[derive(Clone, Copy)]
struct ShardProgress {
    epoch: i64,
    from: Millis,
}

/// A pass over the jobs of the shards that were held when it began.
struct Pass {
    shards: Vec<(i32, i64)>,
    to: Millis,
    /// Jobs up to this id were looked at.
    behind: i64,
}

/// Where the walk is.
#[derive(Default)]
pub struct AuditCursor {
    shards: HashMap<i32, ShardProgress>,
    pass: Option<Pass>,
    /// What was found and is not reported yet.
    found: VecDeque<Suspect>,
    /// Jobs that have had all their fires, at these revisions: they would seem to lack something in each pass.
    used_up: HashMap<i64, i64>,
}

/// A job that seems to lack something in a span.
#[derive(Clone, Copy)]
pub struct Suspect {
    pub job_id: i64,
    pub revision: i64,
    pub from: Millis,
    pub to: Millis,
}

impl AuditCursor {
    /// Looks at the next jobs, as far as `end`; of the shards that are held, with their epochs. Not while something that was found
    /// waits.
    pub async fn step(
        &mut self,
        store: &Store,
        jobs: &JobCache,
        held: &[(i32, i64)],
        end: Millis,
    ) -> store::Result<()> {
        if !self.found.is_empty() {
            return Ok(());
        }
        self.shards.retain(|shard, progress| held.contains(&(*shard, progress.epoch)));
        for (shard, epoch) in held {
            self.shards.entry(*shard).or_insert(ShardProgress { epoch: *epoch, from: end - AT_START });
        }
        let pass = self.pass.get_or_insert_with(|| Pass { shards: held.to_vec(), to: end, behind: 0 });
        let (mut looked, mut read) = (0, 0);
        while looked < JOBS && read < READ && self.found.len() < SUSPECTS {
            let page = store.runs().scheduled_jobs(pass.behind, JOBS).await?;
            let is_last = page.len() < JOBS;
            let end_of_page = page.last().map_or(pass.behind, |job| job.job_id);
            read += page.len();
            let spans: Vec<(ScheduledJob, Millis)> = page
                .into_iter()
                .filter(|job| self.used_up.get(&job.job_id) != Some(&job.revision))
                .filter_map(|job| Some((job, self.shards.get(&job.shard)?)))
                .filter(|(job, progress)| pass.shards.contains(&(job.shard, progress.epoch)))
                .map(|(job, progress)| (job, progress.from))
                .collect();
            looked += spans.len();
            let (found, reached) = look(store, jobs, &spans, pass.to).await?;
            self.found.extend(found);
            match reached {
                // The others of this page come with the next step.
                Some(job_id) => pass.behind = job_id,
                None if !is_last => pass.behind = end_of_page,
                None => {
                    for (shard, epoch) in &pass.shards {
                        let progress = self.shards.get_mut(shard).filter(|progress| progress.epoch == *epoch);
                        if let Some(progress) = progress {
                            progress.from = pass.to;
                        }
                    }
                    self.pass = None;
                    break;
                }
            }
        }
        Ok(())
    }

    /// The next job that seems to lack something; it stays until it is [reported](Self::drop_reported).
    pub fn next_suspect(&self) -> Option<Suspect> {
        self.found.front().copied()
    }

    /// What the walk has found first is reported.
    pub fn drop_reported(&mut self) {
        self.found.pop_front();
    }

    /// The walk passes over the job from now on, until it is edited.
    pub fn pass_over(&mut self, suspect: Suspect) {
        // Deleted jobs are not taken out: what is still there is looked at once more.
        if self.used_up.len() >= MOST_USED_UP {
            self.used_up.clear();
        }
        self.used_up.insert(suspect.job_id, suspect.revision);
    }
}

/// Jobs that are passed over.
const MOST_USED_UP: usize = 100_000;

/// The suspects among these jobs, of instants after those beside them, up to `to`; and, when there are too many, the last job that
/// was looked at.
async fn look(
    store: &Store,
    cache: &JobCache,
    spans: &[(ScheduledJob, Millis)],
    to: Millis,
) -> store::Result<(Vec<Suspect>, Option<i64>)> {
    let mut suspects = vec![];
    let earliest = spans.iter().map(|(_, from)| *from).min().unwrap_or(to);
    for chunk in spans.chunks(250) {
        let wanted: Vec<(i64, i64)> = chunk.iter().map(|(job, _)| (job.job_id, job.revision)).collect();
        let jobs = cache.get_uncached(&wanted).await?;
        let mut instants = vec![];
        for (ScheduledJob { job_id, .. }, from) in chunk {
            if let Some(job) = jobs.get(job_id) {
                instants.extend(instants_of(job, *from, to).map(|at| (at, *job_id)));
            }
        }
        drop(jobs);
        let recorded = store.runs().recorded_among(&instants).await?;
        instants.retain(|instant| !recorded.contains(instant));
        drop_unplanned(store, chunk, &mut instants, to).await?;
        let missing = without_skipped(store, instants, earliest).await?;
        for (job, from) in chunk {
            if missing.contains(&job.job_id) {
                let ScheduledJob { job_id, revision, .. } = *job;
                suspects.push(Suspect { job_id, revision, from: *from, to });
                if suspects.len() == SUSPECTS {
                    return Ok((suspects, Some(job_id)));
                }
            }
        }
        tokio::task::yield_now().await;
    }
    Ok((suspects, None))
}

/// Without instants that the cursors of their jobs have not come to: of an app that is paused, of a planner that is late.
async fn drop_unplanned(
    store: &Store,
    chunk: &[(ScheduledJob, Millis)],
    instants: &mut Vec<(Millis, i64)>,
    to: Millis,
) -> store::Result<()> {
    let mut jobs: HashMap<i32, Vec<i64>> = HashMap::new();
    for (job, _) in chunk.iter().filter(|(job, _)| instants.iter().any(|(_, job_id)| *job_id == job.job_id)) {
        jobs.entry(job.shard).or_default().push(job.job_id);
    }
    for (shard, jobs) in jobs {
        let cursors = store.runs().cursors_of(shard, to, &jobs).await?;
        instants.retain(|(at, job_id)| cursors.get(job_id).is_none_or(|cursor| at < cursor));
    }
    Ok(())
}

/// The instants of the span by its present definition. Earlier ones are for `carillon audit`.
fn instants_of(job: &CachedJob, from: Millis, to: Millis) -> impl Iterator<Item = Millis> {
    let schedule = job.rules.as_ref().ok().map(|rules| &rules.schedule);
    let schedule = schedule.filter(|schedule| !schedule.is_delay());
    let mut at = from.max(job.stored.updated_at);
    let mut left = INSTANTS;
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        at = schedule?.next_after(at).filter(|next| *next <= to)?;
        Some(at)
    })
}

/// The jobs of these instants, but for instants that lie in a recorded range of skipped ones.
async fn without_skipped(store: &Store, mut instants: Vec<(Millis, i64)>, from: Millis) -> store::Result<HashSet<i64>> {
    let mut jobs: Vec<i64> = instants.iter().map(|(_, job_id)| *job_id).collect();
    jobs.dedup();
    if jobs.is_empty() {
        return Ok(HashSet::new());
    }
    let mut skipped: HashMap<i64, Vec<(Millis, Millis)>> = HashMap::new();
    for (job_id, first, last) in store.runs().skipped_by(&jobs, from).await? {
        skipped.entry(job_id).or_default().push((first, last));
    }
    instants.retain(|(at, job_id)| {
        let ranges = skipped.get(job_id);
        !ranges.is_some_and(|ranges| ranges.iter().any(|(a, b)| (a..=b).contains(&at)))
    });
    Ok(instants.into_iter().map(|(_, job_id)| job_id).collect())
}
