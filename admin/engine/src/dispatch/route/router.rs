//! Which executor gets a run: the job's strategy over the live executors of its app that have the job's labels,
//! and a place at the first of them that has room.

use std::sync::Arc;

use carillon_scheduler::{Cause, HttpDraft, RouteStrategy, route as rules};

use crate::context::Context;
use crate::dispatch::route::candidate_set::{CandidateSet, CandidateSets, persist};
use crate::dispatch::route::decision::{RouteDecision, note};
use crate::dispatch::route::memory::RouteMemory;
use crate::dispatch::route::notes::RouteNotes;
use crate::dispatch::route::open_counts::OpenRunCounts;
use crate::dispatch::stages::{AdmittedRun, OrderedRun, RouteStep, RoutedRun, place_of};
use crate::executor::address::gate::{Reservation, SlotDenied};
use crate::executor::address::pool::AddressPool;
use crate::executor::directory::{Candidate, ExecutorDirectory};
use crate::job_cache::{CachedJob, JobsById};
use carillon_store as store;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::expand::Expansion;
use carillon_store::run::mark::KEEP_ADDRESS;
use carillon_store::run::route::RouteTrace;

pub struct Router {
    pub(crate) cx: Arc<Context>,
    pub(crate) directory: Arc<ExecutorDirectory>,
    pub(crate) addresses: Arc<AddressPool>,
    pub(crate) memory: RouteMemory,
    pub(crate) counts: OpenRunCounts,
    pub(crate) sets: CandidateSets,
}

const SATURATED: &str = "saturated";
const SCRIPTS_OFF: &str = "script jobs are switched off on this server (--scripts), so the run was not sent";
const BROKEN: &str = "did not answer lately";

impl Router {
    /// What the routes of these jobs need of the database.
    pub async fn load(&self, jobs: &JobsById, due: &[ClaimedRun], shards: i32) -> store::Result<()> {
        let (store, now) = (&self.cx.store, self.cx.clock.monotonic());
        self.memory.load_sticky(store, jobs, due).await?;
        self.counts.load(store, jobs, shards, now).await
    }

    pub fn route(&self, admitted: AdmittedRun) -> RouteStep {
        let AdmittedRun { run, job, .. } = &admitted;
        let strategy = strategy_of(run, job);
        // Before anything can fail: each part has its own attempts.
        if has_parts_to_fix(run, job, strategy) {
            return RouteStep::Expand(admitted, Expansion::Parts);
        }
        if job.script_version().is_some() && !self.cx.settings.scripts {
            let trace = RouteTrace { route: Some(strategy), ..RouteTrace::default() };
            return RouteStep::NoExecutor(admitted, SCRIPTS_OFF.to_owned(), Box::new(trace));
        }
        if let Some(Err(why)) = &job.http {
            let why = format!("the request of the job cannot be read: {why}");
            return RouteStep::NoExecutor(admitted, why, Box::default());
        }
        let list = match self.candidates(job, run) {
            Ok(list) => list,
            Err(late) => return self.no_live_executor(strategy, admitted, late),
        };
        if is_unexpanded(strategy, run) {
            let addresses = list.iter().map(|candidate| candidate.address.clone()).collect();
            return RouteStep::Expand(admitted, Expansion::Broadcast(addresses));
        }
        let names = list.iter().map(|candidate| candidate.address.as_str());
        let is_given = run.bound_to.is_some() && job.http.is_none() && strategy != RouteStrategy::Broadcast;
        let decision = RouteDecision {
            job: job.clone(),
            route_code: if is_given { KEEP_ADDRESS } else { strategy.code() },
            set: self.sets.of(names),
            trace: None,
            moves: false,
        };
        if run.bound_to.is_some() || job.http.is_some() {
            return RouteStep::Ordered(OrderedRun { admitted, candidates: list, decision });
        }
        let candidates = self.in_order(strategy, run, list, &decision);
        let ordered = OrderedRun { admitted, candidates, decision };
        match strategy.probe() {
            None => RouteStep::Ordered(ordered),
            Some(probe) => RouteStep::Probe(probe, Box::new(ordered)),
        }
    }

    /// In ascending order of their addresses; or what to say if there is none.
    fn candidates(&self, job: &CachedJob, run: &ClaimedRun) -> Result<Vec<Candidate>, String> {
        let app = &job.stored.app;
        if let Some(origin) = job.request().and_then(HttpDraft::origin) {
            return Ok(vec![Candidate::of_service(app, origin)]);
        }
        let mut live = self.directory.live(app);
        let is_any_live = !live.is_empty();
        // What they have ends there, and they get nothing new: not even what is bound to them.
        live.retain(|candidate| !candidate.is_draining());
        let is_any_free = !live.is_empty();
        if let Some(kind) = job.script() {
            live.retain(|candidate| candidate.runs_script(kind));
        }
        let late = if is_any_live && !is_any_free {
            format!("all executors of app {app} are draining")
        } else if let Some(kind) = job.script().filter(|_| is_any_free && live.is_empty()) {
            format!(
                "no executor of app {app} runs {kind} scripts; start a worker there (carillon worker), or mark the app if its executors \
                 in Java may run scripts"
            )
        } else if let Some(address) = &run.bound_to {
            // A bound run goes to its executor with any labels: no other may have it.
            live.retain(|candidate| candidate.address == *address);
            format!("{address} is not there")
        } else {
            let labels = job.rules.as_ref().ok().map(|rules| &rules.route_labels);
            match labels.filter(|labels| !labels.is_empty() && !live.is_empty()) {
                Some(labels) => {
                    live.retain(|candidate| candidate.labels.has_all(labels));
                    format!("no executor of app {app} has the labels {labels}")
                }
                None => format!("no executor of app {app} is registered"),
            }
        };
        if live.is_empty() { Err(late) } else { Ok(live) }
    }

    /// The executors that may have the loop of a job, in the order of its route.
    pub fn for_loop(&self, job: &CachedJob) -> Vec<Candidate> {
        let Ok(rules) = &job.rules else { return vec![] };
        let mut live = self.directory.live(&job.stored.app);
        live.retain(|it| it.takes_loops && !it.is_draining() && it.labels.has_all(&rules.route_labels));
        if live.is_empty() {
            return live;
        }
        let set = self.sets.of(live.iter().map(|candidate| candidate.address.as_str()));
        self.by_strategy(rules.route, job.stored.job_id, live, &set)
    }

    fn no_live_executor(&self, strategy: RouteStrategy, admitted: AdmittedRun, late: String) -> RouteStep {
        let give_up_at = self.directory.awaited_until(admitted.run.due_at);
        if self.cx.clock.now() < give_up_at {
            return RouteStep::Wait(admitted);
        }
        let trace = RouteTrace { route: Some(strategy), ..RouteTrace::default() };
        RouteStep::NoExecutor(admitted, late, Box::new(trace))
    }

    fn in_order(
        &self,
        strategy: RouteStrategy,
        run: &ClaimedRun,
        mut list: Vec<Candidate>,
        decision: &RouteDecision,
    ) -> Vec<Candidate> {
        if strategy == RouteStrategy::Broadcast {
            // A further attempt of a part: the executor of its number in the list of now, and behind it the others. They get it
            // only if nothing was written to the one before.
            let index = run.part.max(0) as usize % list.len();
            list.rotate_left(index);
            return list;
        }
        self.by_strategy(strategy, run.job_id, list, &decision.set)
    }

    fn by_strategy(
        &self,
        strategy: RouteStrategy,
        job_id: i64,
        list: Vec<Candidate>,
        set: &CandidateSet,
    ) -> Vec<Candidate> {
        let now = self.cx.clock.monotonic();
        let active = strategy == RouteStrategy::LeastActive;
        // Executors that have missed two heartbeats come after all others, but a run that belongs to one executor stays with it.
        let (first, suspects): (Vec<_>, Vec<_>) =
            list.into_iter().partition(|candidate| strategy.has_affinity() || !candidate.suspect);
        let known: Vec<rules::Candidate<'_>> = first
            .iter()
            .map(|candidate| rules::Candidate {
                address: &candidate.address,
                weight: candidate.weight,
                active: if active { self.counts.of(&candidate.address) } else { 0 },
            })
            .collect();
        let ring = strategy.has_affinity().then(|| set.ring());
        let order = self.memory.order(strategy, job_id, &known, ring, now);
        let first = order.into_iter().map(|index| first[index].clone());
        first.chain(suspects).collect()
    }

    /// The job is gone.
    pub fn forget(&self, job_id: i64) {
        self.memory.forget(job_id);
    }

    /// It may still wait for room: as late as its job lets it be. A run to which a slot was refused is late already, and waits on.
    pub fn may_still_wait(&self, admitted: &AdmittedRun) -> bool {
        admitted.turn.is_some_and(|turn| turn.has_waited) || self.is_in_time(admitted)
    }

    /// It is as late as its job lets it be, counted from its turn if it keeps limits.
    fn is_in_time(&self, AdmittedRun { run, job, turn, .. }: &AdmittedRun) -> bool {
        let begun = turn.map_or(run.due_at, |turn| turn.at.max(run.due_at));
        self.cx.clock.now() < self.directory.give_up_from(begun) + job.stored.misfire_threshold_ms
    }

    /// Too many executors are being asked already. It waits as long as for an executor with room.
    pub fn wait_for_probe(&self, admitted: AdmittedRun) -> RouteStep {
        if self.may_still_wait(&admitted) {
            return RouteStep::Wait(admitted);
        }
        let why = "the executors of its app are slow to answer: too many of its runs wait for a probe";
        RouteStep::NoExecutor(admitted, why.into(), Box::default())
    }

    /// After the marks: no run waits for it, and losing it in a crash costs a name in a list, or one run of a sticky job that goes
    /// back to the executor before.
    pub async fn persist(&self, notes: RouteNotes) {
        let now = self.cx.clock.now();
        if let Err(error) = persist(notes.sets.values(), &self.cx.store, now).await {
            tracing::warn!(%error, set.count = notes.sets.len(), "sets of candidates could not be kept yet");
        }
        let moved: Vec<(i64, String)> = notes.sticky.into_iter().collect();
        if let Err(error) = self.cx.store.runs().set_sticky(&moved, now).await {
            tracing::warn!(%error, job.count = moved.len(), "where sticky jobs go could not be kept");
            for (job_id, _) in moved {
                self.memory.forget(job_id);
            }
        }
    }

    /// The first candidate that has room gets the run; without one the run waits, or has no executor.
    pub fn reserve(&self, ordered: OrderedRun) -> Result<RoutedRun, Box<RouteStep>> {
        let monotonic = self.cx.clock.monotonic();
        let has_affinity = ordered.decision.has_affinity();
        let place = place_of(&ordered.admitted.run, &ordered.admitted.job);
        let (mut passed, mut is_behind) = (Vec::new(), false);
        // First where something moves, then behind others that wait: but not at a service, where that may be long, and each
        // run would be marked and go back again and again.
        let rounds: &[bool] = if ordered.admitted.job.http.is_some() { &[false] } else { &[has_affinity, true] };
        for behind_others in rounds.iter().copied() {
            passed.clear();
            for (index, candidate) in ordered.candidates.iter().enumerate() {
                let address = self.addresses.get(&candidate.app, &candidate.address);
                if !behind_others && address.is_stalled(monotonic) {
                    passed.push((index, "stalled"));
                    continue;
                }
                match address.try_reserve(monotonic, candidate.capacity(&self.cx.settings), place) {
                    Ok(reservation) => {
                        let is_stalled = behind_others && address.is_stalled(monotonic);
                        let routed = self.routed(ordered, index, reservation, &passed);
                        return Ok(RoutedRun { is_stalled, ..routed });
                    }
                    Err(SlotDenied::Saturated) if has_affinity => {
                        return Err(Box::new(self.no_room(ordered, &[(index, SATURATED)], false)));
                    }
                    Err(SlotDenied::Saturated) => passed.push((index, SATURATED)),
                    Err(SlotDenied::Broken) => passed.push((index, BROKEN)),
                    Err(SlotDenied::Behind) => {
                        is_behind = true;
                        passed.push((index, BROKEN));
                    }
                }
            }
        }
        Err(Box::new(self.no_room(ordered, &passed, is_behind)))
    }

    fn routed(
        &self,
        ordered: OrderedRun,
        index: usize,
        reservation: Reservation,
        passed: &[(usize, &'static str)],
    ) -> RoutedRun {
        let OrderedRun { admitted, mut candidates, mut decision } = ordered;
        for (index, why) in passed {
            decision.trace().skipped.push(note(&candidates[*index].address, why));
        }
        // Most runs take the first.
        if index > 0 {
            candidates.drain(..index);
        }
        let (run, address) = (admitted.run, &candidates[0].address);
        if let Some(strategy) = decision.strategy() {
            decision.moves = self.memory.record_use(strategy, &run, address);
            if strategy == RouteStrategy::LeastActive {
                self.counts.add_routed(address);
            }
        }
        RoutedRun {
            run,
            admission: admitted.admission,
            slots: admitted.slots,
            turn: admitted.turn,
            candidates,
            reservation,
            is_stalled: false,
            decision,
        }
    }

    /// `is_behind`: another run is to try one of them first, which says nothing of the other runs of its app.
    fn no_room(&self, ordered: OrderedRun, passed: &[(usize, &'static str)], is_behind: bool) -> RouteStep {
        let OrderedRun { admitted, candidates, mut decision } = ordered;
        self.cx.metrics.saturated.inc();
        // What does not answer is no room that comes.
        let is_broken = !passed.is_empty() && passed.iter().all(|(_, why)| *why == BROKEN);
        let waits = self.is_in_time(&admitted) || !is_broken && self.may_still_wait(&admitted);
        if is_broken {
            self.update_lines(&admitted, &candidates, waits);
        }
        if waits {
            return if is_behind { RouteStep::Wait(admitted) } else { RouteStep::Full(admitted) };
        }
        for (index, why) in passed {
            decision.trace().skipped.push(note(&candidates[*index].address, why));
        }
        let broken = passed.iter().filter(|(_, why)| *why == BROKEN).count();
        let saturated = passed.len() - broken;
        let message = match admitted.job.request().and_then(HttpDraft::origin) {
            Some(origin) if broken > 0 => {
                let gate = self.addresses.get(&admitted.job.stored.app, origin);
                format!("{origin} could not be reached lately: {}", gate.last_fault())
            }
            Some(origin) => format!("{origin} is busy: too many requests of this node wait for it"),
            None => format!("no executor had room: {saturated} busy, {broken} did not answer lately"),
        };
        RouteStep::NoExecutor(admitted, message, Box::new(decision.into_trace()))
    }

    /// All addresses of a run are closed: it waits for the first that is tried again, or not any longer.
    fn update_lines(&self, AdmittedRun { run, job, .. }: &AdmittedRun, candidates: &[Candidate], waits: bool) {
        let (place, now) = (place_of(run, job), self.cx.clock.monotonic());
        for candidate in candidates {
            let address = self.addresses.get(&candidate.app, &candidate.address);
            match waits {
                true => address.wait_in_line(place, now),
                false => address.leave_line(place),
            }
        }
    }
}

fn strategy_of(run: &ClaimedRun, job: &CachedJob) -> RouteStrategy {
    // An HTTP job has one place to go to.
    let given = if job.http.is_some() { None } else { job.rules.as_ref().ok().map(|rules| rules.route) };
    let strategy = given.unwrap_or(RouteStrategy::First);
    if run.cause == Cause::Item { strategy.of_items() } else { strategy }
}

/// A fire that becomes several runs before it is sent.
pub fn is_to_be_split(run: &ClaimedRun, job: &CachedJob) -> bool {
    let strategy = strategy_of(run, job);
    has_parts_to_fix(run, job, strategy) || is_unexpanded(strategy, run)
}

/// A run of a broadcast job whose executors are not fixed yet: also a further attempt of one that found none, or only one.
fn is_unexpanded(route: RouteStrategy, run: &ClaimedRun) -> bool {
    route == RouteStrategy::Broadcast && run.parts == 1 && run.bound_to.is_none()
}

/// A fire that is to be split, by what was asked for with it or by its job, and is one run yet: its first attempt may have ended before.
fn has_parts_to_fix(run: &ClaimedRun, job: &CachedJob, route: RouteStrategy) -> bool {
    let own = if route == RouteStrategy::Broadcast { 1 } else { job.stored.parts };
    run.cause != Cause::Item && run.parts == 1 && run.asked_parts.unwrap_or(own) > 1
}
