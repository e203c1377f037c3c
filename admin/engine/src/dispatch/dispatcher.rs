//! What is due is admitted, routed, reserved, marked and sent: all that is overdue, however late the tick. The mark is committed
//! before the first byte leaves; nothing leaves before it is due.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Cause, Millis, RunEvent, RunReason};
use foldhash::{HashSet, HashSetExt as _};
use tokio::sync::Notify;

use crate::complete::outcome_queue::OutcomeQueue;
use crate::context::Context;
use crate::dispatch::admit::Admitter;
use crate::dispatch::app_pauses::{AppPauses, DueInPause};
use crate::dispatch::departures::{Departures, gives_way};
use crate::dispatch::expand::{Expander, ExpansionTask};
use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::mark::Marker;
use crate::dispatch::mark_lead::MarkLead;
use crate::dispatch::order::small_apps_first;
use crate::dispatch::probe::Prober;
use crate::dispatch::route::notes::RouteNotes;
use crate::dispatch::route::router::Router;
use crate::dispatch::send_task::Sender;
use crate::dispatch::stages::{AdmittedRun, BATCH, MarkedRun, RouteStep, RoutedRun, SaturatedApps};
use crate::dispatch::trace::TraceBuffer;
use crate::job_cache::{JobCache, JobsById};
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::plan::due_queue::DueQueue;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::route::RouteTrace;

/// When a run that waits for the end of its app's pause is looked at again.
const PAUSED_MS: Millis = 1_000;

pub struct Dispatcher {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub clock_guard: Arc<ClockGuard>,
    pub queue: Arc<DueQueue>,
    pub wakes: Arc<ScanWakes>,
    pub jobs: Arc<JobCache>,
    pub pauses: Arc<AppPauses>,
    pub admitter: Arc<Admitter>,
    pub limits: Arc<LimitGate>,
    pub router: Arc<Router>,
    pub prober: Arc<Prober>,
    pub expander: Arc<Expander>,
    pub marker: Arc<Marker>,
    pub sender: Arc<Sender>,
    pub outcomes: Arc<OutcomeQueue>,
    pub traces: Arc<TraceBuffer>,
    pub lead: Arc<MarkLead>,
    pub departures: Arc<Departures>,
}

/// What became of the runs of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DispatchReport {
    /// Taken from the queue.
    pub due: usize,
    /// Came back from their probes.
    pub answered: usize,
    /// Their candidates are being asked, or fixed, or their graphs begin.
    pub asked: usize,
    /// Come back with a later tick.
    pub waiting: usize,
    /// Have no executor.
    pub failed: usize,
    /// Fires of jobs whose app is paused, and runs that have expired.
    pub cancelled: usize,
    /// Marked, and sent at their time.
    pub sent: usize,
}

/// What a tick collects.
#[derive(Default)]
pub(in crate::dispatch) struct Tick {
    pub report: DispatchReport,
    pub saturated: SaturatedApps,
    routed: Vec<RoutedRun>,
    /// After the marks.
    to_expand: Vec<(AdmittedRun, ExpansionTask)>,
    notes: RouteNotes,
    /// Jobs of which an instant has left.
    left: HashSet<i64>,
    /// Apps of which a run waits behind others where nothing moves.
    pub stalled: HashSet<String>,
    /// Runs whose turn it is at the limits that they keep.
    pub turns: HashSet<i64>,
    /// Runs that keep limits.
    pub limited: Vec<AdmittedRun>,
}

impl Dispatcher {
    #[tracing::instrument(level = "debug", skip_all, fields(run.count = due.len()))]
    async fn dispatch(&self, due: Vec<ClaimedRun>, tick: &mut Tick) {
        let due = self.without_giving_way(self.still_held(due), tick);
        let due = self.without_expired(due, tick);
        let (answered, _asked): (Vec<RouteStep>, Vec<_>) = self.prober.take_answered().into_iter().unzip();
        tick.report.answered = answered.len();
        let jobs = match self.definitions(&due, &answered).await {
            Ok(jobs) if !self.clock_guard.is_suspect() => jobs,
            Ok(_) => return self.retry_all(due, answered, tick),
            Err(error) => {
                let count = due.len() + answered.len();
                tracing::warn!(%error, run.count = count, "definitions could not be read; the runs wait");
                return self.retry_all(due, answered, tick);
            }
        };
        for step in answered {
            self.handle_answered(step, &jobs, tick);
        }
        let due = self.without_paused(due, &jobs, tick);
        // What needs nothing but its mark goes first: it does not wait for what others need of the database.
        let mut guarded = vec![];
        for run in due {
            match jobs.get(&run.job_id) {
                // The run that items are of is open already: they do not wait for it.
                Some(job) if self.admitter.is_free(job) || run.cause == Cause::Item => {
                    self.go(AdmittedRun { run, job: job.clone(), admission: None, slots: None, turn: None }, tick);
                }
                Some(_) => guarded.push(run),
                None => self.fail_without_job(run, tick),
            }
        }
        self.mark_and_send(tick).await;
        for admitted in self.admitter.admit(&jobs, guarded).await {
            self.go(admitted, tick);
        }
        self.mark_and_send(tick).await;
        self.route_limited(tick).await;
        self.mark_and_send(tick).await;
        for (admitted, task) in std::mem::take(&mut tick.to_expand) {
            self.expander.spawn(admitted, task);
        }
        self.router.persist(std::mem::take(&mut tick.notes)).await;
    }

    /// A shard that was lost takes its entries with it: the rows are there for its next holder. That may be this node under the
    /// same epoch, if a claim on its way renews a lease that was not trusted for a moment.
    fn still_held(&self, due: Vec<ClaimedRun>) -> Vec<ClaimedRun> {
        let is_held = |run: &ClaimedRun| self.held.may_mark(run.shard, run.epoch);
        let (held, dropped): (Vec<_>, Vec<_>) = due.into_iter().partition(is_held);
        let shards: HashSet<i32> = dropped.iter().map(|run| run.shard).collect();
        shards.into_iter().for_each(|shard| self.wakes.read_again(shard));
        held
    }

    /// What gives way to runs of schedules that leave in a moment comes with the first tick after it.
    fn without_giving_way(&self, due: Vec<ClaimedRun>, tick: &mut Tick) -> Vec<ClaimedRun> {
        let Some(free_at) = self.departures.free_at(self.cx.clock.now()) else {
            return due;
        };
        let (later, due): (Vec<_>, Vec<_>) = due.into_iter().partition(|run| gives_way(run.cause));
        tick.report.waiting += later.len();
        // A tick takes what is due until its lead is over.
        let at = free_at + ms(self.lead.current());
        self.queue.insert_all(later.into_iter().map(|run| (run, at)));
        due
    }

    /// The definitions of this tick: read and parsed at most once, and handed on from here.
    async fn definitions(&self, due: &[ClaimedRun], answered: &[RouteStep]) -> store::Result<JobsById> {
        let of_answered = answered.iter().map(|step| step.admitted().run.job_id);
        let ids: HashSet<i64> = due.iter().map(|run| run.job_id).chain(of_answered).collect();
        let ids: Vec<i64> = ids.into_iter().collect();
        let jobs = self.jobs.current(&ids).await?;
        self.router.load(&jobs, due, self.held.total()).await?;
        Ok(jobs)
    }

    /// What may still begin. A delayed run may have waited since its release: for an earlier run of its job, an executor or a node.
    fn without_expired(&self, due: Vec<ClaimedRun>, tick: &mut Tick) -> Vec<ClaimedRun> {
        let now = self.cx.clock.now();
        let (expired, due): (Vec<_>, Vec<_>) = due.into_iter().partition(|run| run.is_expired(now));
        expired.iter().for_each(|run| self.expire(run, tick));
        due
    }

    fn expire(&self, run: &ClaimedRun, tick: &mut Tick) {
        tick.report.cancelled += 1;
        let message = "it was reached later than it may begin";
        self.outcomes.report_internal(run.run_id, RunEvent::Cancelled, RunReason::Misfire, message);
    }

    /// Those whose app is not paused, or that go all the same.
    fn without_paused(&self, due: Vec<ClaimedRun>, jobs: &JobsById, tick: &mut Tick) -> Vec<ClaimedRun> {
        let now = self.cx.clock.now();
        let pauses = self.pauses.all();
        if pauses.is_empty() {
            return due;
        }
        // It is marked a little before it leaves: what counts is whether its app is paused then.
        let pause_of = |run: &ClaimedRun| {
            let (job, leaves_at) = (jobs.get(&run.job_id)?, run.due_at.max(now));
            pauses.iter().find(|pause| pause.concerns(job.stored.app_id) && pause.is_in_force(leaves_at))
        };
        let mut others = Vec::with_capacity(due.len());
        for run in due {
            match pause_of(&run).map(|pause| (DueInPause::of(&run), pause)) {
                None | Some((DueInPause::Send, _)) => others.push(run),
                Some((DueInPause::Wait, _)) => {
                    tick.report.waiting += 1;
                    self.queue.insert(run, now + PAUSED_MS);
                }
                Some((DueInPause::Cancel, pause)) => {
                    tick.report.cancelled += 1;
                    let message = format!("paused by {}: {}", pause.author, pause.note);
                    let reason = RunReason::AppPaused;
                    self.outcomes.report_internal(run.run_id, RunEvent::Cancelled, reason, message);
                }
            }
        }
        others
    }

    fn retry_all(&self, due: Vec<ClaimedRun>, answered: Vec<RouteStep>, tick: &mut Tick) {
        tick.report.waiting += due.len() + answered.len();
        due.into_iter().for_each(|run| self.retry(run));
        answered.into_iter().for_each(|step| self.wait(step.into_admitted()));
    }

    fn retry(&self, run: ClaimedRun) {
        self.queue.insert(run, self.cx.clock.now() + self.cx.settings.retry_ms());
    }

    /// Its fire no longer counts as open.
    fn wait(&self, admitted: AdmittedRun) {
        self.retry(admitted.run);
    }

    /// As what is due, but its candidates are in their order already. A definition that was edited while they were asked
    /// decides nothing any more.
    fn handle_answered(&self, step: RouteStep, jobs: &JobsById, tick: &mut Tick) {
        let AdmittedRun { run, job, .. } = step.admitted();
        if !self.held.may_mark(run.shard, run.epoch) {
            return;
        }
        if run.is_expired(self.cx.clock.now()) {
            return self.expire(run, tick);
        }
        match jobs.get(&run.job_id).is_some_and(|current| current.version() == job.version()) {
            true => self.handle_step(step, tick),
            false => self.wait(step.into_admitted()),
        }
    }

    pub(in crate::dispatch) fn route(&self, admitted: AdmittedRun, tick: &mut Tick) {
        if admitted.job.is_workflow() {
            tick.report.asked += 1;
            return tick.to_expand.push((admitted, ExpansionTask::Begin));
        }
        if tick.saturated.contains(&admitted) && self.router.may_still_wait(&admitted) {
            self.cx.metrics.saturated.inc();
            tick.report.waiting += 1;
            return self.defer(admitted);
        }
        let step = self.router.route(admitted);
        self.handle_step(step, tick);
    }

    fn handle_step(&self, step: RouteStep, tick: &mut Tick) {
        match step {
            RouteStep::Ordered(ordered) => match self.router.reserve(ordered) {
                Ok(routed) => {
                    // A service that hangs holds up no run of an executor.
                    if routed.is_stalled && routed.decision.job.http.is_none() {
                        tick.stalled.insert(routed.decision.job.stored.app.clone());
                    }
                    tick.routed.push(routed);
                }
                Err(step) => self.handle_step(*step, tick),
            },
            RouteStep::Probe(probe, ordered) => match self.prober.spawn(probe, *ordered) {
                None => tick.report.asked += 1,
                Some(admitted) => self.handle_step(self.router.wait_for_probe(admitted), tick),
            },
            RouteStep::Expand(admitted, expansion) => {
                tick.report.asked += 1;
                tick.to_expand.push((admitted, ExpansionTask::Split(expansion)));
            }
            RouteStep::Full(admitted) => {
                tick.report.waiting += 1;
                match tick.saturated.add(&admitted) {
                    true => self.defer(admitted),
                    false => self.wait(admitted),
                }
            }
            RouteStep::Wait(admitted) => {
                tick.report.waiting += 1;
                self.wait(admitted);
            }
            RouteStep::WaitFor(admitted, pause) => {
                tick.report.waiting += 1;
                self.queue.insert(admitted.run, self.cx.clock.now() + pause);
            }
            RouteStep::NoExecutor(admitted, message, trace) => self.fail(&admitted.run, message, &trace, tick),
        }
    }

    fn fail_without_job(&self, run: ClaimedRun, tick: &mut Tick) {
        self.router.forget(run.job_id);
        self.fail(&run, "the job does not exist any more".into(), &RouteTrace::default(), tick);
    }

    fn fail(&self, run: &ClaimedRun, message: String, trace: &RouteTrace, tick: &mut Tick) {
        tick.report.failed += 1;
        if *trace != RouteTrace::default() {
            self.traces.add(run.run_id, trace);
        }
        self.outcomes.report_internal(run.run_id, RunEvent::NoExecutor, RunReason::NoExecutor, message);
    }

    async fn mark_and_send(&self, tick: &mut Tick) {
        let mut routed = std::mem::take(&mut tick.routed);
        let now = self.cx.clock.now();
        self.limits.clear_notes(&routed).await;
        small_apps_first(&mut routed, |routed| &routed.decision.job.stored.app);
        let mut routed = routed.into_iter().peekable();
        while routed.peek().is_some() {
            let batch: Vec<RoutedRun> = routed.by_ref().take(BATCH).collect();
            let (limited, free): (Vec<_>, Vec<_>) = batch.into_iter().partition(|routed| routed.slots.is_some());
            if !free.is_empty() {
                free.iter().for_each(|routed| tick.notes.add_run(routed, now));
                self.send(self.marker.mark(free).await, tick);
            }
            if !limited.is_empty() {
                let done = self.marker.mark_limited(limited).await;
                done.marked.iter().for_each(|marked| tick.notes.add_run(&marked.routed, now));
                self.send(done.marked, tick);
                self.wait_for_slots(done.without_slot, tick);
                tick.report.waiting += done.held_up.len();
                done.held_up.into_iter().for_each(|routed| self.retry(routed.run));
            }
        }
    }

    fn send(&self, marked: Vec<MarkedRun>, tick: &mut Tick) {
        tick.report.sent += marked.len();
        self.count_bursts(&marked, &mut tick.left);
        self.sender.send(marked);
    }

    /// Several instants of one job leave together where the database or this node was slow.
    fn count_bursts(&self, marked: &[MarkedRun], left: &mut HashSet<i64>) {
        for MarkedRun { routed, .. } in marked {
            let run = &routed.run;
            let is_first = run.cause == Cause::Schedule && run.attempt == 1 && run.part == 0;
            if is_first && !left.insert(run.job_id) {
                self.cx.metrics.count_burst_run(&routed.decision.job.stored.app);
            }
        }
    }

    /// Until the next entry may be marked or slots are to be looked at, at most `tick_every`: the clock may be corrected. What comes first
    /// into an empty queue wakes the dispatcher.
    fn pause(&self) -> Duration {
        let due = self.pause_until_due();
        self.limits.pause().map_or(due, |of_slots| due.min(of_slots))
    }

    fn pause_until_due(&self) -> Duration {
        let Some(next) = self.queue.next_due() else {
            return Duration::from_secs(1);
        };
        let until = next - ms(self.lead.current()) - self.cx.clock.now();
        Duration::from_millis(until.max(0) as u64).min(self.cx.settings.tick_every)
    }
}

impl Service for Dispatcher {
    const NAME: &'static str = "dispatch";
    type Report = DispatchReport;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.queue.wake.clone())
    }

    async fn step(&self) -> Step<DispatchReport> {
        let mut tick = Tick::default();
        let is_suspect = self.clock_guard.is_suspect();
        let (mut due, mut runs, mut turns, mut freed) = (vec![], vec![], vec![], HashSet::new());
        if !is_suspect {
            due = self.queue.drain_due(self.cx.clock.now() + ms(self.lead.current()));
            turns = self.take_turns(&mut tick).await;
            freed = self.router.addresses.freed.take();
            runs = self.take_deferred(&freed);
            // They have had their turns at their limits, and found no room then.
            tick.turns.extend(runs.iter().map(|run| run.run_id));
        }
        self.cx.metrics.ring.set(self.queue.len() as i64);
        let has_due = !due.is_empty();
        // Those that have waited go first.
        runs.append(&mut turns);
        runs.append(&mut due);
        tick.report.due = runs.len();
        if !runs.is_empty() || self.prober.has_answered() {
            let begun = self.cx.clock.monotonic();
            self.dispatch(runs, &mut tick).await;
            // The short ticks between two seconds say nothing about the next.
            if has_due {
                self.lead.record(self.cx.clock.monotonic().saturating_sub(begun));
            }
        }
        self.queue.finish_tick();
        self.go_on(&freed, &tick);
        let next = if is_suspect { self.cx.settings.tick_every } else { self.pause() };
        Step { did: tick.report, next }
    }
}
