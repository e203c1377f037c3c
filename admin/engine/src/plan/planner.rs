//! Plans each due job apart, outside any transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Clock, Millis, Plan, plan};

use crate::job_cache::CachedJob;
use crate::plan::scanner::{MOST_FAILURES, ScanReport, Scanner};
use carillon_store as store;
use carillon_store::run::claim::{DueJob, HeldLease};

/// Instants of one job in one claim; its cursor stands at the next one then.
const INSTANTS: usize = 100;
/// Planning gives way to other tasks after this time.
const TURN: Duration = Duration::from_millis(2);
/// What planning one job may cost, in time of the processor: on a busy machine the clock on the wall would blame a job for
/// others. A build without optimisation is ten times slower.
const BUDGET: Duration = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 20 });

/// Plans one after the other, without a pause.
struct PlanTimer {
    begun: Duration,
    processor: Duration,
}

impl PlanTimer {
    fn begin(clock: &dyn Clock) -> Self {
        Self { begun: clock.monotonic(), processor: clock.thread_time() }
    }

    fn elapsed(&self, clock: &dyn Clock) -> Duration {
        clock.monotonic() - self.begun
    }

    /// Of a plan that was begun then, at most. A plan that took less than the budget on the wall took no more of the processor:
    /// the processor's clock, which costs a system call, is read only for the others. It counts the plans of this turn before it
    /// as well, which took less than [`TURN`].
    fn processor_time(&self, clock: &dyn Clock, begun: Duration) -> Duration {
        let took = clock.monotonic() - begun;
        if took <= BUDGET { took } else { clock.thread_time().saturating_sub(self.processor) }
    }
}

/// A plan that panics is a failed plan of its job alone.
fn guarded(work: impl FnOnce() -> Plan) -> Result<Plan, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "planning the schedule failed (a defect of Carillon)".to_owned())
}

impl Scanner {
    /// Plans what is due `near`, as far as `until`. Answers how many of the jobs got on, and whether some of them are still near.
    pub(crate) async fn plan_and_claim(
        &self,
        holder: &HeldLease<'_>,
        due: Vec<DueJob>,
        (near, until): (Millis, Millis),
        report: &mut ScanReport,
    ) -> store::Result<(usize, bool)> {
        let wanted: Vec<(i64, i64)> = due.iter().map(|due| (due.job_id, due.revision)).collect();
        let jobs = self.jobs.at_revision(&wanted).await?;
        // Read after the cursors: a claim that spends one of them moves a cursor too, and then this claim fails.
        let counted: Vec<i64> = jobs.values().filter(|job| job.is_counted()).map(|job| job.stored.job_id).collect();
        let left = self.cx.store.jobs().fires_left(&counted).await?;
        // Where memory is short, all jobs have their next instant before one has the instant after it.
        let share = (self.queue.free() / due.len().max(1)).clamp(1, INSTANTS);
        let mut planned: Vec<(DueJob, Arc<CachedJob>, Plan)> = Vec::with_capacity(due.len());
        let mut done = 0;
        let mut unplannable: Vec<(DueJob, String)> = Vec::new();
        let mut timer = PlanTimer::begin(&*self.cx.clock);
        for due in due {
            // Other tasks of this thread wait meanwhile, renewals and ticks among them.
            if timer.elapsed(&*self.cx.clock) >= TURN {
                tokio::task::yield_now().await;
                timer = PlanTimer::begin(&*self.cx.clock);
            }
            let Some(job) = jobs.get(&due.job_id) else {
                unplannable.push((due, "the job's row is missing".to_owned()));
                continue;
            };
            if job.stored.revision != due.revision {
                // Edited since the page was read: the next round sees its new cursor.
                continue;
            }
            let left = left.get(&due.job_id).copied();
            let begun = self.cx.clock.monotonic();
            let plan = self.plan(job, &due, until, left, share);
            let took = timer.processor_time(&*self.cx.clock, begun);
            match plan {
                Ok(_) if self.is_too_slow(due.job_id, took) => {
                    let reason = format!(
                        "planning its schedule took more than {} ms, {MOST_FAILURES} times in a row",
                        BUDGET.as_millis()
                    );
                    unplannable.push((due, reason));
                }
                Ok(plan) => planned.push((due, job.clone(), plan)),
                Err(reason) if self.failures.record(due.job_id) => {
                    unplannable.push((due, reason));
                }
                Err(_) => {}
            }
        }
        for (due, reason) in &unplannable {
            done += self.pause_unplannable(due, reason, report).await?;
        }
        let is_cut = |plan: &Plan| plan.next_fire_at.is_some_and(|next| next <= near);
        let more = planned.iter().any(|(_, _, plan)| is_cut(plan));
        let mut rest = planned.as_slice();
        while !rest.is_empty() {
            // What does not fit into memory keeps its cursor, and is claimed when there is room.
            let room = self.queue.free();
            if room == 0 {
                break;
            }
            let (mut runs, most) = (0, self.batch.runs().min(room));
            let take = rest
                .iter()
                .take(most)
                .take_while(|(_, _, plan)| {
                    let fits = runs == 0 || runs + plan.fires.len() <= most;
                    runs += plan.fires.len();
                    fits
                })
                .count();
            let (batch, others) = rest.split_at(take.max(1));
            done += self.claim(holder, batch, report).await?;
            rest = others;
        }
        Ok((done, more))
    }

    fn plan(
        &self,
        job: &CachedJob,
        due: &DueJob,
        until: Millis,
        fires_left: Option<u32>,
        most: usize,
    ) -> Result<Plan, String> {
        let rules = job.rules.as_ref().map_err(Clone::clone)?;
        if job.is_counted() && fires_left.is_none() {
            return Err(
                "its schedule has max_fires, and its row does not say how many fires are left; change max_fires \
                        to have them counted anew"
                    .to_owned(),
            );
        }
        let now = self.cx.clock.now();
        let timing = job.timing(rules, fires_left);
        guarded(|| plan(&timing, due.next_fire_at, now, until, most))
    }

    /// What a slow plan says counts all the same, or a backlog that takes long once would never be planned. Only a job that is
    /// slow each time is paused.
    fn is_too_slow(&self, job_id: i64, took: Duration) -> bool {
        if took <= BUDGET {
            self.slow_plans.clear(job_id);
            return false;
        }
        tracing::warn!(
            job.id = job_id,
            duration_ms = took.as_millis() as u64,
            "planning the schedule of a job takes long"
        );
        let is_too_slow = self.slow_plans.record(job_id);
        if is_too_slow {
            self.slow_plans.clear(job_id);
        }
        is_too_slow
    }

    pub(crate) async fn pause_unplannable(
        &self,
        due: &DueJob,
        reason: &str,
        report: &mut ScanReport,
    ) -> store::Result<usize> {
        let paused = self.cx.store.jobs().pause_unplannable(self.shard, due, reason, self.cx.clock.now()).await?;
        if let Some(alarm) = paused {
            self.cx.log_alarm(&alarm);
        }
        self.failures.clear(due.job_id);
        report.paused += 1;
        Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::scanner::PlanFailures;

    // covers: H21
    #[test]
    fn a_plan_that_panics_is_a_failed_plan_and_the_third_in_a_row_pauses_the_job() {
        let failures = PlanFailures::default();
        let verdicts = [1, 2, 3].map(|attempt| {
            let failed = guarded(|| panic!("attempt {attempt}"));
            (failed.err(), failures.record(7))
        });
        let why = || Some("planning the schedule failed (a defect of Carillon)".to_owned());
        assert_eq!(verdicts, [(why(), false), (why(), false), (why(), true)]);
        assert!(!failures.record(8), "another job is not concerned");
    }
}
