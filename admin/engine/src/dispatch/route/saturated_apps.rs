//! Where an app is flooded, thousands of its runs find no room with every tick. Only the first of them looks at each
//! executor: what the others cost would be the other apps' time.

use std::collections::HashSet;

use carillon_scheduler::RouteStrategy;

use crate::Pipeline;
use crate::dispatch::route::router::{Verdict, has_patience, route};
use crate::plan::job_cache::{ById, Job};
use crate::store::run::adopt::Waiting;

/// Apps of which no executor has had room in this tick.
#[derive(Default)]
pub struct Crowd<'a>(HashSet<&'a str>);

impl<'a> Crowd<'a> {
    pub fn route(&mut self, pipeline: &Pipeline, jobs: &'a ById, run: &Waiting) -> Verdict {
        let job = jobs.get(&run.job_id).filter(|job| goes_anywhere(job, run));
        let Some(job) = job else {
            return route(pipeline, jobs, run);
        };
        let app = job.stored.app.as_str();
        if self.0.contains(app) && has_patience(pipeline, job, run) {
            pipeline.metrics.saturated.inc();
            return Verdict::Full;
        }
        let verdict = route(pipeline, jobs, run);
        if matches!(verdict, Verdict::Full) {
            self.0.insert(app);
        }
        verdict
    }
}

/// To any executor of its app that has room, so that it learns of all of them.
fn goes_anywhere(job: &Job, run: &Waiting) -> bool {
    let Ok(rules) = &job.rules else { return false };
    let asks = rules.route.probe().is_some();
    let is_narrow = run.bound_to.is_some() || !rules.route_labels.is_empty();
    !asks && !is_narrow && !rules.route.has_affinity() && rules.route != RouteStrategy::Broadcast
}
