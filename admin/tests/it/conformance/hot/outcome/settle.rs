//! The third committed write: what becomes of the runs themselves.

use std::mem::take;

use carillon_scheduler::RunEvent;
use carillon_scheduler::RunState::{Cancelled, Claimed, Failed, Killed, Lost, Running, Sending, Succeeded, Unknown};
use carillon_scheduler::{Outcome, RunReason};
use carillon_store::db::ids;
use carillon_store::job::job_row::GivenParams;
use carillon_store::run::cancel::KillRequest;
use carillon_store::run::settle::finding::{AcceptedRun, RunReport, SettleContext, Settlement};

use crate::conformance::fixture::{Fixture, NOW, Row, actor};

pub const FOLLOW_UP: SettleContext = SettleContext { now: NOW + 500, jitter: 0.5, restored: false };

/// What an executor says.
pub fn report(run_id: i64, outcome: Outcome) -> RunReport {
    let code = if outcome == Outcome::Succeeded { 200 } else { 500 };
    RunReport {
        run_id,
        event: RunEvent::Reported(outcome),
        code: Some(code),
        message: Some(format!("said {code}")),
        reason: (code != 200).then_some(RunReason::Result),
        sent_at: None,
        received_at: None,
        reporter: None,
        not_before: None,
    }
}

/// What a node finds out itself.
pub fn found(run_id: i64, event: RunEvent, reason: RunReason) -> RunReport {
    RunReport {
        run_id,
        event,
        code: None,
        message: None,
        reason: Some(reason),
        sent_at: None,
        received_at: None,
        reporter: None,
        not_before: None,
    }
}

/// Parameters that a fire was given, for all its parts.
pub fn given_with_fire(text: &str) -> GivenParams {
    GivenParams { text: text.to_owned(), is_of_part: false }
}

pub fn success(run_id: i64) -> RunReport {
    report(run_id, Outcome::Succeeded)
}

pub fn failure(run_id: i64) -> RunReport {
    report(run_id, Outcome::Failed)
}

/// The runs for which an alarm was raised.
pub fn alarmed(settled: &Settlement) -> Vec<i64> {
    let runs = settled.alarms.iter().map(|alarm| alarm.run_id.unwrap());
    runs.collect()
}

impl Fixture {
    /// With what follows from it.
    pub async fn settle(&self, findings: &[RunReport]) -> Settlement {
        let mut settled = self.store.runs().settle(findings, &FOLLOW_UP).await.unwrap();
        let advanced = self.store.runs().advance(&take(&mut settled.followed), FOLLOW_UP.now).await.unwrap();
        settled.to_scan.extend(advanced.to_scan);
        settled.alarms.extend(advanced.alarms);
        settled
    }
}

databases! {
    async fn successes_are_settled_by_one_statement(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Sending, Running, Running]).await;
        let findings = [RunReport { sent_at: Some(NOW + 7), ..success(ids[1]) }, success(ids[0])];
        let settled = fixture.settle(&findings).await;
        let changed = vec![(ids[0], Succeeded), (ids[1], Succeeded)];
        assert_eq!(settled, Settlement { changed, ..Settlement::default() });
        let row = fixture.row(ids[1]).await;
        assert_eq!((row.state(), row.result_code, row.result_msg.as_deref()), (Succeeded, Some(200), Some("said 200")));
        assert_eq!((row.finished_at, row.sent_at, row.reason), (Some(NOW + 500), Some(NOW + 7), None));
        assert_eq!(fixture.row(ids[0]).await.sent_at, None);
        assert_eq!(fixture.row(ids[2]).await.state(), Running);
        assert_eq!(fixture.settle(&[]).await, Settlement::default());
    }

    async fn a_mixed_list_changes_what_can_change_and_says_so(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let before = [Running, Running, Sending, Succeeded, Failed, Cancelled, Killed, Claimed, Unknown, Lost, Lost];
        let ids = fixture.runs_in(&job, &before).await;
        let finals = fixture.rows_where("state > 8").await;
        let findings: Vec<_> = [
            success(ids[0]), failure(ids[1]), found(ids[2], RunEvent::Refused, RunReason::Refused),
            failure(ids[3]), success(ids[4]), success(ids[5]), success(ids[6]),
            success(ids[7]), success(ids[8]), failure(ids[9]), found(ids[10], RunEvent::Unresolved, RunReason::Unknown),
            success(424_242),
        ].into();
        let settled = fixture.settle(&findings).await;
        let changed = vec![
            (ids[0], Succeeded), (ids[1], Failed), (ids[2], Failed), (ids[8], Succeeded), (ids[9], Failed),
        ];
        assert_eq!(settled.changed, changed);
        assert_eq!(alarmed(&settled), [ids[1], ids[2]], "a lost run had its alarm when it was lost");
        for row in finals {
            assert_eq!(fixture.row(row.id).await, row, "final states never change");
        }
        let row = fixture.row(ids[2]).await;
        assert_eq!((row.state(), row.result_code, row.result_msg, row.reason.as_deref()), (Failed, None, None, Some("refused")));
        assert_eq!((fixture.row(ids[7]).await.state(), settled.unsent), (Claimed, vec![(ids[7], job.app_id, None)]), "it was never sent");
        assert_eq!(fixture.row(ids[10]).await.state(), Lost);
        // All of it again changes nothing.
        let rows = fixture.rows_where("1 = 1").await;
        assert_eq!(fixture.settle(&findings).await.changed, []);
        assert_eq!(fixture.rows_where("1 = 1").await, rows);
    }

    async fn a_repeated_or_foreign_id_does_not_hide_the_others(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running, Succeeded, Lost, Sending]).await;
        let settled = fixture.settle(&[success(ids[0]), success(ids[1]), success(ids[2]), success(ids[3]), success(9_999_999)]).await;
        assert_eq!(settled.changed, [(ids[0], Succeeded), (ids[2], Succeeded), (ids[3], Succeeded)]);
        assert_eq!(fixture.settle(&[success(ids[0]), success(ids[3])]).await.changed, []);
    }

    async fn of_several_findings_of_a_run_the_first_report_counts(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running, Running, Sending, Sending]).await;
        let unresolved = |id| found(id, RunEvent::Unresolved, RunReason::Unknown);
        let settled = fixture.settle(&[
            success(ids[0]), failure(ids[0]),
            failure(ids[1]), success(ids[1]),
            unresolved(ids[2]), success(ids[2]), failure(ids[2]),
            success(ids[3]), unresolved(ids[3]),
        ]).await;
        let changed = [(ids[0], Succeeded), (ids[1], Failed), (ids[2], Succeeded), (ids[3], Succeeded)];
        assert_eq!(settled.changed, changed, "evidence beats what is assumed");
    }

    async fn a_failure_after_a_kill_is_a_kill(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking_with("tick", |draft| draft.retries = 2).await;
        let ids = fixture.runs_in(&job, &[Running, Running, Sending, Unknown, Claimed, Running]).await;
        for id in &ids[..4] {
            assert_eq!(fixture.store.runs().request_kill(*id, NOW + 1, None).await.unwrap(), Some(KillRequest::Noted));
        }
        assert_eq!(fixture.store.runs().request_kill(ids[4], NOW + 1, None).await.unwrap(), Some(KillRequest::Cancelled));
        let unconfirmed = found(ids[5], RunEvent::KillUnconfirmed, RunReason::Unconfirmed);
        let settled = fixture.settle(&[success(ids[0]), failure(ids[1]), failure(ids[2]), failure(ids[3]), unconfirmed]).await;
        let changed = [(ids[0], Succeeded), (ids[1], Killed), (ids[2], Killed), (ids[3], Failed), (ids[5], Killed)];
        assert_eq!(settled.changed, changed);
        assert_eq!((settled.to_scan.clone(), alarmed(&settled)), (vec![], vec![]), "it was wished, so it is not repeated");
        assert_eq!(fixture.row(ids[1]).await.kill_asked_at, Some(NOW + 1));
        assert_eq!(fixture.count("run", "1 = 1").await, 6);
    }

    async fn an_accepted_run_is_running_unless_its_result_was_faster(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Sending, Running, Succeeded, Unknown, Claimed]).await;
        fixture.sql(&format!("UPDATE run SET sent_at = 5 WHERE id = {}", ids[1])).await;
        let times = |id: &i64| AcceptedRun { received_at: Some(NOW + 12), ..AcceptedRun::sent(*id, NOW + 9) };
        let accepted: Vec<_> = ids.iter().rev().map(times).chain([AcceptedRun::sent(424_242, NOW)]).collect();
        fixture.store.runs().accept_runs(&accepted).await.unwrap();
        let rows = fixture.rows_where("1 = 1").await;
        let states: Vec<_> = rows.iter().map(|row| row.state()).collect();
        assert_eq!(states, [Running, Running, Succeeded, Unknown, Claimed]);
        let sent: Vec<_> = rows.iter().map(|row| row.sent_at).collect();
        assert_eq!(sent, [Some(NOW + 9), Some(5), Some(NOW + 9), Some(NOW + 9), Some(NOW + 9)]);
        // The result that comes afterwards keeps the times.
        let later = |run_id| RunReport { sent_at: Some(NOW + 77), received_at: Some(NOW + 78), ..success(run_id) };
        fixture.settle(&[later(ids[0])]).await;
        assert_eq!(fixture.row(ids[0]).await.sent_at, Some(NOW + 9));
        assert_eq!(fixture.count("run", &format!("received_at = {}", NOW + 12)).await, 5);
        // One that was faster than the answer brings them, whether it is a success or not.
        let other = fixture.ticking("tock").await;
        let faster = fixture.runs_in(&other, &[Sending, Sending]).await;
        let failed = RunReport { received_at: Some(NOW + 78), ..failure(faster[1]) };
        fixture.settle(&[later(faster[0]), failed]).await;
        assert_eq!(fixture.count("run", &format!("received_at = {}", NOW + 78)).await, 2);
    }

    // covers: V2
    async fn after_a_restore_a_report_is_evidence_for_the_runs_of_before(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let before = fixture.store.take_id(&ids::RUN).await.unwrap();
        fixture.run(&job, Row { id: before, fire_no: NOW - 9_000, ..Row::default() }).await;
        let noticed = SettleContext { restored: true, ..FOLLOW_UP };
        let other = fixture.runs_in(&job, &[Claimed, Claimed]).await[1];
        let settled = fixture.store.runs().settle(&[success(other)], &noticed).await.unwrap();
        assert_eq!(settled.changed, [(other, Succeeded)], "noticed, and not resynchronized yet");
        assert_eq!(fixture.settle(&[success(before)]).await.unsent, [(before, job.app_id, None)]);
        fixture.store.leases().resync(NOW, &actor()).await.unwrap();
        let after = fixture.store.take_ids(&ids::RUN, 2_000).await.unwrap()[1_999];
        fixture.run(&job, Row { id: after, fire_no: NOW + 9_000, ..Row::default() }).await;
        let settled = fixture.settle(&[success(before), success(after)]).await;
        assert_eq!((settled.changed, settled.unsent), (vec![(before, Succeeded)], vec![(after, job.app_id, None)]));
    }
}
