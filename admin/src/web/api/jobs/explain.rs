//! `/jobs/{id}/explain`: what became of one instant of a job.

use actix_web::web::Json;
use carillon_inspect::explain::{self, Explanation};
use carillon_locale::Language;
use carillon_store::app::limits::line::LimitPlace;

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Caller, Id, Query};
use crate::web::api::view::{IntoView, MisfireView, RunView, Time, view, words};
use crate::web::state::Shared;

view! {
    /// What became of an instant of a job, or why nothing did
    pub struct ExplanationView as Explanation from found: Explanation {
        /// The same for people, in sentences
        story: Vec<String> = found.sentences(Language::English),
        /// The job
        #[schema(minimum = 1)]
        job_id: i64,
        /// Its name; null once it is deleted
        job: Option<String>,
        /// The instant
        at: Time,
        #[schema(value_type = words::Verdict)]
        verdict: &'static str = found.verdict.as_str(),
        /// Of the definition that was in force at that time; null: not known
        revision: Option<i64>,
        /// The instant before it by that definition
        before: Option<Time> = found.nearby.before.map(Time),
        /// The instant after it
        after: Option<Time> = found.nearby.after.map(Time),
        /// Calendars that exclude its day
        excluded_by: Vec<String> = found.nearby.excluded_by,
        misfire: Option<MisfireView>,
        /// Those by schedule first, then those by backfill; parts and attempts in their order
        runs: Vec<ExplainedRun>,
    }
}

view! {
    /// A run of the instant, with what the server records about it
    struct ExplainedRun as Explained from explained: explain::ExplainedRun {
        /// The node that held it last
        node: Option<String> = explained.run.owner.clone(),
        /// Of the shard, when the run was last taken; 0: no node has taken it
        epoch: i64 = explained.run.epoch,
        /// The shard of its job at that time
        shard: i32 = explained.run.shard,
        /// When its sending was allowed
        marked_at: Option<Time> = explained.run.marked_at.map(Time),
        /// Requests started
        sends: i32 = explained.run.sends,
        /// From its due time to its request
        late_ms: Option<i64> = explained.run.sent_at.map(|sent| sent - explained.run.due_at),
        /// The reason of its end, in one word
        reason: Option<String> = explained.run.reason.clone(),
        /// What the executor reported
        result_code: Option<i32> = explained.run.result_code,
        /// The limits that it waits for
        waits_for: Vec<WaitsFor> = explained.places.into_view(),
        run: RunView = RunView::from(explained.run).with_details(&explained.params, explained.choice),
    }
}

view! {
    /// A limit that a run waits for
    struct WaitsFor as WaitsFor from place: LimitPlace {
        /// Its name
        limit: String = place.rule.name,
        /// How many runs may have a slot
        #[schema(minimum = 1)]
        max: i32 = place.rule.max_runs,
        /// How many runs have one
        taken: usize,
        /// Those of them whose apps the caller sees
        runs: Vec<i64> = place.holders,
        /// The place in line, from 1, as if all runs that wait were of one app
        #[schema(minimum = 1)]
        place: usize,
    }
}

/// What became of one instant.
pub async fn explain(state: Shared, id: Id, caller: Caller, query: Query) -> Answer<ExplanationView> {
    let at = query.time("at")?;
    let at = at.ok_or_else(|| Error::field("at", "is missing; write an instant such as 2025-07-04T15:00:00Z"))?;
    let found = explain::explain(&state.store, id.0, at, state.clock.now(), &caller.visible()).await?;
    let missing = || Error::not_found(format!("there is no job {}, and nothing of it at this instant", id.0));
    Ok(Json(found.ok_or_else(missing)?.into()))
}
