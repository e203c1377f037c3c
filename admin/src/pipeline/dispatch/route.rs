//! Which executor gets a run: the job's strategy over the live executors of its app, less those without room.

use carillon_scheduler::{RouteStrategy, route as rules};

use crate::pipeline::Pipeline;
use crate::pipeline::addresses::{NoRoom, Place};
use crate::pipeline::executors::Candidate;
use crate::pipeline::jobs::ById;
use crate::pipeline::settings::ms;
use crate::store::adopt::Waiting;
use crate::store::mark::Mark;

pub enum Verdict {
    /// The first candidate has room and counts this run already; the others follow if nothing could be written to it.
    Send(Vec<Candidate>, Place),
    Expand(Vec<String>),
    /// All are busy or out of order: again at a later tick.
    Wait,
    NoExecutor(String),
}

pub struct Routed {
    pub run: Waiting,
    pub candidates: Vec<Candidate>,
    pub place: Place,
}

impl Routed {
    pub fn mark(&self) -> Mark<'_> {
        let first = &self.candidates[0];
        Mark {
            run_id: self.run.run_id,
            epoch: self.run.epoch,
            address: &first.address,
            boot_id: first.boot_id.as_deref(),
        }
    }
}

pub fn route(pipeline: &Pipeline, jobs: &ById, run: &Waiting) -> Verdict {
    let now = pipeline.clock.now();
    let Some(job) = jobs.get(&run.job_id) else {
        return Verdict::NoExecutor("the job does not exist any more".into());
    };
    let strategy = job
        .rules
        .as_ref()
        .map_or(RouteStrategy::First, |rules| rules.route);
    let live = pipeline.executors.live(&job.stored.app, now);
    let (list, late) = match &run.bound_to {
        Some(address) => (bound(&live, address), format!("{address} is not there")),
        None => (
            live,
            format!("no executor of app {} is registered", job.stored.app),
        ),
    };
    if list.is_empty() {
        let patience =
            pipeline.executors.patience_from(run.due_at) + ms(pipeline.settings.no_executor_after);
        return if now >= patience {
            Verdict::NoExecutor(late)
        } else {
            Verdict::Wait
        };
    }
    if super::is_unexpanded(strategy, run) {
        return Verdict::Expand(
            list.into_iter()
                .map(|candidate| candidate.address)
                .collect(),
        );
    }
    with_room(pipeline, run, in_order(pipeline, strategy, run, list), now)
}

/// A bound run goes to its executor whatever its lease says: nobody else may have it.
fn bound(live: &[Candidate], address: &str) -> Vec<Candidate> {
    live.iter()
        .filter(|candidate| candidate.address == address)
        .cloned()
        .collect()
}

fn in_order(
    pipeline: &Pipeline,
    strategy: RouteStrategy,
    run: &Waiting,
    list: Vec<Candidate>,
) -> Vec<Candidate> {
    if strategy == RouteStrategy::Broadcast && run.bound_to.is_none() {
        // A further attempt of a part: the executor of its number in the list of now.
        let index = run.part.max(0) as usize % list.len();
        return vec![list[index].clone()];
    }
    let candidates: Vec<rules::Candidate<'_>> = list
        .iter()
        .map(|candidate| rules::Candidate::at(&candidate.address))
        .collect();
    let facts = rules::Facts {
        job_id: run.job_id,
        ticket: pipeline.turn(run.job_id),
        random: rand::random(),
        ..rules::Facts::default()
    };
    rules::order(strategy, &candidates, &facts)
        .into_iter()
        .map(|index| list[index].clone())
        .collect()
}

fn with_room(pipeline: &Pipeline, run: &Waiting, mut list: Vec<Candidate>, now: i64) -> Verdict {
    let monotonic = pipeline.clock.monotonic();
    let mut saturated = 0;
    // First where something moves, then behind whatever waits.
    for behind_others in [false, true] {
        saturated = 0;
        for index in 0..list.len() {
            let address = pipeline.addresses.get(&list[index].address);
            if !behind_others && address.is_stalled(monotonic) {
                continue;
            }
            match address.enter(monotonic, pipeline.settings.waiting) {
                Ok(place) => return Verdict::Send(list.split_off(index), place),
                Err(why) => saturated += u32::from(why == NoRoom::Saturated),
            }
        }
    }
    pipeline.metrics.saturated.inc();
    if now >= pipeline.executors.patience_from(run.due_at) + ms(pipeline.settings.give_up_after) {
        let broken = list.len() as u32 - saturated;
        return Verdict::NoExecutor(format!(
            "no executor had room: {saturated} busy, {broken} did not answer lately"
        ));
    }
    Verdict::Wait
}
