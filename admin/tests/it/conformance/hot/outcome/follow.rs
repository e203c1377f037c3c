//! What follows from a settled run: the next attempt, an alarm, the end of an attempt that is no longer needed.

use carillon_scheduler::RunState::{Claimed, Failed, Lost, Running, Sending, Unknown};
use carillon_scheduler::{Cause, RunEvent, RunReason, RunState};
use carillon_store::Actor;
use carillon_store::Job;
use carillon_store::run::settle::finding::{RunReport, Settlement};
use carillon_store::run::trigger::NewTrigger;

use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, alarmed, failure, found, given_with_fire, success};
use crate::conformance::hot::rows::RunRow;

impl Fixture {
    async fn with_retries(&self, retries: i32) -> Job {
        self.ticking_with("tick", |draft| draft.retries = retries).await
    }

    /// The attempts of the fire of a run, oldest first.
    async fn attempts(&self, run_id: i64) -> Vec<RunRow> {
        let fire_no = self.row(run_id).await.fire_no;
        let mut rows = self.rows_where(&format!("fire_no = {fire_no}")).await;
        rows.sort_by_key(|row| row.attempt);
        rows
    }

    async fn alarms(&self) -> Vec<(i64, String, String)> {
        self.rows("SELECT run_id, kind, message FROM alarm ORDER BY id")
            .await
            .iter()
            .map(|row| {
                let text = |index| row.try_get_by_index::<String>(index).unwrap();
                (row.try_get_by_index(0).unwrap(), text(1), text(2))
            })
            .collect()
    }
}

trait Alone {
    async fn settle_alone(&self, findings: Vec<RunReport>) -> Settlement;
}

impl Alone for std::sync::Arc<carillon_store::Store> {
    async fn settle_alone(&self, findings: Vec<RunReport>) -> Settlement {
        self.runs().settle(&findings, &FOLLOW_UP).await.unwrap()
    }
}

fn told(rows: &[RunRow]) -> Vec<(i32, RunState)> {
    rows.iter().map(|row| (row.attempt, row.state())).collect()
}

databases! {
    async fn a_failure_is_followed_by_the_next_attempt(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_retries(2).await;
        let first = fixture.runs_in(&job, &[Running]).await[0];
        let settled = fixture.settle(&[failure(first)]).await;
        assert_eq!((settled.to_scan.clone(), alarmed(&settled)), (vec![job.shard], vec![]));
        let rows = fixture.attempts(first).await;
        assert_eq!(told(&rows), [(1, Failed), (2, Claimed)]);
        let next = &rows[1];
        assert_eq!((next.epoch, next.owner.as_deref(), next.sends), (0, None, 0), "the holder of the shard adopts it");
        assert_eq!((next.job_id, next.app_id, next.shard, next.cause), (job.id, job.app_id, job.shard, 0));
        assert_eq!((next.part, next.parts, next.scheduled_at), (0, 1, rows[0].scheduled_at));
        let delay = next.due_at - FOLLOW_UP.now;
        assert!((4_000..=6_000).contains(&delay), "{delay}");
        // The second of two further attempts waits longer, and there is no third.
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {}", next.id)).await;
        fixture.settle(&[failure(next.id)]).await;
        let last = fixture.attempts(first).await.pop().unwrap();
        let delay = last.due_at - FOLLOW_UP.now;
        assert!(last.attempt == 3 && (8_000..=12_000).contains(&delay), "{delay}");
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {}", last.id)).await;
        let settled = fixture.settle(&[failure(last.id)]).await;
        assert_eq!((settled.to_scan.clone(), alarmed(&settled)), (vec![], vec![last.id]));
        assert_eq!(fixture.attempts(first).await.len(), 3);
        assert_eq!(fixture.alarms().await, [(last.id, "failed".into(), format!("run {} failed: said 500", last.id))]);
    }

    // covers: D8
    async fn the_alarm_of_a_run_that_failed_without_a_text_says_so_in_a_sentence(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_retries(0).await;
        let runs = fixture.runs_in(&job, &[Running; 2]).await;
        let silent = |run, message: Option<&str>| RunReport { message: message.map(str::to_owned), ..failure(run) };
        fixture.settle(&[silent(runs[0], Some("")), silent(runs[1], None)]).await;
        let mut texts: Vec<String> = fixture.alarms().await.into_iter().map(|(_, _, text)| text).collect();
        texts.sort_unstable();
        assert_eq!(texts, runs.iter().map(|id| format!("run {id} failed: The executor reported a failure.")).collect::<Vec<_>>());
    }

    // covers: 002-36
    async fn attempts_of_runs_that_failed_together_do_not_come_together(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_retries(1).await;
        let ids = fixture.runs_in(&job, &[Running; 40]).await;
        let failures: Vec<_> = ids.iter().map(|id| failure(*id)).collect();
        fixture.settle(&failures).await;
        let mut due: Vec<i64> = fixture.rows_where("attempt = 2").await.iter().map(|row| row.due_at).collect();
        due.sort_unstable();
        due.dedup();
        assert!(due.len() > 35 && due[due.len() - 1] - due[0] > 1_000, "{due:?}");
    }

    async fn unknown_and_lost_count_as_failed_until_there_is_evidence(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_retries(1).await;
        let ids = fixture.runs_in(&job, &[Sending, Running, Sending, Running]).await;
        let settled = fixture.settle(&[
            found(ids[0], RunEvent::Unresolved, RunReason::Unknown), found(ids[1], RunEvent::ExecutorGone, RunReason::Lost),
            found(ids[2], RunEvent::Unresolved, RunReason::Unknown), found(ids[3], RunEvent::ExecutorGone, RunReason::Lost),
        ]).await;
        assert_eq!(settled.to_scan.len(), 4);
        assert_eq!(told(&fixture.attempts(ids[0]).await), [(1, Unknown), (2, Claimed)]);
        assert_eq!(told(&fixture.attempts(ids[1]).await), [(1, Lost), (2, Claimed)]);
        // It had run well after all: the attempt that still waits is not needed; one that was sent goes on.
        let sent = fixture.attempts(ids[1]).await[1].id;
        fixture.sql(&format!("UPDATE run SET state = 1 WHERE id = {sent}")).await;
        let settled = fixture.settle(&[success(ids[0]), success(ids[1]), failure(ids[2]), failure(ids[3])]).await;
        assert_eq!((settled.changed.len(), settled.to_scan.len(), settled.alarms.len()), (4, 0, 0));
        let rows = fixture.attempts(ids[0]).await;
        assert_eq!(told(&rows), [(1, RunState::Succeeded), (2, RunState::Cancelled)]);
        assert_eq!((rows[1].reason.as_deref(), rows[1].finished_at), (Some("late_result"), Some(FOLLOW_UP.now)));
        assert_eq!(told(&fixture.attempts(ids[1]).await), [(1, RunState::Succeeded), (2, Sending)]);
        assert_eq!(told(&fixture.attempts(ids[2]).await), [(1, Failed), (2, Claimed)], "no second one");
        assert_eq!(told(&fixture.attempts(ids[3]).await), [(1, Failed), (2, Claimed)]);
    }

    async fn a_run_that_found_no_executor_is_tried_again_too(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_retries(1).await;
        let first = fixture.runs_in(&job, &[Claimed]).await[0];
        fixture.settle(&[found(first, RunEvent::NoExecutor, RunReason::NoExecutor)]).await;
        assert_eq!(told(&fixture.attempts(first).await), [(1, Failed), (2, Claimed)]);
    }

    // covers: I10
    async fn a_disabled_or_deleted_job_is_not_tried_again(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_retries(3).await;
        let fire = NewTrigger { parts: None, job: job.id.into(), cause: Cause::Manual, params: Some("{}".into()), address: None, idempotency_key: None, traceparent: None, priority: None, rerun_of: None, is_only_rerun: false };
        let by_hand = fixture.store.runs().insert_triggered(&fire, NOW, &Actor::engine()).await.unwrap().unwrap().run_id;
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {by_hand}")).await;
        let ids = fixture.runs_in(&job, &[Running, Running]).await;
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let settled = fixture.settle(&[failure(ids[0]), failure(by_hand)]).await;
        assert_eq!(alarmed(&settled), [ids[0]]);
        assert_eq!(told(&fixture.attempts(by_hand).await), [(1, Failed), (2, Claimed)], "run now needs no enabled schedule");
        let next = fixture.attempts(by_hand).await[1].id;
        assert_eq!(fixture.store.jobs().given_params(&[next]).await.unwrap(), [(next, given_with_fire("{}"))]);
        fixture.store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
        assert_eq!(alarmed(&fixture.settle(&[failure(ids[1])]).await), [ids[1]]);
        assert_eq!(fixture.count("run", "state = 0").await, 0);
    }

    async fn one_attempt_that_is_there_already_does_not_stop_the_list(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_retries(1).await;
        let ids = fixture.runs_in(&job, &[Running, Running]).await;
        fixture.settle(&[failure(ids[0])]).await;
        // As if the database had lost the failure, but not what followed from it.
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {}", ids[0])).await;
        let settled = fixture.settle(&[failure(ids[0]), failure(ids[1])]).await;
        assert_eq!((settled.changed.len(), settled.to_scan.len()), (2, 1));
        assert_eq!(told(&fixture.attempts(ids[0]).await), [(1, Failed), (2, Claimed)]);
    }

    // covers: 004-19, I9
    async fn however_many_find_a_run_lost_it_is_followed_up_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (retried, last) = (fixture.with_retries(1).await, fixture.with_retries(0).await);
        for _ in 0..5 {
            let (first, only) = (fixture.runs_in(&retried, &[Running]).await[0], fixture.runs_in(&last, &[Running]).await[0]);
            // Several nodes believe that they hold the shard, and an executor reports late at the same moment.
            let lost = |id| found(id, RunEvent::ExecutorGone, RunReason::Lost);
            let finders = (0..6).map(|_| fixture.store.settle_alone(vec![lost(first), lost(only)]));
            let settled = futures_util::future::join_all(finders).await;
            assert_eq!(settled.iter().map(|it| it.changed.len()).sum::<usize>(), 2);
            assert_eq!(settled.iter().map(|it| it.alarms.len()).sum::<usize>(), 1);
            let rows = fixture.rows_where(&format!("job_id = {}", retried.id)).await;
            assert_eq!(told(&rows).len(), 2);
            assert!(rows.iter().any(|row| row.attempt == 2 && row.state() == Claimed));
            fixture.sql("DELETE FROM run").await;
        }
    }
}
