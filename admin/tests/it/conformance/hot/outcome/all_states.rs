//! A walk over the table of edges: runs go from `claimed` along each edge by the statements that the program has for it.

use std::collections::{BTreeMap, VecDeque};

use carillon_scheduler::{Outcome, RunEvent, RunReason, RunState};
use carillon_store::run::settle::finding::AcceptedRun;
use carillon_store::run::unmark::Unsent;

use super::settle::found;
use crate::conformance::fixture::{Fixture, NOW};
use crate::conformance::hot::mark::mark;

/// Of a workflow's start (`Held`) the tests of workflows have the walk.
const EVENTS: [RunEvent; 17] = [
    RunEvent::Marked,
    RunEvent::NotWritten,
    RunEvent::Accepted,
    RunEvent::Refused,
    RunEvent::NoExecutor,
    RunEvent::Cancelled,
    RunEvent::Unresolved,
    RunEvent::Dropped,
    RunEvent::ExecutorGone,
    RunEvent::TimedOut,
    RunEvent::KillUnconfirmed,
    RunEvent::Reported(Outcome::Succeeded),
    RunEvent::Reported(Outcome::Failed),
    RunEvent::Reported(Outcome::Killed),
    RunEvent::ReportedAfterRestore(Outcome::Succeeded),
    RunEvent::ReportedAfterRestore(Outcome::Failed),
    RunEvent::ReportedAfterRestore(Outcome::Killed),
];

const TOKEN: i64 = 7;

/// The events of a shortest way from `claimed` to each state.
fn ways() -> BTreeMap<i16, Vec<RunEvent>> {
    let mut ways = BTreeMap::from([(RunState::Claimed.code(), vec![])]);
    let mut next = VecDeque::from([RunState::Claimed]);
    while let Some(from) = next.pop_front() {
        for event in EVENTS {
            let Some(to) = from.on(event).filter(|to| !ways.contains_key(&to.code())) else { continue };
            let way = ways[&from.code()].iter().copied().chain([event]).collect();
            ways.insert(to.code(), way);
            next.push_back(to);
        }
    }
    ways
}

/// Lets the event happen to a run.
async fn happen(fixture: &Fixture, run_id: i64, event: RunEvent) {
    let runs = fixture.store.runs();
    match event {
        RunEvent::Marked => drop(runs.mark(&[mark(run_id)], TOKEN, "a", NOW).await.unwrap()),
        RunEvent::NotWritten => {
            drop(runs.unmark(&[Unsent { run_id, token: TOKEN, bound: false }], NOW).await.unwrap());
        }
        RunEvent::Accepted => runs.accept_runs(&[AcceptedRun::sent(run_id, NOW)]).await.unwrap(),
        RunEvent::Cancelled => assert!(runs.cancel(&[run_id], RunReason::Operator, NOW).await.unwrap() <= 1),
        _ => drop(fixture.settle(&[found(run_id, event, RunReason::Result)]).await),
    }
}

databases! {
    // covers: 001-32, 004-4, I8
    async fn every_state_is_reached_and_every_edge_is_taken_and_nothing_else_changes_a_state(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ways = ways();
        let cases: Vec<_> = RunState::ALL.iter().flat_map(|from| EVENTS.map(|event| (*from, event))).collect();
        let ids = fixture.runs_in(&job, &vec![RunState::Claimed; cases.len()]).await;
        for ((from, event), run_id) in cases.into_iter().zip(ids) {
            let way = ways.get(&from.code()).unwrap_or_else(|| panic!("{from} is not reached"));
            for step in way {
                happen(&fixture, run_id, *step).await;
            }
            assert_eq!(fixture.row(run_id).await.state(), from, "by {way:?}");
            happen(&fixture, run_id, event).await;
            let to = from.on(event).unwrap_or(from);
            assert_eq!(fixture.row(run_id).await.state(), to, "from {from} by {event:?}");
        }
        for from in RunState::ALL.iter().filter(|state| state.is_open()) {
            let ends = EVENTS.iter().any(|event| from.on(*event).is_some_and(RunState::is_final));
            assert!(ends, "{from} cannot end");
        }
    }
}
