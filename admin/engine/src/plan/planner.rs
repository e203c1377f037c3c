//! Plans each due job apart, outside any transaction, and claims what the plans say in batches.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use carillon_scheduler::{Millis, Plan, plan};

use crate::plan::job_cache::Job;
use crate::plan::scanner::Scan;
use crate::store;
use crate::store::db::ids;
use crate::store::run::adopt::Waiting;
use crate::store::run::claim::{Claim, Due, Holder, SkippedRange};

/// Instants of one job in one claim; its cursor stands at the next one then.
const INSTANTS: usize = 100;
/// So many failed plans, and the job is paused.
const STRIKES: u32 = 3;
/// Planning gives way to other tasks after this time.
const TURN: Duration = Duration::from_millis(2);
/// What planning one job may cost, in time of the processor: on a busy machine the clock on the wall would blame a job for
/// others. A build without optimisation is ten times slower.
const BUDGET: Duration = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 20 });

#[derive(Default)]
pub struct Strikes(Mutex<HashMap<i64, u32>>);

impl Strikes {
    fn hit(&self, job_id: i64) -> u32 {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = map.entry(job_id).or_default();
        *count += 1;
        *count
    }

    fn clear(&self, job_id: i64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&job_id);
    }
}

impl Scan {
    /// Answers how many of the jobs got on, and whether some of them have instants left.
    pub(crate) async fn plan_and_claim(
        &self,
        holder: &Holder<'_>,
        due: Vec<Due>,
        until: Millis,
    ) -> store::Result<(usize, bool)> {
        let wanted: Vec<(i64, i64)> = due.iter().map(|due| (due.job_id, due.revision)).collect();
        let jobs = self.pipeline.jobs.at(&self.pipeline.store, &wanted).await?;
        // Read after the cursors: whoever spends one of them moves a cursor too, and then this claim fails.
        let counted: Vec<i64> = jobs.values().filter(|job| job.is_counted()).map(|job| job.stored.job_id).collect();
        let left = self.pipeline.store.fires_left(&counted).await?;
        // Where memory is short, all have their next instant before anybody has the one after it.
        let share = (self.pipeline.ring().free() / due.len().max(1)).clamp(1, INSTANTS);
        let mut planned: Vec<(Due, std::sync::Arc<Job>, Plan)> = Vec::with_capacity(due.len());
        let mut done = 0;
        let mut since = self.pipeline.clock.monotonic();
        for due in due {
            // Other tasks of this thread wait meanwhile, renewals and ticks among them.
            if self.pipeline.clock.monotonic() - since >= TURN {
                tokio::task::yield_now().await;
                since = self.pipeline.clock.monotonic();
            }
            let Some(job) = jobs.get(&due.job_id) else {
                done += usize::from(self.quarantine(&due, "the job's row is missing").await?);
                continue;
            };
            if job.stored.revision != due.revision {
                // Edited since the page was read: the next round sees its new cursor.
                continue;
            }
            let left = left.get(&due.job_id).copied();
            let begun = self.pipeline.clock.thread_time();
            let plan = self.plan(job, &due, until, left, share);
            let took = self.pipeline.clock.thread_time().saturating_sub(begun);
            match plan {
                Ok(_) if self.is_too_slow(due.job_id, took) => {
                    let reason = format!(
                        "planning its schedule took more than {} ms, {STRIKES} times in a row",
                        BUDGET.as_millis()
                    );
                    done += usize::from(self.quarantine(&due, &reason).await?);
                }
                Ok(plan) => planned.push((due, job.clone(), plan)),
                Err(reason) => done += usize::from(self.strike(&due, &reason).await?),
            }
        }
        let is_cut = |plan: &Plan| plan.next_fire_at.is_some_and(|next| next <= until);
        let more = planned.iter().any(|(_, _, plan)| is_cut(plan));
        let mut rest = planned.as_slice();
        while !rest.is_empty() {
            // What does not fit into memory keeps its cursor, and is claimed when there is room.
            let room = self.pipeline.ring().free();
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
            done += self.claim(holder, batch).await?;
            rest = others;
        }
        Ok((done, more))
    }

    fn plan(&self, job: &Job, due: &Due, until: Millis, fires_left: Option<u32>, most: usize) -> Result<Plan, String> {
        let rules = job.rules.as_ref().map_err(Clone::clone)?;
        let now = self.pipeline.clock.now();
        let timing = job.timing(rules, fires_left);
        let work = || plan(&timing, due.next_fire_at, now, until, most);
        catch_unwind(AssertUnwindSafe(work))
            .map_err(|_| "planning the schedule failed (a defect of Carillon)".to_owned())
    }

    /// What a slow plan says counts all the same, or a backlog that takes long once would never be planned. Only a job that is
    /// slow each time is paused.
    fn is_too_slow(&self, job_id: i64, took: Duration) -> bool {
        if took <= BUDGET {
            self.slow.clear(job_id);
            return false;
        }
        tracing::warn!(
            job.id = job_id,
            duration_ms = took.as_millis() as u64,
            "planning the schedule of a job takes long"
        );
        let is_too_slow = self.slow.hit(job_id) >= STRIKES;
        if is_too_slow {
            self.slow.clear(job_id);
        }
        is_too_slow
    }

    async fn strike(&self, due: &Due, reason: &str) -> store::Result<bool> {
        if self.strikes.hit(due.job_id) < STRIKES {
            return Ok(false);
        }
        self.quarantine(due, reason).await
    }

    async fn quarantine(&self, due: &Due, reason: &str) -> store::Result<bool> {
        let paused = self.pipeline.store.pause_poisoned(self.shard, due, reason, self.pipeline.clock.now()).await?;
        if let Some(alarm) = paused {
            self.pipeline.tell_alarm(&alarm);
        }
        self.strikes.clear(due.job_id);
        Ok(true)
    }

    async fn claim(&self, holder: &Holder<'_>, batch: &[(Due, std::sync::Arc<Job>, Plan)]) -> store::Result<usize> {
        let count = batch.iter().map(|(_, _, plan)| plan.fires.len()).sum();
        let mut run_ids = self.pipeline.store.take_ids(&ids::RUN, count).await?.into_iter();
        let claims: Vec<Claim> = batch.iter().map(|(due, job, plan)| claim_of(*due, job, plan, &mut run_ids)).collect();
        match self.claim_all(holder, &claims).await {
            Err(error) if error.is_unique_violation() && claims.len() > 1 => {
                let mut done = 0;
                for claim in &claims {
                    done += self.claim_one(holder, claim).await?;
                }
                Ok(done)
            }
            Err(error) if error.is_unique_violation() => self.claim_one(holder, &claims[0]).await,
            other => other,
        }
    }

    async fn claim_one(&self, holder: &Holder<'_>, claim: &Claim) -> store::Result<usize> {
        match self.claim_all(holder, std::slice::from_ref(claim)).await {
            Err(error) if error.is_unique_violation() => {
                let reason = "an instant that its cursor has not reached is recorded already";
                Ok(usize::from(self.quarantine(&claim.due, reason).await?))
            }
            other => other,
        }
    }

    async fn claim_all(&self, holder: &Holder<'_>, claims: &[Claim]) -> store::Result<usize> {
        #[cfg(feature = "failpoints")]
        if crate::failpoint::flag("record_at_send") {
            return self.claim_unrecorded(holder, claims).await;
        }
        let pipeline = &self.pipeline;
        let asked = pipeline.clock.monotonic();
        let changed = self.claim_in_time(holder, claims).await?;
        let took = pipeline.clock.monotonic() - asked;
        self.batch.took(took, pipeline.settings.ttl);
        // The claim was the lease's heartbeat too.
        pipeline.holdings.renewed(self.shard, holder.epoch, asked, pipeline.settings.ttl - pipeline.settings.margin);
        for claim in claims.iter().filter(|claim| !changed.contains(&claim.due.job_id)) {
            self.strikes.clear(claim.due.job_id);
            self.take_up(holder, claim);
        }
        Ok(claims.len() - changed.len())
    }

    /// Not longer than the lease is trusted: whatever the database does with it then, the table is read again.
    async fn claim_in_time(
        &self,
        holder: &Holder<'_>,
        claims: &[Claim],
    ) -> store::Result<std::collections::HashSet<i64>> {
        let pipeline = &self.pipeline;
        let held = pipeline.holdings.all().remove(&self.shard);
        let left =
            held.map_or(pipeline.settings.ttl, |held| held.trusted_until.saturating_sub(pipeline.clock.monotonic()));
        let mut tries = 0;
        let claiming = async {
            loop {
                let now = pipeline.clock.now();
                match pipeline.store.claim(holder, claims, now).await {
                    Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                    other => return other,
                }
                // Whoever clashed once clashes again in step.
                let pause = rand::random_range(0..10 << tries);
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        };
        match tokio::time::timeout(left, claiming).await {
            Ok(done) => done,
            Err(_) => {
                self.batch.gave_up();
                Err(store::Error::Busy)
            }
        }
    }

    /// The rows are committed as they stand here, so reading them back would tell nothing new.
    fn take_up(&self, holder: &Holder<'_>, claim: &Claim) {
        let pipeline = &self.pipeline;
        pipeline.metrics.claimed.inc_by(claim.fires.len() as u64);
        pipeline.metrics.misfired.inc_by(claim.skipped.iter().map(|range| range.count as u64).sum());
        for (run_id, at) in &claim.fires {
            let run = Waiting {
                run_id: *run_id,
                job_id: claim.due.job_id,
                shard: holder.shard,
                epoch: holder.epoch,
                cause: carillon_scheduler::Cause::Schedule,
                fire_no: *at,
                part: 0,
                parts: 1,
                attempt: 1,
                scheduled_at: *at,
                due_at: *at,
                bound_to: None,
                overlaps: false,
            };
            pipeline.put_in_ring(run, *at);
        }
    }
}

fn claim_of(due: Due, job: &Job, plan: &Plan, run_ids: &mut impl Iterator<Item = i64>) -> Claim {
    let policy = job.rules.as_ref().map_or("", |rules| rules.misfire.as_str());
    Claim {
        due,
        // The instants lead: a zip takes one more of its first than of its second.
        fires: plan.fires.iter().zip(run_ids).map(|(at, id)| (id, *at)).collect(),
        skipped: plan
            .skipped
            .iter()
            .map(|range| SkippedRange {
                from_at: range.from_at,
                to_at: range.to_at,
                count: i64::from(range.count),
                policy,
                reason: range.reason.as_str(),
            })
            .collect(),
        next_fire_at: plan.next_fire_at,
        counted: job.is_counted(),
    }
}
