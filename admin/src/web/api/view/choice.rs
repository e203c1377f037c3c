//! How the executor of a run was chosen.

use carillon_scheduler::RouteStrategy;
use carillon_store::run::route::{RouteDecision, TraceNote};
use serde::Serialize;
use utoipa::ToSchema;

use super::words;

/// How its executor was chosen
#[derive(Serialize, ToSchema)]
#[schema(as = Choice)]
pub struct ChoiceView {
    /// The job's route at that time; null: the executor was given with the fire
    #[schema(value_type = Option<words::RouteStrategy>)]
    route: Option<RouteStrategy>,
    /// The executors that could have got the run, by address
    candidates: Vec<String>,
    /// The replies of executors that were asked before the run
    answers: Vec<ProbeReply>,
    /// Executors before the chosen one in the order that were passed over
    skipped: Vec<PassedExecutor>,
    /// Executors chosen before, to which nothing could be written
    hops: Vec<PassedExecutor>,
    /// The executor; null if there was none in time
    #[schema(min_length = 1, max_length = 255)]
    chosen: Option<String>,
    /// The reason in one sentence
    why: String,
}

/// The reply of one executor
#[derive(Serialize, ToSchema)]
struct ProbeReply {
    /// The executor
    #[schema(min_length = 1, max_length = 255)]
    address: String,
    answer: String,
}

/// An executor that did not get the run
#[derive(Serialize, ToSchema)]
struct PassedExecutor {
    /// The executor
    #[schema(min_length = 1, max_length = 255)]
    address: String,
    why: String,
}

impl From<TraceNote> for ProbeReply {
    fn from(TraceNote { address, what }: TraceNote) -> Self {
        Self { address, answer: what }
    }
}

impl From<TraceNote> for PassedExecutor {
    fn from(TraceNote { address, what }: TraceNote) -> Self {
        Self { address, why: what }
    }
}

impl From<RouteDecision> for ChoiceView {
    fn from(choice: RouteDecision) -> Self {
        let story = choice.story;
        Self {
            route: choice.route,
            candidates: choice.candidates,
            answers: story.answers.into_iter().map(Into::into).collect(),
            skipped: story.skipped.into_iter().map(Into::into).collect(),
            hops: story.hops.into_iter().map(Into::into).collect(),
            chosen: choice.chosen,
            why: choice.why,
        }
    }
}
