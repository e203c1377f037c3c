//! Runs that miss the objective of their job, and the alarms of their jobs.

use carillon_scheduler::RunState::{Claimed, Running, Succeeded};
use carillon_scheduler::{AlarmKind, JobDraft};
use carillon_store::Job;
use carillon_store::alarm::late_starts::LateStart;

use crate::conformance::fixture::{Fixture, NOW, Row, after, draft};

impl Fixture {
    async fn with_objective(&self, name: &str, seconds: i32) -> Job {
        self.ticking_with(name, |draft| draft.start_within_seconds = seconds).await
    }

    async fn late(&self, job: &Job, paused: &[i64], now: i64) -> Vec<LateStart> {
        self.store.runs().late_starts(job.shard, 1, paused, now).await.unwrap()
    }
}

databases! {
    async fn runs_that_wait_are_late_after_the_time_of_their_job_whatever_they_wait_for(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let plain = fixture.ticking("plain").await;
        assert!(fixture.store.runs().shards_with_objectives().await.unwrap().is_empty());
        let job = fixture.with_objective("prompt", 10).await;
        assert_eq!(fixture.store.runs().shards_with_objectives().await.unwrap(), [job.shard].into_iter().collect());
        fixture.runs_in(&plain, &[Claimed]).await;
        let ids = fixture.runs_in(&job, &[Claimed, Running, Claimed, Claimed, Succeeded]).await;
        fixture.sql(&format!("UPDATE run SET reason = 'overlap', flagged_at = 1 WHERE id = {}", ids[2])).await;
        let late = async |now| fixture.late(&job, &[], now).await.iter().map(|run| run.run_id).collect::<Vec<_>>();
        assert_eq!(late(NOW + 10_000).await, [0_i64; 0], "in its last millisecond");
        assert_eq!(late(NOW + 10_001).await, [ids[0]]);
        assert_eq!(late(NOW + 99_000).await, [ids[0]], "one for each job, so that a job with many hides no other");
        let first = LateStart { run_id: ids[0], job_id: job.id, due_at: NOW, start_within_seconds: 10 };
        assert_eq!(fixture.late(&job, &[], NOW + 10_001).await, [first]);
        assert_eq!(fixture.late(&job, &[job.app_id], NOW + 99_000).await, [], "its app is paused");
        assert_eq!(fixture.late(&job, &[job.app_id + 1], NOW + 10_001).await, [first], "another app is paused");
        fixture.sql(&format!("UPDATE run SET state = 9 WHERE id = {}", ids[0])).await;
        assert_eq!(late(NOW + 12_000).await, [0_i64; 0]);
        assert_eq!(late(NOW + 12_001).await, [ids[2]], "one that waits for an earlier run");
        fixture.sql("UPDATE job SET start_within_seconds = 86400").await;
        assert_eq!(late(NOW + 99_000).await, [0_i64; 0]);
        fixture.sql("DELETE FROM job").await;
        assert_eq!(late(NOW + 99_000).await, [0_i64; 0], "nothing is said of a job that is gone");
    }

    async fn a_job_has_one_open_alarm_until_it_is_closed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (one, other) = (fixture.with_objective("one", 10).await, fixture.with_objective("other", 5).await);
        let run = |job: &Job, run_id, start_within_seconds| LateStart { run_id, job_id: job.id, due_at: NOW, start_within_seconds };
        let alarms = fixture.store.alarms();
        let late = [(run(&one, 1, 10), None), (run(&one, 2, 10), None), (run(&other, 3, 5), Some(NOW + 9_000))];
        let raised = alarms.raise_late_starts(&late, NOW + 12_000).await.unwrap();
        let texts: Vec<&str> = raised.iter().map(|alarm| alarm.text.as_str()).collect();
        assert_eq!(texts, [
            "run 1 was due 12 s ago and has not started; the objective is 10 s",
            "run 3 started 9 s after it was due; the objective is 5 s",
        ]);
        assert!(raised.iter().all(|alarm| alarm.kind == AlarmKind::LateStart));
        assert_eq!(alarms.raise_late_starts(&late, after(13)).await.unwrap(), []);
        assert_eq!(alarms.close_late_starts(&[other.id], after(14)).await.unwrap(), 1);
        assert_eq!(alarms.close_late_starts(&[other.id], after(15)).await.unwrap(), 0);
        assert_eq!(alarms.jobs_with_late_start().await.unwrap(), [one.id]);
        assert_eq!(alarms.raise_late_starts(&late, after(16)).await.unwrap().len(), 1, "it is late again");
    }

    async fn an_alarm_ends_with_the_objective_and_with_the_job(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let mut late = vec![];
        let jobs = fixture.of_one_shard(4).await;
        fixture.sql("UPDATE job SET start_within_seconds = 10").await;
        for job in &jobs {
            let run_id = fixture.runs_in(job, &[Claimed]).await[0];
            late.push((LateStart { run_id, job_id: job.id, due_at: NOW, start_within_seconds: 10 }, None));
        }
        assert_eq!(fixture.store.alarms().raise_late_starts(&late, after(20)).await.unwrap().len(), 4);
        let close = async |second| fixture.store.alarms().close_resolved(after(second)).await.unwrap();
        assert_eq!(close(21).await, 0);
        fixture.sql(&format!("UPDATE job SET start_within_seconds = 0 WHERE id = {}", jobs[0].id)).await;
        assert_eq!(close(22).await, 1, "no objective");
        fixture.sql(&format!("DELETE FROM job WHERE id = {}", jobs[1].id)).await;
        assert_eq!(close(23).await, 1, "no job");
        fixture.sql(&format!("UPDATE job SET enabled = FALSE WHERE id = {}", jobs[2].id)).await;
        assert_eq!(close(24).await, 0, "it is paused, and its run still waits");
        let later = fixture.run(&jobs[2], Row { fire_no: after(1), state: Claimed.code(), ..Row::default() }).await;
        fixture.sql(&format!("UPDATE run SET state = 12 WHERE id = {}", late[2].0.run_id)).await;
        assert_eq!(close(25).await, 0, "another run waits");
        fixture.sql(&format!("UPDATE run SET state = 12 WHERE id = {later}")).await;
        assert_eq!(close(26).await, 1, "it is paused");
        assert_eq!(fixture.store.alarms().jobs_with_late_start().await.unwrap(), [jobs[3].id]);
    }

    async fn an_alarm_ends_with_the_last_run_of_a_job_that_nothing_starts(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let by_hand = fixture.create(&JobDraft { start_within_seconds: 10, ..draft("by hand") }).await;
        let ticking = fixture.with_objective("ticking", 10).await;
        let late = [&by_hand, &ticking].map(|job| (LateStart { run_id: 1, job_id: job.id, due_at: NOW, start_within_seconds: 10 }, None));
        assert_eq!(fixture.store.alarms().raise_late_starts(&late, after(20)).await.unwrap().len(), 2);
        let close = async |second| fixture.store.alarms().close_resolved(after(second)).await.unwrap();
        let run = fixture.runs_in(&by_hand, &[Claimed]).await[0];
        assert_eq!(close(21).await, 0, "its run waits");
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {run}")).await;
        assert_eq!(close(22).await, 0, "it runs");
        fixture.sql(&format!("UPDATE run SET state = 9 WHERE id = {run}")).await;
        assert_eq!(close(23).await, 1);
        assert_eq!(fixture.store.alarms().jobs_with_late_start().await.unwrap(), [ticking.id], "its schedule goes on");
    }

    async fn the_shares_count_what_has_started_and_what_waits_for_too_long(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.with_objective("prompt", 10).await;
        let other = fixture.with_objective("other", 10).await;
        fixture.runs_in(&other, &[Claimed]).await;
        let ids = fixture.runs_in(&job, &[Succeeded, Succeeded, Succeeded, Running, Claimed]).await;
        let day = 86_400_000;
        for (id, due_at, late) in [(ids[0], NOW - 8 * day, 1), (ids[1], NOW - 2 * day, 10_000), (ids[2], NOW, 10_001), (ids[3], NOW, 0)] {
            fixture.sql(&format!("UPDATE run SET due_at = {due_at}, sent_at = {} WHERE id = {id}", due_at + late)).await;
        }
        let shares = async |now| {
            let it = fixture.store.runs().start_shares(job.id, 10, now).await.unwrap();
            ((it.met_last_day, it.last_day), (it.met_last_week, it.last_week))
        };
        assert_eq!(shares(NOW + 14_000).await, ((1, 2), (2, 3)), "the one that waits has time left");
        assert_eq!(shares(NOW + 14_001).await, ((1, 3), (2, 4)));
    }
}
