//! The first committed write.

use carillon_scheduler::RunState;
use carillon_store::Error;
use carillon_store::run::claim::{DueJob, JobClaim, SkippedRange};
use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW, after};
use crate::conformance::hot::rows::{claim, due, holder};

databases! {
    // covers: 6.2, 000-6
    async fn a_claim_records_the_instants_and_moves_the_cursor(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(3).await;
        let epoch = fixture.take(jobs[0].shard).await;
        let range = SkippedRange { from_at: after(1), to_at: after(4), count: 4, policy: "skip", reason: "misfire" };
        let claims = [
            // Several instants of one job, as after a stall.
            claim(&jobs[0], &[(11, after(1)), (13, after(2)), (12, after(3))]),
            JobClaim { skipped: vec![range], ..claim(&jobs[1], &[(20, after(5))]) },
            // It never fires again.
            JobClaim { next_fire_at: None, ..claim(&jobs[2], &[(10, after(1))]) },
        ];
        let changed = fixture.store.runs().claim(&holder(jobs[0].shard, epoch), &claims, NOW).await.unwrap();
        assert!(changed.is_empty());
        let rows = fixture.rows_where("1 = 1").await;
        let told: Vec<_> = rows.iter().map(|row| (row.id, row.job_id, row.fire_no)).collect();
        let (a, b, c) = (jobs[0].id, jobs[1].id, jobs[2].id);
        assert_eq!(told, [(10, c, after(1)), (11, a, after(1)), (12, a, after(3)), (13, a, after(2)), (20, b, after(5))]);
        for row in &rows {
            assert_eq!((row.scheduled_at, row.due_at), (row.fire_no, row.fire_no));
            assert_eq!((row.state(), row.epoch, row.owner.as_deref()), (RunState::Claimed, epoch, Some("a")));
            assert_eq!((row.cause, row.part, row.parts, row.attempt, row.sends), (0, 0, 1, 1, 0));
            assert_eq!((row.app_id, row.shard), (fixture.app.id, jobs[0].shard));
            assert_eq!((row.mark_token, row.address.as_deref(), row.finished_at), (None, None, None));
        }
        assert_eq!(fixture.cursors().await, [(a, after(4)), (b, after(6))]);
        let same = format!("job_id = {b} AND from_at = {} AND to_at = {} AND count = 4 AND policy = 'skip' \
                            AND reason = 'misfire' AND epoch = {epoch}", after(1), after(4));
        assert_eq!(fixture.count("misfire", &same).await, 1);
        assert_eq!(fixture.count("misfire", "1 = 1").await, 1);
    }

    // covers: 6.7
    async fn a_changed_cursor_is_not_overwritten(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(4).await;
        let shard = jobs[0].shard;
        let epoch = fixture.take(shard).await;
        let claims: Vec<JobClaim> = (100..).zip(&jobs).map(|(id, job)| claim(job, &[(id, after(1))])).collect();
        // In the meantime one cursor was moved, one job was edited, and one fires no more.
        fixture.set_cursor(&jobs[0], after(7)).await;
        fixture.sql(&format!("UPDATE job_clock SET revision = 2 WHERE job_id = {}", jobs[1].id)).await;
        let last = JobClaim { next_fire_at: None, ..claims[3].clone() };
        fixture.sql(&format!("DELETE FROM job_clock WHERE job_id = {}", jobs[3].id)).await;
        let late = [claims[0].clone(), claims[1].clone(), claims[2].clone(), last];
        let changed = fixture.store.runs().claim(&holder(shard, epoch), &late, NOW).await.unwrap();
        assert_eq!(changed, [jobs[0].id, jobs[1].id, jobs[3].id].into_iter().collect());
        let rows = fixture.rows_where("1 = 1").await;
        assert_eq!(rows.iter().map(|row| row.job_id).collect::<Vec<_>>(), [jobs[2].id]);
        let cursors = [(jobs[0].id, after(7)), (jobs[1].id, after(1)), (jobs[2].id, after(2))];
        assert_eq!(fixture.cursors().await, cursors);
        // The same batch again, as after a COMMIT whose answer was lost.
        let changed = fixture.store.runs().claim(&holder(shard, epoch), &claims, NOW).await.unwrap();
        assert_eq!(changed.len(), 4);
        assert_eq!(fixture.count("run", "1 = 1").await, 1);
    }

    // covers: 003-11
    async fn a_claim_under_another_epoch_writes_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let stale = fixture.take(job.shard).await;
        assert_eq!(fixture.take(job.shard).await, stale + 1);
        let claims = [claim(&job, &[(1, after(1))])];
        for epoch in [stale, stale + 2, 0] {
            let refused = fixture.store.runs().claim(&holder(job.shard, epoch), &claims, NOW).await;
            assert!(matches!(refused, Err(Error::Fenced(shard)) if shard == job.shard), "{refused:?}");
        }
        assert_eq!(fixture.count("run", "1 = 1").await, 0);
        assert_eq!(fixture.cursors().await, [(job.id, after(1))]);
    }

    // covers: 6.4
    async fn a_clash_in_mid_batch_leaves_nothing_behind(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let shard = jobs[0].shard;
        let epoch = fixture.take(shard).await;
        // The instant is recorded, though the cursor has not reached it.
        fixture.run(&jobs[1], crate::conformance::fixture::Row { fire_no: after(1), id: 7, ..Default::default() }).await;
        let range = SkippedRange { from_at: after(1), to_at: after(1), count: 1, policy: "skip", reason: "misfire" };
        let good = claim(&jobs[0], &[(8, after(1))]);
        let instant = claim(&jobs[1], &[(9, after(1))]);
        let id = claim(&jobs[1], &[(7, after(2))]);
        let ranges = JobClaim { skipped: vec![range.clone(), range], ..claim(&jobs[1], &[(9, after(2))]) };
        for bad in [instant, id, ranges] {
            let refused = fixture.store.runs().claim(&holder(shard, epoch), &[good.clone(), bad], NOW).await;
            assert!(refused.as_ref().is_err_and(Error::is_unique_violation), "{refused:?}");
        }
        // A clock row without its job.
        fixture.sql(&format!("INSERT INTO job_clock (shard, next_fire_at, job_id, revision) VALUES ({shard}, {}, 999, 1)", after(1))).await;
        let orphan = JobClaim { due: DueJob { job_id: 999, ..due(&jobs[1]) }, ..claim(&jobs[1], &[(9, after(1))]) };
        let refused = fixture.store.runs().claim(&holder(shard, epoch), &[good.clone(), orphan], NOW).await;
        assert!(matches!(refused, Err(Error::Corrupt(_))), "{refused:?}");
        assert_eq!(fixture.rows_where("1 = 1").await.len(), 1);
        assert_eq!(fixture.count("misfire", "1 = 1").await, 0);
        assert_eq!(fixture.cursors().await, [(jobs[0].id, after(1)), (jobs[1].id, after(1)), (999, after(1))]);
        // The rest of the shard goes on.
        assert!(fixture.store.runs().claim(&holder(shard, epoch), &[good], NOW).await.unwrap().is_empty());
    }

    // covers: G8
    async fn a_job_with_fewer_fires_left_than_planned_keeps_no_other_from_being_claimed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(3).await;
        let shard = jobs[0].shard;
        let epoch = fixture.take(shard).await;
        fixture.sql(&format!("UPDATE job SET fires_left = 1 WHERE id = {}", jobs[1].id)).await;
        let counted = |job: usize, id: i64| JobClaim {
            counted: true,
            ..claim(&jobs[job], &[(id, after(1)), (id + 1, after(2))])
        };
        let claims = [claim(&jobs[0], &[(1, after(1))]), counted(1, 10), counted(2, 20)];
        let left_out = fixture.store.runs().claim(&holder(shard, epoch), &claims, NOW).await.unwrap();
        assert_eq!(left_out, [jobs[1].id, jobs[2].id].into_iter().collect(), "one has too few, and one says nothing");
        let rows = fixture.rows_where("1 = 1").await;
        assert_eq!(rows.iter().map(|row| row.job_id).collect::<Vec<_>>(), [jobs[0].id]);
        assert_eq!(fixture.cursors().await, [(jobs[0].id, after(2)), (jobs[1].id, after(1)), (jobs[2].id, after(1))]);
    }

    // covers: 001-25, 004-6
    async fn of_fifty_claims_of_one_instant_one_wins(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let shard = jobs[0].shard;
        let epoch = fixture.take(shard).await;
        let racing = (0..50).map(|number| {
            let claims: Vec<JobClaim> = (1..).zip(&jobs).map(|(n, job)| claim(job, &[(number * 10 + n, after(1))])).collect();
            let store = fixture.store.clone();
            tokio::spawn(async move { store.runs().claim(&holder(shard, epoch), &claims, NOW).await.unwrap().len() })
        });
        let changed: usize = join_all(racing).await.into_iter().map(Result::unwrap).sum();
        assert_eq!(changed, 49 * 2, "all but one of each job were told that it had changed");
        let rows = fixture.rows_where("1 = 1").await;
        assert_eq!(rows.iter().map(|row| row.job_id).collect::<Vec<_>>(), [jobs[0].id, jobs[1].id]);
        assert_eq!(fixture.cursors().await, [(jobs[0].id, after(2)), (jobs[1].id, after(2))]);
    }

    async fn a_scan_sees_what_is_due_in_its_shard_earliest_first(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(4).await;
        let shard = jobs[0].shard;
        for (job, second) in jobs.iter().zip([9, 3, 5, 3]) {
            fixture.set_cursor(job, after(second)).await;
        }
        let found = fixture.store.runs().due_jobs(shard, after(5), 10).await.unwrap();
        let told: Vec<_> = found.iter().map(|due| (due.job_id, due.next_fire_at, due.revision)).collect();
        assert_eq!(told, [(jobs[1].id, after(3), 1), (jobs[3].id, after(3), 1), (jobs[2].id, after(5), 1)]);
        assert_eq!(fixture.store.runs().due_jobs(shard, after(5), 1).await.unwrap(), found[..1]);
        assert_eq!(fixture.store.runs().due_jobs(shard, after(3) - 1, 10).await.unwrap(), []);
    }
}
