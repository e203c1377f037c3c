//! Outcomes that people set: they and their rows in the audit are there together, or neither is.

use carillon_scheduler::RunState::{Claimed, Failed, Lost, Running, Succeeded, Unknown};
use carillon_scheduler::{Outcome, RunEvent, RunReason};
use carillon_store::Actor;
use carillon_store::run::settle::by_hand::ByHand;
use carillon_store::run::settle::finding::{RunReport, Settlement};
use serde_json::json;

use super::settle::{FOLLOW_UP, found, success};
use crate::conformance::fixture::{Fixture, actor};

fn said(run_id: i64, outcome: Outcome) -> RunReport {
    found(run_id, RunEvent::Reported(outcome), RunReason::Operator)
}

async fn resolve(fixture: &Fixture, by: &Actor, outcome: Outcome, ids: &[i64]) -> Settlement {
    let findings: Vec<RunReport> = ids.iter().map(|id| said(*id, outcome)).collect();
    let detail = json!({"outcome": outcome == Outcome::Succeeded, "note": "seen"});
    fixture.store.runs().settle_by_hand(&findings, &FOLLOW_UP, ByHand { actor: by, detail: &detail }).await.unwrap()
}

/// Runs with a row, and who wrote it.
async fn rows(fixture: &Fixture) -> Vec<(i64, String)> {
    let rows = fixture.rows("SELECT object_id, actor FROM audit WHERE action = 'resolve' ORDER BY object_id").await;
    rows.iter().map(|row| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap())).collect()
}

databases! {
    // covers: S37
    async fn only_what_is_unknown_or_lost_is_settled_by_hand_with_a_row_for_each(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Unknown, Lost, Running, Failed, Claimed]).await;
        let settled = resolve(&fixture, &actor(), Outcome::Succeeded, &[ids[4], ids[2], ids[3], ids[1], ids[0]]).await;
        assert_eq!(settled.changed, [(ids[0], Succeeded), (ids[1], Succeeded)]);
        assert_eq!(rows(&fixture).await, [(ids[0], "ada".to_owned()), (ids[1], "ada".to_owned())]);
        assert_eq!((fixture.row(ids[2]).await.state(), fixture.row(ids[4]).await.state()), (Running, Claimed));
        assert_eq!(resolve(&fixture, &actor(), Outcome::Failed, &[]).await, Settlement::default());
    }

    // covers: S37
    async fn who_is_later_than_a_report_leaves_no_row(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Unknown, Lost]).await;
        assert_eq!(fixture.settle(&[success(ids[0])]).await.changed, [(ids[0], Succeeded)]);
        let settled = resolve(&fixture, &actor(), Outcome::Failed, &ids).await;
        assert_eq!(settled.changed, [(ids[1], Failed)]);
        assert_eq!(rows(&fixture).await, [(ids[1], "ada".to_owned())]);
        assert_eq!(fixture.row(ids[0]).await.state(), Succeeded);
    }

    // covers: S37
    async fn of_two_people_at_once_one_is_right_and_in_the_audit(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let (ada, mia) = (actor(), Actor::unlimited("mia", "127.0.0.1"));
        for id in fixture.runs_in(&job, &[Unknown; 8]).await {
            let run = [id];
            let (one, other) = tokio::join!(
                resolve(&fixture, &ada, Outcome::Succeeded, &run),
                resolve(&fixture, &mia, Outcome::Failed, &run),
            );
            assert_eq!(one.changed.len() + other.changed.len(), 1, "{one:?} {other:?}");
            let winner = if one.changed.is_empty() { ("mia", Failed) } else { ("ada", Succeeded) };
            let found: Vec<(i64, String)> = rows(&fixture).await.into_iter().filter(|(run, _)| *run == id).collect();
            assert_eq!((found, fixture.row(id).await.state()), (vec![(id, winner.0.to_owned())], winner.1));
        }
    }
}
