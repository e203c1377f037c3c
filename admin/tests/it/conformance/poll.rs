//! One look at all shards: which of them have something to do.

use carillon_scheduler::RunState;

use super::fixture::{Fixture, NOW, after};

databases! {
    async fn shards_with_a_near_cursor_or_a_new_run_are_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = [fixture.ticking("a").await, fixture.ticking("b").await, fixture.ticking("c").await];
        let shards: Vec<i32> = jobs.iter().map(|job| job.shard).collect();
        let found = async |near| {
            let mut found = fixture.store.runs().shards_to_scan(&shards, NOW - 60_000, near, after(30)).await.unwrap();
            found.sort_unstable();
            found
        };
        let mut all = shards.clone();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3, "the three jobs are of three shards");
        assert_eq!(found(after(-1)).await, [0; 0]);
        assert_eq!(found(after(5)).await, all);
        assert_eq!(fixture.store.runs().shards_to_scan(&[], NOW, after(5), after(5)).await.unwrap(), [0; 0]);
        // A new run has the epoch 0. One that is far away, or has a holder, is nothing to scan.
        let ids = fixture.runs_in(&jobs[1], &[RunState::Claimed; 2]).await;
        assert_eq!(found(after(-1)).await, [0; 0]);
        fixture.sql(&format!("UPDATE run SET epoch = 0, due_at = {} WHERE id = {}", after(31), ids[0])).await;
        assert_eq!(found(after(-1)).await, [0; 0]);
        fixture.sql(&format!("UPDATE run SET due_at = {} WHERE id = {}", after(30), ids[0])).await;
        assert_eq!(found(after(-1)).await, [jobs[1].shard]);
    }

    async fn a_shard_with_a_near_delayed_trigger_is_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("a").await;
        let values = format!("({}, {}, 1, {}, 0, 1)", job.shard, after(5), job.id);
        fixture.sql(&format!("INSERT INTO delayed_trigger (shard, due_at, id, job_id, expires_at, created_at) VALUES {values}")).await;
        fixture.sql("DELETE FROM job_clock").await;
        let found = async |near| {
            fixture.store.runs().shards_to_scan(&[job.shard], NOW - 60_000, near, after(30)).await.unwrap()
        };
        assert_eq!((found(after(4)).await, found(after(5)).await), (vec![], vec![job.shard]));
    }

    async fn shards_with_a_run_that_was_due_and_waits_are_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("a").await;
        let ids = fixture.runs_in(&job, &[RunState::Claimed]).await;
        fixture.sql(&format!("UPDATE run SET due_at = {} WHERE id = {}", after(10), ids[0])).await;
        let found = async |epoch, from, now| {
            fixture.store.runs().shards_with_overdue(&[(job.shard, epoch, from), (job.shard + 1, epoch, from)], now).await.unwrap()
        };
        assert_eq!(found(1, NOW, after(10)).await, [job.shard]);
        assert_eq!(found(1, NOW, after(10) - 1).await, [0; 0], "not due yet");
        assert_eq!(found(2, NOW, after(10)).await, [0; 0], "of another epoch");
        assert_eq!(found(1, after(11), after(12)).await, [0; 0], "before the beginning");
        for (column, value) in [("flagged_at", "1"), ("reason", "'overlap'")] {
            fixture.sql(&format!("UPDATE run SET {column} = {value} WHERE id = {}", ids[0])).await;
            assert_eq!(found(1, NOW, after(10)).await, [0; 0], "{column}");
            fixture.sql(&format!("UPDATE run SET {column} = NULL WHERE id = {}", ids[0])).await;
        }
    }
}
