//! What was found in the table enters the queue; an adopted first attempt that is too late by now follows its misfire policy.

use foldhash::{HashMap, HashMapExt as _};

use carillon_scheduler::{AlarmKind, Cause, Millis, MisfirePolicy, RunReason};

use crate::job_cache::CachedJob;
use crate::plan::scanner::Scanner;
use carillon_store as store;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::claim::HeldLease;

/// How late a run may be that is found in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AdoptOrigin {
    /// An earlier holder has left it, or it has had no holder yet: its job's misfire policy decides.
    OtherHolder,
    /// This holder has claimed it itself.
    ThisHolder,
}

impl Scanner {
    /// Orphans and new fires by hand are adopted, as many as there is room for. What waits under our epoch and is not in the
    /// queue is read from the table: at first, now and then, and when something may have fallen out.
    pub(crate) async fn adopt_orphans(
        &self,
        holder: &HeldLease<'_>,
        (from, until): (Option<Millis>, Millis),
        is_new: bool,
        is_audit: bool,
    ) -> store::Result<usize> {
        let adopted = self.cx.store.runs().adopt(holder, from, until, self.queue.free()).await?;
        let mut count = 0;
        if !is_new {
            count += self.enqueue_adopted(holder, adopted, until, AdoptOrigin::OtherHolder).await?;
        }
        if !self.wakes.take_reread(self.shard) && !is_audit {
            return Ok(count);
        }
        let waiting = self.cx.store.runs().waiting_ids(self.shard, holder.epoch, until, self.queue.capacity).await?;
        let missing = self.queue.missing(waiting, holder.epoch);
        // What this holder has claimed itself was claimed in time: it may wait for an executor as long as it must.
        let origin = if is_new { AdoptOrigin::OtherHolder } else { AdoptOrigin::ThisHolder };
        Ok(count + self.enqueue_adopted(holder, missing, until, origin).await?)
    }

    pub(crate) async fn enqueue_adopted(
        &self,
        holder: &HeldLease<'_>,
        ids: Vec<i64>,
        until: Millis,
        origin: AdoptOrigin,
    ) -> store::Result<usize> {
        if ids.is_empty() {
            return Ok(0);
        }
        let found = self.cx.store.runs().waiting_with_ids(self.shard, holder.epoch, &ids).await?;
        self.alarm_unreadable(&found.unreadable).await;
        let mut runs = found.runs;
        if origin == AdoptOrigin::OtherHolder {
            let late = self.misfired(&runs, until).await?;
            if !late.is_empty() {
                self.cx.store.runs().cancel(&late, RunReason::Misfire, self.cx.clock.now()).await?;
                tracing::info!(
                    shard = self.shard,
                    run.count = late.len(),
                    "recorded instants were reached too late to run"
                );
            }
            runs.retain(|run| late.binary_search(&run.run_id).is_err());
        }
        let count = runs.len();
        for run in runs {
            let due_at = run.due_at;
            self.queue.insert(run, due_at);
        }
        Ok(count)
    }

    /// A newer version may have written what this one does not know. Such a run is left to a node that does; the others
    /// of its shard go on.
    async fn alarm_unreadable(&self, unreadable: &[(i64, String)]) {
        for (run_id, what) in unreadable {
            if !self.unreadable.lock().insert(*run_id) {
                continue;
            }
            let text = format!("run {run_id} waits and cannot be read, so it is not sent: {what}");
            self.cx.raise_alarm(AlarmKind::Stuck, None, Some(*run_id), text).await;
        }
    }

    /// Older than the job's threshold, and its policy does not run them, together with what this scan plans of it as far as
    /// `until`. Sorted.
    async fn misfired(&self, found: &[ClaimedRun], until: Millis) -> store::Result<Vec<i64>> {
        let now = self.cx.clock.now();
        let scheduled = |run: &&ClaimedRun| {
            run.cause == Cause::Schedule && run.attempt == 1 && run.bound_to.is_none() && !run.is_patient
        };
        let mut by_job: HashMap<i64, Vec<&ClaimedRun>> = HashMap::new();
        for run in found.iter().filter(scheduled) {
            by_job.entry(run.job_id).or_default().push(run);
        }
        // The shortest threshold is a second; most of the time nothing is that late.
        by_job.retain(|_, runs| runs.iter().any(|run| run.scheduled_at < now - 1000));
        if by_job.is_empty() {
            return Ok(vec![]);
        }
        let ids: Vec<i64> = by_job.keys().copied().collect();
        let jobs = self.jobs.current(&ids).await?;
        let cursors = self.cx.store.runs().cursors_of(self.shard, until, &ids).await?;
        let mut misfired = Vec::new();
        for (job_id, mut runs) in by_job {
            let Some(job) = jobs.get(&job_id) else {
                continue;
            };
            runs.sort_unstable_by_key(|run| run.scheduled_at);
            misfired.extend(too_late(job, &runs, cursors.get(&job_id).copied(), now));
        }
        misfired.sort_unstable();
        Ok(misfired)
    }
}

/// Which runs of a job, earliest first, its misfire policy does not run: of those that are missed `fire_once` runs the
/// latest unless a later instant runs anyway, `fire_all` a limited number of the latest, `fire_within` those that are not too old.
/// What lies from its `cursor` on is later than all of them, and is planned by the same scan under the same policy.
fn too_late(job: &CachedJob, runs: &[&ClaimedRun], cursor: Option<Millis>, now: Millis) -> Vec<i64> {
    let missed_before = now - job.stored.misfire_threshold_ms;
    let missed = runs.partition_point(|run| run.scheduled_at < missed_before);
    let policy = job.rules.as_ref().map_or(MisfirePolicy::FireOnce, |rules| rules.misfire);
    let dropped = match policy {
        MisfirePolicy::Skip => missed,
        MisfirePolicy::FireOnce if missed < runs.len() || cursor.is_some() => missed,
        MisfirePolicy::FireOnce => missed.saturating_sub(1),
        MisfirePolicy::FireAll => {
            let limit = usize::try_from(job.stored.misfire_limit).unwrap_or_default();
            missed.saturating_sub(limit - missed_from(job, cursor, missed_before, limit))
        }
        MisfirePolicy::FireWithin => {
            let oldest = now - job.stored.misfire_window_ms;
            runs[..missed].partition_point(|run| run.scheduled_at < oldest)
        }
    };
    runs[..dropped].iter().map(|run| run.run_id).collect()
}

/// How many instants from the cursor on are missed, at most `limit`.
fn missed_from(job: &CachedJob, cursor: Option<Millis>, before: Millis, limit: usize) -> usize {
    let Ok(rules) = &job.rules else { return 0 };
    let missed = |at: &Millis| *at < before;
    let instants = std::iter::successors(cursor.filter(missed), |at| rules.schedule.next_after(*at).filter(missed));
    instants.take(limit).count()
}
