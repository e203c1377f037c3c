//! Rows in a shard that is not their job's.

use carillon_scheduler::RunState::{Claimed, Lost, Running, Sending, Succeeded, Unknown};
use carillon_store::run::open::misplaced::RepairCursor;
use carillon_store::run::unmark::Unsent;

use crate::conformance::fixture::{Fixture, NOW, SHARDS, after};
use crate::conformance::hot::rows::holder;

databases! {
    // covers: I12
    async fn rows_in_a_wrong_shard_are_put_right_and_told_of(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let states = [Claimed, Sending, Running, Unknown, Lost, Succeeded, Claimed];
        let ids = fixture.runs_in(&job, &states).await;
        let wrong = (job.shard + 1) % SHARDS;
        fixture.sql(&format!("UPDATE run SET shard = {wrong}, epoch = 8 WHERE id < {}", ids[5])).await;
        fixture.sql(&format!("UPDATE run SET shard = 900, epoch = 8 WHERE id = {}", ids[5])).await;
        fixture.sql(&format!("UPDATE job SET shard = {wrong}")).await;
        fixture.sql("UPDATE job_clock SET shard = 900").await;
        let alarm = fixture.store.runs().repair_misplaced(&mut RepairCursor::default(), NOW).await.unwrap().expect("somebody should hear of it");
        assert_eq!(
            alarm.text,
            "5 open runs and 2 rows of jobs were in a shard that is not their job's, and are put right"
        );
        assert_eq!(fixture.count("alarm", "kind = 'stuck'").await, 1);
        let mut places = vec![];
        for id in &ids {
            let row = fixture.row(*id).await;
            places.push((row.shard, row.epoch));
        }
        let here = |epoch| (job.shard, epoch);
        // A run that may wait (again) becomes an orphan; the others keep the epoch of their sender; runs that have ended are not examined.
        assert_eq!(places, [here(0), here(0), here(8), here(8), here(8), (900, 8), here(1)]);
        assert_eq!(fixture.count("job", &format!("shard = {}", job.shard)).await, 1);
        assert_eq!(fixture.count("job_clock", &format!("shard = {}", job.shard)).await, 1);
        assert_eq!(fixture.store.runs().repair_misplaced(&mut RepairCursor::default(), NOW).await.unwrap(), None);
    }

    // covers: I5
    async fn what_has_changed_its_shard_is_its_new_holders_whatever_their_epochs_are(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let wrong = (job.shard + 1) % SHARDS;
        for _ in 0..3 {
            fixture.take(wrong).await;
        }
        let right = fixture.take(job.shard).await;
        let ids = fixture.runs_in(&job, &[Claimed, Sending]).await;
        fixture.sql(&format!("UPDATE run SET shard = {wrong}, epoch = 3, mark_token = 7, marked_at = {NOW}, sends = 1")).await;
        assert!(right < 3, "the wrong shard has seen more holders");
        assert!(fixture.store.runs().repair_misplaced(&mut RepairCursor::default(), NOW).await.unwrap().is_some());
        // The marked run was not sent after all: its sender is identified by the token.
        let unsent = Unsent { run_id: ids[1], token: 7, bound: false };
        assert_eq!(fixture.store.runs().unmark(&[unsent], NOW).await.unwrap().done, 1);
        assert_eq!(fixture.store.runs().adopt(&holder(job.shard, right), None, after(10), 1_000).await.unwrap().len(), 2);
        let waiting = fixture.store.runs().waiting(job.shard, right, after(10), 10).await.unwrap();
        assert_eq!(waiting.iter().map(|run| run.run_id).collect::<Vec<_>>(), ids);
        assert!(waiting.iter().all(|run| run.epoch == right));
    }
}
