//! What a change of a job must leave: an instant that the cursor has passed and nothing else records.

use carillon_scheduler::{JobDraft, RunState};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after, each};

databases! {
    // covers: I1
    async fn a_run_before_one_that_is_on_its_way_is_not_taken_away(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        // The moment of the edit is old by the time that it has its locks: what is ahead of it was marked since, but for
        // one that waits for room, and the parts of a broadcast.
        let job = fixture.every_second(&[after(1), after(3), after(4)], after(5)).await;
        fixture.run(&job, Row { fire_no: after(2), state: RunState::Running.code(), ..Row::default() }).await;
        fixture.run(&job, Row { fire_no: after(9), id: 77, ..Row::default() }).await;
        fixture.sql(&format!("UPDATE run SET fire_no = {}, part = 1 WHERE id = 77", after(2))).await;
        let edited = fixture.definition(&JobDraft { name: "renamed".into(), ..each("* * * * * ?") });
        let job = fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap();
        assert_eq!(job.next_fire_at, Some(after(3)));
        let mut left: Vec<_> = fixture.rows_where("1 = 1").await.iter().map(|row| (row.fire_no, row.part, row.state())).collect();
        left.sort_by_key(|(at, part, _)| (*at, *part));
        assert_eq!(left, [(after(1), 0, RunState::Claimed), (after(2), 0, RunState::Running), (after(2), 1, RunState::Claimed)]);
    }

    // covers: I1
    async fn a_range_ahead_counts_as_recorded(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(1), after(5)], after(6)).await;
        fixture.sql(&format!(
            "INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES ({}, {}, {}, 3, 'skip', 'coalesced', 1)",
            job.id, after(2), after(4))).await;
        let edited = fixture.definition(&each("*/2 * * * * ?"));
        let job = fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.story(&job).await, "1:claimed");
        assert_eq!(job.next_fire_at, Some(after(6)));
    }

    // covers: I1
    async fn enabling_at_an_old_moment_leaves_no_gap(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(1), after(3)], after(4)).await;
        fixture.run(&job, Row { fire_no: after(2), state: RunState::Succeeded.code(), ..Row::default() }).await;
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let job = fixture.store.jobs().set_enabled(job.id, true, NOW + 1, &actor()).await.unwrap();
        assert_eq!(fixture.story(&job).await, "1:cancelled(disabled) 2:succeeded");
        assert_eq!(job.next_fire_at, Some(after(3)));
    }
}
