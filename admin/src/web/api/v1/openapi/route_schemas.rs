//! Executors, and how one of them was chosen.

use carillon_scheduler::RouteStrategy;
use carillon_scheduler::route::{DEFAULT_WEIGHT, WEIGHTS};
use serde_json::{Value, json};

use super::build::{answer, nullable, object, text, time, words};

fn weight(description: &str) -> Value {
    json!({"type": "integer", "minimum": WEIGHTS.start(), "maximum": WEIGHTS.end(), "description": description})
}

fn labels(description: &str) -> Value {
    text(description, 0, 255)
}

fn address(description: &str) -> Value {
    text(description, 1, 255)
}

pub fn executor() -> Value {
    let traits = |description: &str| {
        answer(
            description,
            vec![
                ("weight", nullable(weight("Null: nothing is said"))),
                ("labels", nullable(labels("Null: nothing is said"))),
            ],
        )
    };
    let effective =
        format!("Its share of jobs with the route `weighted`: what is set, else announced, else {DEFAULT_WEIGHT}");
    answer(
        "An executor that has registered for the app",
        vec![
            ("address", address("Exactly as registered: it is its identity")),
            ("own", json!({"type": "boolean", "description": "It uses our SDK"})),
            ("live", json!({"type": "boolean", "description": "Its last heartbeat still counts"})),
            ("weight", weight(&effective)),
            ("labels", labels("`key=value,key2=value2`: what is set, else announced, else none")),
            ("announced", traits("What it says of itself")),
            ("set", traits("What an operator has set: it wins, and outlives the registration")),
            ("registered_at", time("Since when it is there without a break")),
            ("seen_at", time("Its last heartbeat")),
            ("expires_at", time("Until when that counts")),
        ],
    )
}

pub fn executor_update() -> Value {
    object(
        "What is set of an executor; a member that is null or left out leaves it to the executor",
        &["address"],
        vec![
            ("address", address("One that has registered for the app")),
            ("weight", nullable(weight("Its share of jobs with the route `weighted`"))),
            ("labels", nullable(labels("`key=value,key2=value2`; `\"\"`: none, whatever it announces"))),
        ],
    )
}

pub fn choice() -> Value {
    let told = |description: &str, word: &str| {
        let member = json!({"type": "string"});
        json!({"type": "array", "items": answer(description, vec![("address", address("An executor")), (word, member)])})
    };
    let routes = RouteStrategy::ALL.iter().map(|route| route.as_str());
    let list = json!({"type": "array", "items": {"type": "string"}, "description": "Executors that it could have gone to, by address"});
    answer(
        "How its executor was chosen",
        vec![
            ("route", nullable(words(routes, "The job's route then; null: the executor was given with the fire"))),
            ("candidates", list),
            ("answers", told("What it said when it was asked before the run", "answer")),
            ("skipped", told("Before the chosen one in the order, and passed over", "why")),
            ("hops", told("Chosen before, but nothing could be written to it", "why")),
            ("chosen", nullable(address("The executor; null if there was none in time"))),
            ("why", json!({"type": "string", "description": "In one sentence"})),
        ],
    )
}
