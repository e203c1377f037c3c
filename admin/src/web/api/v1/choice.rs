//! How the executor of a run was chosen, in JSON.

use carillon_scheduler::RouteStrategy;
use serde::Serialize;

use crate::store::choice::{Choice, Told};

#[derive(Serialize)]
pub struct ChoiceJson {
    route: Option<RouteStrategy>,
    candidates: Vec<String>,
    answers: Vec<AnswerJson>,
    skipped: Vec<SkippedJson>,
    hops: Vec<SkippedJson>,
    chosen: Option<String>,
    why: String,
}

#[derive(Serialize)]
struct AnswerJson {
    address: String,
    answer: String,
}

#[derive(Serialize)]
struct SkippedJson {
    address: String,
    why: String,
}

impl From<Told> for AnswerJson {
    fn from(Told { address, what }: Told) -> Self {
        Self { address, answer: what }
    }
}

impl From<Told> for SkippedJson {
    fn from(Told { address, what }: Told) -> Self {
        Self { address, why: what }
    }
}

impl From<Choice> for ChoiceJson {
    fn from(choice: Choice) -> Self {
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
