//! The story of an instant.

use serde_json::{Value, json};

use super::build::{answer, id, list_of, nullable, schema, time, words};
use crate::pipeline::explain::VERDICTS;

pub fn explanation() -> Value {
    let sentence = json!({"type": "string"});
    let verdict = "`recorded`: it has a run; `skipped`: it lies in a range of skipped instants; `no_instant`, `excluded` (by a \
        calendar), `invalid` (outside the validity), `before_job`, `fixed_delay`: it is none; otherwise it is one, and why it \
        has no record";
    answer(
        "What became of an instant of a job, or why nothing did",
        vec![
            ("job_id", id("The job")),
            ("job", nullable(json!({"type": "string", "description": "Its name; null once it is deleted"}))),
            ("at", time("The instant")),
            ("verdict", words(VERDICTS, verdict)),
            (
                "revision",
                nullable(json!({"type": "integer", "description": "Of the definition in force then; null: not known"})),
            ),
            ("before", nullable(time("The instant before it by that definition"))),
            ("after", nullable(time("The instant after it"))),
            ("excluded_by", list_of(json!({"type": "string"}), "Calendars that exclude its day")),
            ("misfire", nullable(schema("Misfire"))),
            (
                "runs",
                list_of(schema("Explained"), "By schedule first, then by backfill; parts and attempts in their order"),
            ),
            ("story", list_of(sentence, "The same for people, in sentences")),
        ],
    )
}

pub fn explained() -> Value {
    let number = |description: &str| json!({"type": "integer", "description": description});
    let word = |description: &str| nullable(json!({"type": "string", "description": description}));
    answer(
        "A run of the instant, with what the engine keeps of it",
        vec![
            ("run", schema("Run")),
            ("node", word("The node that held it last")),
            ("epoch", number("Of the shard, under which it was held; 0: nobody has taken it up")),
            ("shard", number("The shard of its job then")),
            ("marked_at", nullable(time("When it was allowed to be sent"))),
            ("sends", number("Requests started")),
            ("late_ms", nullable(number("From its due time to its request"))),
            ("reason", word("Why it ended so, in one word")),
            ("result_code", nullable(number("What the executor reported"))),
        ],
    )
}
