//! How the executor of a run was chosen: the set of candidates, kept once for all runs that have the same, and what else
//! is known of the few that have more.

use carillon_scheduler::{RouteStrategy, RunState};
use serde::{Deserialize, Serialize};

use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::OpenRuns;
use crate::db::sql::list::{long, text};
use crate::error::Result;
use crate::run::mark::KEEP_ADDRESS;
use crate::run::view::run_view::RunView;
use crate::views::RunStore;

/// What was learned of an executor on the way to the one that got the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceNote {
    pub address: String,
    pub what: String,
}

/// What the candidates and the route alone do not show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteTrace {
    /// To probes, in the order in which they were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<TraceNote>,
    /// Before it in the order, and passed over: saturated, stalled, or out of order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<TraceNote>,
    /// Chosen before it, but nothing could be written to them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<TraceNote>,
    /// Of a run that was never marked, so that its row does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteStrategy>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

/// A run's choice as people and API clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteDecision {
    /// None: the executor was given with the fire.
    pub route: Option<RouteStrategy>,
    /// In ascending order.
    pub candidates: Vec<String>,
    pub story: RouteTrace,
    pub chosen: Option<String>,
    pub why: String,
}

pub(crate) static OPEN_BY_ADDRESS: Bulk = Bulk::open_runs(OpenRuns {
    select: "run.address, COUNT(*)",
    states: &[RunState::Sending, RunState::Running],
    only_if: "run.address IS NOT NULL AND (run.follow & {follow.held}) = 0",
    rest: "GROUP BY run.address",
});

pub(crate) static INSERT_TRACES: Bulk = Bulk::text(
    &[long("id"), text("detail", "MEDIUMTEXT")],
    "INSERT INTO run_choice (run_id, detail) SELECT u.id, u.detail FROM {list}",
);

pub(crate) static INSERT_STICKY: Bulk = Bulk::text(
    &[long("id"), text("address", "VARCHAR(255)")],
    "INSERT INTO sticky (job_id, address, chosen_at) SELECT u.id, u.address, :now FROM {list}",
);

impl RunStore<'_> {
    /// Writes the traces of these runs; of a run that has one already, the later one stays.
    pub async fn add_traces(self, stories: &[(i64, String)]) -> Result<()> {
        let ids: Vec<i64> = stories.iter().map(|(id, _)| *id).collect();
        let tx = self.begin().await?;
        self.delete_by_id(&tx, "run_choice", "run_id", &ids).await?;
        self.bulk(&tx, &INSERT_TRACES, &[], stories).await?;
        Ok(tx.commit().await?)
    }

    /// None: nothing has been chosen yet.
    pub async fn route_decision(self, run: &RunView) -> Result<Option<RouteDecision>> {
        // The run may have been marked before and given back.
        if run.state == RunState::Claimed {
            return Ok(None);
        }
        let text = "SELECT detail FROM run_choice WHERE run_id = ?";
        let detail: Option<String> = self.tuple(&self.read, text, values![run.id]).await?;
        let story: RouteTrace = detail.and_then(|detail| serde_json::from_str(&detail).ok()).unwrap_or_default();
        let Some(route_code) = run.route_code.or(story.route.map(RouteStrategy::code)) else {
            return Ok(None);
        };
        let mut candidates = story.candidates.clone();
        if let Some(id) = run.candidates_id {
            candidates = self.candidates(id).await?;
        }
        // A run that waits, or was given up, has no address; one that was expanded has one before it is chosen.
        let is_chosen = run.route_code.is_some() && run.reason.as_deref() != Some("no_executor");
        let chosen = run.address.clone().filter(|_| is_chosen);
        Ok(Some(RouteDecision {
            why: why(route_code, &story, chosen.as_deref()),
            route: RouteStrategy::from_code(route_code),
            candidates,
            story,
            chosen,
        }))
    }

    /// Where the runs of these jobs went last, of those whose route is `sticky`.
    pub async fn sticky(self, jobs: &[i64]) -> Result<Vec<(i64, String)>> {
        let text = "SELECT job_id, address FROM sticky WHERE job_id IN ({ids})";
        self.tuples(&self.write, text, values![self.ids(jobs)]).await
    }

    /// The runs of these jobs go to other executors from now on. Three statements, however many jobs.
    pub async fn set_sticky(self, moved: &[(i64, String)], now: carillon_scheduler::Millis) -> Result<()> {
        if moved.is_empty() {
            return Ok(());
        }
        let mut moved = moved.to_vec();
        moved.sort_unstable();
        let ids: Vec<i64> = moved.iter().map(|(id, _)| *id).collect();
        let tx = self.begin().await?;
        self.delete_by_id(&tx, "sticky", "job_id", &ids).await?;
        self.bulk(&tx, &INSERT_STICKY, &named![now], &moved).await?;
        Ok(tx.commit().await?)
    }

    /// How many runs each address has that may be under way there: marked or accepted, and not ended.
    pub async fn active_runs_by_address(self, shards: i32) -> Result<Vec<(String, i64)>> {
        let shards: Vec<i64> = (0..i64::from(shards)).collect();
        self.bulk_tuples(&self.engine_reads, &OPEN_BY_ADDRESS, &[], &shards).await
    }
}

/// One sentence.
fn why(route_code: i16, story: &RouteTrace, chosen: Option<&str>) -> String {
    if route_code == KEEP_ADDRESS {
        return "the executor was given with the fire".into();
    }
    let rule = RouteStrategy::from_code(route_code).map_or("", RouteStrategy::why);
    match (chosen, story.hops.last(), story.skipped.len()) {
        (None, ..) => "none could be chosen".into(),
        (Some(_), Some(hop), _) => {
            format!("next in order: nothing could be written to {}", hop.address)
        }
        (Some(_), None, 0) => rule.into(),
        (Some(_), None, 1) => "next in order: one before it was passed over".into(),
        (Some(_), None, count) => format!("next in order: {count} before it were passed over"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_why() {
        let told = |address: &str| TraceNote { address: address.into(), what: "saturated".into() };
        let round_robin = RouteStrategy::RoundRobin.code();
        let mut story = RouteTrace::default();
        assert_eq!(why(KEEP_ADDRESS, &story, Some("a")), "the executor was given with the fire");
        assert_eq!(why(round_robin, &story, Some("a")), "it was its turn");
        assert_eq!(why(round_robin, &story, None), "none could be chosen");
        story.skipped.push(told("b"));
        assert_eq!(why(round_robin, &story, Some("a")), "next in order: one before it was passed over");
        story.hops.push(told("c"));
        assert_eq!(why(round_robin, &story, Some("a")), "next in order: nothing could be written to c");
    }
}
