//! The slow part of the audit: a walk over all jobs of this node's shards, a fixed number a step.
//!
//! A pass over a shard compares one span for all its jobs; the next pass begins where that span ended. So each instant is
//! looked at, at the latest when a pass over the shard has been completed after it.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use carillon_scheduler::Millis;

use crate::job_cache::{CachedJob, JobCache};
use carillon_store as store;
use carillon_store::Store;
use carillon_store::run::claim::DueJob;
use carillon_store::run::view::records::{CursorPosition, FIRST};

/// Jobs that a step looks at.
const JOBS: usize = 2_000;
/// Instants of one job. One that has more within a pass fires so often that the quick part never loses sight of it.
const INSTANTS: usize = 500;
/// Jobs that a step looks at one by one, because they seem to lack something.
const SUSPECTS: usize = 50;
/// A node that takes a shard looks this far back: the pass of the holder before it was not completed.
pub const AT_START: i64 = 24 * 3_600_000;

/// A pass over a shard.
#[derive(Clone, Copy)]
struct Pass {
    epoch: i64,
    from: Millis,
    to: Millis,
    behind: CursorPosition,
}

/// Where the passes are.
#[derive(Default)]
pub struct AuditCursor {
    passes: HashMap<i32, Pass>,
    /// The shard that the last step came to.
    shard: i32,
}

/// A job that seems to lack something in a span.
pub struct Suspect {
    pub job_id: i64,
    pub from: Millis,
    pub to: Millis,
}

impl AuditCursor {
    /// The next jobs, as far as `end`; of the shards that are held, with their epochs.
    pub async fn step(
        &mut self,
        store: &Store,
        jobs: &JobCache,
        held: &[(i32, i64)],
        end: Millis,
    ) -> store::Result<Vec<Suspect>> {
        self.passes.retain(|shard, pass| held.contains(&(*shard, pass.epoch)));
        let mut order: Vec<(i32, i64)> = held.to_vec();
        order.sort_unstable_by_key(|(shard, _)| (*shard < self.shard, *shard));
        let (mut suspects, mut budget) = (vec![], JOBS);
        for (shard, epoch) in order {
            let pass = self.passes.entry(shard).or_insert(Pass { epoch, from: end - AT_START, to: end, behind: FIRST });
            self.shard = shard;
            let page = store.runs().cursors_behind(shard, pass.behind, budget).await?;
            let is_last = page.len() < budget;
            budget -= page.len();
            let (found, reached) = look(store, jobs, &page, pass.from, pass.to).await?;
            suspects.extend(found);
            match reached {
                // The others of this page come with the next step.
                Some(due) => pass.behind = (due.next_fire_at, due.job_id),
                None if is_last => {
                    (pass.from, pass.to, pass.behind) = (pass.to, end, FIRST);
                }
                None => {
                    if let Some(last) = page.last() {
                        pass.behind = (last.next_fire_at, last.job_id);
                    }
                }
            }
            if budget == 0 || suspects.len() >= SUSPECTS {
                return Ok(suspects);
            }
        }
        // All were passed: the next step begins with the first shard.
        self.shard = 0;
        Ok(suspects)
    }
}

/// The suspects of a page; and, when there are too many, the last job that was looked at.
async fn look(
    store: &Store,
    cache: &JobCache,
    page: &[DueJob],
    from: Millis,
    to: Millis,
) -> store::Result<(Vec<Suspect>, Option<DueJob>)> {
    let mut suspects = vec![];
    for chunk in page.chunks(250) {
        let wanted: Vec<(i64, i64)> = chunk.iter().map(|due| (due.job_id, due.revision)).collect();
        let jobs = cache.get_uncached(&wanted).await?;
        let mut instants = vec![];
        for due in chunk {
            if let Some(job) = jobs.get(&due.job_id) {
                instants.extend(instants_of(job, due, from, to).map(|at| (at, due.job_id)));
            }
        }
        drop(jobs);
        let recorded = store.runs().recorded_among(&instants).await?;
        instants.retain(|instant| !recorded.contains(instant));
        let missing = without_skipped(store, instants, from).await?;
        for due in chunk {
            if missing.contains(&due.job_id) {
                let job_id = due.job_id;
                suspects.push(Suspect { job_id, from, to });
                if suspects.len() == SUSPECTS {
                    return Ok((suspects, Some(*due)));
                }
            }
        }
        tokio::task::yield_now().await;
    }
    Ok((suspects, None))
}

/// The instants of the span by its present definition. Earlier ones are for `carillon audit`.
fn instants_of(job: &CachedJob, due: &DueJob, from: Millis, to: Millis) -> impl Iterator<Item = Millis> {
    let schedule = job.rules.as_ref().ok().map(|rules| &rules.schedule);
    let schedule = schedule.filter(|schedule| !schedule.is_delay());
    let mut at = from.max(job.stored.updated_at);
    let (cursor, mut left) = (due.next_fire_at, INSTANTS);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        at = schedule?.next_after(at).filter(|next| *next <= to && *next < cursor)?;
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
