//! The audit as a service. Each minute the holder of a shard compares the last minute of the jobs that fire soon, and so
//! often: first all at once, by one walk over the key of the runs; then, one by one, the jobs that seem to lack something.
//! All other jobs are walked over in slices (`walk`), so that a minute costs the same with a thousand idle jobs and with a million.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use carillon_scheduler::{AlarmKind, Millis};
use carillon_store::alarm::alarms::AlarmFilter;
use chrono::DateTime;
use foldhash::{HashMap, HashSet};
use tokio::sync::Mutex;

use crate::context::Context;
use crate::job_cache::JobCache;
use crate::lease::held_shards::HeldShards;
use crate::maintain::audit_walk;
use crate::maintain::audit_walk::AuditCursor;
use crate::runtime::{Service, Step};
use carillon_inspect::audit::{Difference, GapKind, GapReason, audit_job};
use carillon_store as store;

/// How often, and the span that one step looks at, at most.
const EVERY: Duration = Duration::from_secs(60);
const WIDEST: i64 = 120_000;
/// A node that starts looks so far back.
const AT_START: i64 = 600_000;
/// Instants so young are left to the next step: their claims may be under way.
const YOUNG: i64 = 15_000;
/// A job that fires at least this often is looked at each minute.
const SOON: i64 = 120_000;
/// Jobs of a shard, those that fire soonest; runs; instants of one job; and jobs that are looked at one by one, a step.
const JOBS: usize = 25_000;
const RUNS: u32 = 200_000;
const INSTANTS: usize = 2_000;
const SUSPECTS: usize = 50;

/// The service.
pub struct GapAuditor {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) jobs: Arc<JobCache>,
    /// Instants up to this one were looked at.
    pub(crate) passed: AtomicI64,
    pub(crate) walk: Mutex<AuditCursor>,
    /// What was reported, by job: the quick part and the walk may find the same.
    pub(crate) reported: Mutex<HashMap<i64, Vec<Difference>>>,
}

impl GapAuditor {
    /// Looks at the next span; answers whether there is more to look at already.
    async fn round(&self) -> store::Result<bool> {
        let now = self.cx.clock.now();
        let end = now - YOUNG;
        let from = self.passed.load(Ordering::Relaxed).max(now - AT_START);
        let mut to = end.min(from + WIDEST);
        if from >= to {
            return Ok(false);
        }
        // The cursors first: what lies before them was committed with them.
        let cursors = self.cursors().await?;
        let fires = self.cx.store.runs().recorded_fires(from, to, RUNS).await?;
        if let Some((last, _)) = fires.last().filter(|_| fires.len() == RUNS as usize) {
            to = last - 1;
        }
        let recorded = fires.into_iter().collect();
        for job_id in self.suspects(&cursors, &recorded, from, to).await? {
            self.report(job_id, from, to).await?;
        }
        self.passed.store(to, Ordering::Relaxed);
        if to < end {
            return Ok(true);
        }
        self.walk(end).await?;
        Ok(false)
    }

    /// The next slice of all jobs.
    async fn walk(&self, end: Millis) -> store::Result<()> {
        let mut walk = self.walk.lock().await;
        walk.step(&self.cx.store, &self.jobs, &self.held.trusted(), end).await?;
        while let Some(suspect) = walk.next_suspect() {
            if self.report(suspect.job_id, suspect.from, suspect.to).await? {
                walk.pass_over(suspect);
            }
            walk.drop_reported();
        }
        // No pass looks further back, not even one that starts again.
        let mut reported = self.reported.lock().await;
        reported.retain(|_, gaps| gaps.iter().any(|gap| gap.to >= end - audit_walk::AT_START));
        Ok(())
    }

    /// The jobs of our shards that fire soon, with their revisions and cursors.
    async fn cursors(&self) -> store::Result<Vec<(i64, i64, Millis)>> {
        let until = self.cx.clock.now() + SOON;
        let mut cursors = vec![];
        for (shard, _) in self.held.trusted() {
            let due = self.cx.store.runs().due_jobs(shard, until, JOBS).await?;
            cursors.extend(due.iter().map(|due| (due.job_id, due.revision, due.next_fire_at)));
        }
        Ok(cursors)
    }

    /// Jobs with an instant in the span that has no run: a range of skipped ones or an edit may explain it.
    async fn suspects(
        &self,
        cursors: &[(i64, i64, Millis)],
        recorded: &HashSet<(Millis, i64)>,
        from: Millis,
        to: Millis,
    ) -> store::Result<Vec<i64>> {
        let mut suspects = vec![];
        for chunk in cursors.chunks(500) {
            let wanted: Vec<(i64, i64)> = chunk.iter().map(|(id, revision, _)| (*id, *revision)).collect();
            let jobs = self.jobs.get_uncached(&wanted).await?;
            for (id, _, cursor) in chunk {
                let Some(Ok(rules)) = jobs.get(id).map(|job| job.rules.as_ref()) else {
                    continue;
                };
                let mut at = from;
                let next = |at| rules.schedule.next_after(at).filter(|next| *next <= to && next < cursor);
                let instants = std::iter::from_fn(|| {
                    at = next(at)?;
                    Some(at)
                });
                if !rules.schedule.is_delay() && instants.take(INSTANTS).any(|at| !recorded.contains(&(at, *id))) {
                    suspects.push(*id);
                }
                if suspects.len() == SUSPECTS {
                    return Ok(suspects);
                }
            }
            tokio::task::yield_now().await;
        }
        Ok(suspects)
    }

    /// Answers whether the job's schedule had had all its fires before the span ended.
    async fn report(&self, job_id: i64, from: Millis, to: Millis) -> store::Result<bool> {
        let Some(looked) = audit_job(&self.cx.store, job_id, from, to, INSTANTS).await? else {
            return Ok(false);
        };
        let mut reported = self.reported.lock().await;
        let mut new = vec![];
        for gap in looked.differences.iter().filter(|gap| !gap.is_explained()) {
            let known = reported.entry(job_id).or_default();
            let is_same = |it: &Difference| it.kind == gap.kind && it.from <= gap.to && gap.from <= it.to;
            if known.iter().any(is_same) {
                continue;
            }
            known.push(*gap);
            new.push(*gap);
            self.cx.metrics.gaps.inc_by(u64::from(gap.count));
            if gap.kind == GapKind::Missing {
                self.cx.metrics.missed.inc_by(u64::from(gap.count));
            }
            tracing::warn!(
                job.id = job_id,
                job.name = looked.name,
                gap.from = gap.from,
                gap.to = gap.to,
                gap.count = gap.count,
                gap.kind = gap.kind.as_str(),
                "the records of a job differ from its schedule, and nothing explains it"
            );
        }
        reported.retain(|_, gaps| !gaps.is_empty());
        drop(reported);
        self.alarm(job_id, &new).await?;
        // All that is planned may lie after the span: then the next pass looks at it.
        let is_over = |it: &Difference| matches!(it.reason, GapReason::UsedUp | GapReason::Pruned | GapReason::Unknown);
        Ok(looked.next_fire_at.is_none() && looked.differences.iter().any(is_over))
    }

    /// One alarm for all that a look has found. A node that has taken over looks at the same span again, so the text of an alarm is
    /// compared with those of the last ones.
    async fn alarm(&self, job_id: i64, gaps: &[Difference]) -> store::Result<()> {
        let Some(text) = alarm_text(gaps) else {
            return Ok(());
        };
        let filter = AlarmFilter {
            kinds: vec![AlarmKind::Gap],
            job_id: Some(job_id),
            from: Some(self.cx.clock.now() - 2 * AT_START),
            limit: 20,
            ..AlarmFilter::default()
        };
        let raised = self.cx.store.alarms().list(&filter).await?.items;
        if raised.iter().all(|row| row.alarm.text != text) {
            self.cx.raise_alarm(AlarmKind::Gap, Some(job_id), None, text).await;
        }
        Ok(())
    }
}

/// What differs, with the first and the last instant; None: nothing does.
fn alarm_text(gaps: &[Difference]) -> Option<String> {
    let (from, to) = (gaps.iter().map(|gap| gap.from).min()?, gaps.iter().map(|gap| gap.to).max()?);
    let of = |kind| gaps.iter().filter(|gap| gap.kind == kind).map(|gap| gap.count).sum::<u32>();
    let kinds = [
        (of(GapKind::Missing), "without a record"),
        (of(GapKind::Extra), "with a run that the schedule does not have"),
        (of(GapKind::Twice), "recorded twice"),
        (of(GapKind::Unlooked), "that cannot be compared with the schedule"),
    ];
    let counts: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {} {what}", if *count == 1 { "instant" } else { "instants" }))
        .collect();
    let utc = |at: Millis| DateTime::from_timestamp_millis(at).map_or_else(String::new, |at| at.to_rfc3339());
    Some(format!("{} from {} to {}", counts.join(", "), utc(from), utc(to)))
}

impl Service for GapAuditor {
    const NAME: &'static str = "gaps";
    type Report = ();

    async fn step(&self) -> Step {
        let next = match self.round().await {
            Ok(true) => Duration::from_secs(1),
            Ok(false) => EVERY,
            Err(error) => {
                tracing::debug!(%error, "the records could not be compared; they are later");
                EVERY
            }
        };
        Step::after(next)
    }
}
