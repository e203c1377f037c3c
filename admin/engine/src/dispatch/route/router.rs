//! Which executor gets a run: the job's strategy over the live executors of its app that have the job's labels, less
//! those without room.

use carillon_scheduler::{RouteStrategy, route as rules};

use crate::Pipeline;
use crate::dispatch::probe::Question;
use crate::dispatch::trace::{Choice, told};
use crate::executor::address_gate::{NoRoom, Place};
use crate::executor::directory::Candidate;
use crate::plan::job_cache::{ById, Job};
use crate::settings::ms;
use crate::store::run::adopt::Waiting;
use crate::store::run::mark::{GIVEN, Mark};
use crate::store::run::route::Story;

pub enum Verdict {
    /// The first candidate has room and counts this run already; the others follow if nothing could be written to it.
    Send(Vec<Candidate>, Place, Choice),
    /// The candidates are to be asked first.
    Ask(Box<Question>),
    Expand(Vec<String>),
    /// Again at a later tick.
    Wait,
    /// All are busy or out of order: again at a later tick.
    Full,
    /// Again after so many milliseconds.
    WaitFor(i64),
    NoExecutor(String, Box<Story>),
}

pub struct Routed {
    pub run: Waiting,
    pub candidates: Vec<Candidate>,
    pub place: Place,
    pub choice: Choice,
}

impl Routed {
    pub fn mark(&self) -> Mark<'_> {
        let first = &self.candidates[0];
        Mark {
            run_id: self.run.run_id,
            epoch: self.run.epoch,
            address: &first.address,
            boot_id: first.boot_id.as_deref(),
            journal_id: first.journal_id.as_deref(),
            candidates_id: self.choice.set.id,
            route_code: self.choice.route_code,
            revision: self.choice.job.stored.revision,
            app_id: self.choice.job.stored.app_id,
        }
    }

    /// It waits for its first candidate while that one is only busy.
    pub fn has_affinity(&self) -> bool {
        has_affinity(&self.choice)
    }
}

fn has_affinity(choice: &Choice) -> bool {
    RouteStrategy::from_code(choice.route_code).is_some_and(RouteStrategy::has_affinity)
}

pub fn route(pipeline: &Pipeline, jobs: &ById, run: &Waiting) -> Verdict {
    let Some(job) = jobs.get(&run.job_id) else {
        pipeline.histories.forget(run.job_id);
        let message = "the job does not exist any more".into();
        return Verdict::NoExecutor(message, Box::default());
    };
    let rules = job.rules.as_ref();
    let strategy = rules.map_or(RouteStrategy::First, |rules| rules.route);
    let list = match candidates(pipeline, job, run) {
        Ok(list) => list,
        Err(late) => return nobody_there(pipeline, strategy, run, late),
    };
    if crate::dispatch::dispatcher::is_unexpanded(strategy, run) {
        let addresses = list.into_iter().map(|candidate| candidate.address);
        return Verdict::Expand(addresses.collect());
    }
    let names = list.iter().map(|candidate| candidate.address.as_str());
    let given = run.bound_to.is_some() && strategy != RouteStrategy::Broadcast;
    let choice = Choice {
        job: job.clone(),
        route_code: if given { GIVEN } else { strategy.code() },
        set: pipeline.sets.of(names),
        story: None,
        moves: false,
    };
    if run.bound_to.is_some() {
        return with_room(pipeline, run, list, choice);
    }
    let list = in_order(pipeline, strategy, run, list, &choice);
    match strategy.probe() {
        None => with_room(pipeline, run, list, choice),
        Some(probe) => Verdict::Ask(Box::new(Question { run: run.clone(), probe, candidates: list, choice })),
    }
}

/// In ascending order of their addresses; or what to say if there is none.
fn candidates(pipeline: &Pipeline, job: &Job, run: &Waiting) -> Result<Vec<Candidate>, String> {
    let app = &job.stored.app;
    let mut live = pipeline.executors.live(app, pipeline.clock.now());
    let late = if let Some(address) = &run.bound_to {
        // A bound run goes to its executor whatever its labels say: nobody else may have it.
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

fn nobody_there(pipeline: &Pipeline, strategy: RouteStrategy, run: &Waiting, late: String) -> Verdict {
    let patience = pipeline.executors.patience_from(run.due_at) + ms(pipeline.settings.no_executor_after);
    if pipeline.clock.now() < patience {
        return Verdict::Wait;
    }
    let story = Story { route: Some(strategy), ..Story::default() };
    Verdict::NoExecutor(late, Box::new(story))
}

fn in_order(
    pipeline: &Pipeline,
    strategy: RouteStrategy,
    run: &Waiting,
    mut list: Vec<Candidate>,
    choice: &Choice,
) -> Vec<Candidate> {
    if strategy == RouteStrategy::Broadcast {
        // A further attempt of a part: the executor of its number in the list of now.
        let index = run.part.max(0) as usize % list.len();
        return vec![list.swap_remove(index)];
    }
    let now = pipeline.clock.monotonic();
    let active = strategy == RouteStrategy::LeastActive;
    // Who has missed two heartbeats comes after all others, but a run that belongs to one executor stays with it.
    let (first, suspects): (Vec<_>, Vec<_>) =
        list.into_iter().partition(|candidate| strategy.has_affinity() || !candidate.suspect);
    let known: Vec<rules::Candidate<'_>> = first
        .iter()
        .map(|candidate| rules::Candidate {
            address: &candidate.address,
            weight: candidate.weight,
            active: if active { pipeline.active.of(&candidate.address) } else { 0 },
        })
        .collect();
    let ring = strategy.has_affinity().then(|| choice.set.ring());
    let order = pipeline.histories.order(strategy, run.job_id, &known, ring, now);
    let first = order.into_iter().map(|index| first[index].clone());
    first.chain(suspects).collect()
}

/// The first of the list that has room gets the run.
pub fn with_room(pipeline: &Pipeline, run: &Waiting, mut list: Vec<Candidate>, mut choice: Choice) -> Verdict {
    let monotonic = pipeline.clock.monotonic();
    let has_affinity = has_affinity(&choice);
    let mut passed = Vec::new();
    // First where something moves, then behind whatever waits.
    for behind_others in [has_affinity, true] {
        passed.clear();
        for index in 0..list.len() {
            let address = pipeline.addresses.get(&list[index].address);
            if !behind_others && address.is_stalled(monotonic) {
                passed.push((index, "stalled"));
                continue;
            }
            match address.enter(monotonic, pipeline.settings.waiting) {
                Ok(place) => {
                    for (index, why) in passed {
                        let told = told(&list[index].address, why);
                        choice.story().skipped.push(told);
                    }
                    let list = list.split_off(index);
                    note(pipeline, run, &list[0].address, &mut choice);
                    return Verdict::Send(list, place, choice);
                }
                Err(NoRoom::Saturated) if has_affinity => {
                    return no_room(pipeline, run, &list, choice, &[(index, SATURATED)]);
                }
                Err(NoRoom::Saturated) => passed.push((index, SATURATED)),
                Err(NoRoom::Broken) => passed.push((index, BROKEN)),
            }
        }
    }
    no_room(pipeline, run, &list, choice, &passed)
}

const SATURATED: &str = "saturated";
const BROKEN: &str = "did not answer lately";

fn no_room(
    pipeline: &Pipeline,
    run: &Waiting,
    list: &[Candidate],
    mut choice: Choice,
    passed: &[(usize, &'static str)],
) -> Verdict {
    pipeline.metrics.saturated.inc();
    if has_patience(pipeline, &choice.job, run) {
        return Verdict::Full;
    }
    for (index, why) in passed {
        choice.story().skipped.push(told(&list[*index].address, why));
    }
    let saturated = passed.iter().filter(|(_, why)| *why == SATURATED).count();
    let broken = passed.len() - saturated;
    let message = format!("no executor had room: {saturated} busy, {broken} did not answer lately");
    Verdict::NoExecutor(message, Box::new(choice.unmarked()))
}

/// It may still wait for room: as late as its job lets it be.
pub fn has_patience(pipeline: &Pipeline, job: &Job, run: &Waiting) -> bool {
    let patience = pipeline.executors.patience_from(run.due_at);
    pipeline.clock.now() < patience + job.stored.misfire_threshold_ms
}

/// What the routes remember of it.
fn note(pipeline: &Pipeline, run: &Waiting, address: &str, choice: &mut Choice) {
    let Some(strategy) = RouteStrategy::from_code(choice.route_code) else {
        return;
    };
    choice.moves = pipeline.histories.used(strategy, run, address);
    if strategy == RouteStrategy::LeastActive {
        pipeline.active.given(address);
    }
}
