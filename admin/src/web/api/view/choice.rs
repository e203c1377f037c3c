//! How the executor of a run was chosen.

use carillon_scheduler::RouteStrategy;
use carillon_store::run::route::{RouteDecision, TraceNote};

use super::view_macro::{IntoView, view};
use super::words;

view! {
    /// How its executor was chosen
    pub struct ChoiceView as Choice from choice: RouteDecision {
        /// The job's route at that time; null: the executor was given with the fire
        #[schema(value_type = Option<words::RouteStrategy>)]
        route: Option<RouteStrategy>,
        /// The executors that could have got the run, by address
        candidates: Vec<String>,
        /// The replies of executors that were asked before the run
        answers: Vec<ProbeReply> = choice.story.answers.into_view(),
        /// Executors before the chosen one in the order that were passed over
        skipped: Vec<PassedExecutor> = choice.story.skipped.into_view(),
        /// Executors chosen before, to which nothing could be written
        hops: Vec<PassedExecutor> = choice.story.hops.into_view(),
        /// The executor; null if there was none in time
        #[schema(min_length = 1, max_length = 255)]
        chosen: Option<String>,
        /// The reason in one sentence
        why: String,
    }
}

view! {
    /// The reply of one executor
    struct ProbeReply as ProbeReply from note: TraceNote {
        /// The executor
        #[schema(min_length = 1, max_length = 255)]
        address: String,
        answer: String = note.what,
    }
}

view! {
    /// An executor that did not get the run
    struct PassedExecutor as PassedExecutor from note: TraceNote {
        /// The executor
        #[schema(min_length = 1, max_length = 255)]
        address: String,
        why: String = note.what,
    }
}
