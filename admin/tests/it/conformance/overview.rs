//! What the console shows at a glance, on every database.

use carillon_admin::store::run::view::dashboard::LATELY;
use carillon_scheduler::RunState;

use super::world::{NOW, Row, SECOND, SHARDS, World, each};

const CLAIMED: i16 = 0;
const SUCCEEDED: i16 = 9;
const FAILED: i16 = 10;

/// One run a second, the first at `SECOND`, with these states and ids from `first`.
async fn history(world: &World, job: &carillon_admin::store::Job, first: i64, states: &[i16]) {
    for (index, state) in states.iter().enumerate() {
        let index = index as i64;
        let row = Row { id: first + index, fire_no: SECOND + 1000 * index, state: *state, ..Row::default() };
        world.run(job, row).await;
    }
}

databases! {
    async fn the_last_runs_of_each_job_newest_first(db: &TestDatabase) {
        let world = World::new(db).await;
        assert_eq!(world.store.newest_run().await.unwrap(), 0);
        let (a, b, c) = (
            world.create(&each("0 0 3 * * ?")).await,
            world.create(&each("0 0 4 * * ?")).await,
            world.create(&each("0 0 5 * * ?")).await,
        );
        history(&world, &a, 1, &[SUCCEEDED, SUCCEEDED, FAILED, CLAIMED]).await;
        history(&world, &b, 11, &[FAILED]).await;
        let found = world.store.latest_runs(&[a.id, b.id, c.id], 2).await.unwrap();
        let ids = |job: i64| found.get(&job).map(|marks| marks.iter().map(|mark| mark.id).collect::<Vec<_>>());
        assert_eq!((ids(a.id), ids(b.id), ids(c.id)), (Some(vec![3, 2]), Some(vec![11]), None), "a claimed run has not begun");
        assert_eq!(found[&a.id][0].state, RunState::Failed);
        world.run(&b, Row { id: 12 + LATELY, fire_no: NOW, ..Row::default() }).await;
        assert!(!world.store.latest_runs(&[b.id], 2).await.unwrap().contains_key(&b.id), "long ago is not lately");
        assert!(world.store.latest_runs(&[], 2).await.unwrap().is_empty());
    }

    async fn what_fires_next_over_all_shards(db: &TestDatabase) {
        let world = World::new(db).await;
        for hour in [9, 3, 7, 5, 8] {
            world.create(&each(&format!("0 0 {hour} * * ?"))).await;
        }
        let all = world.store.next_fires(SHARDS, 10, NOW).await.unwrap();
        assert!(all.len() == 5 && all.is_sorted_by_key(|fire| fire.next_fire_at));
        let three = world.store.next_fires(SHARDS, 3, NOW).await.unwrap();
        assert_eq!(three, all[..3]);
        assert_eq!(all[0].app, "billing");
    }

    async fn runs_are_counted_since_a_moment_and_a_cut_is_told(db: &TestDatabase) {
        let world = World::new(db).await;
        let job = world.create(&each("0 0 3 * * ?")).await;
        history(&world, &job, 1, &[SUCCEEDED, FAILED, SUCCEEDED, CLAIMED]).await;
        let (counts, cut) = world.store.recent_states(SECOND + 1000).await.unwrap();
        let count = |state| counts.get(&state).copied().unwrap_or(0);
        assert_eq!((count(RunState::Succeeded), count(RunState::Failed), count(RunState::Claimed), cut), (1, 1, 1, false));
        world.run(&job, Row { id: 3 + LATELY, fire_no: NOW + 60_000, state: SUCCEEDED, ..Row::default() }).await;
        let (_, cut) = world.store.recent_states(SECOND).await.unwrap();
        assert!(cut, "there were earlier ones of the same time");
    }

    async fn runs_are_counted_step_by_step(db: &TestDatabase) {
        let world = World::new(db).await;
        assert_eq!(world.store.recent_since().await.unwrap(), None);
        let job = world.create(&each("0 0 3 * * ?")).await;
        history(&world, &job, 1, &[SUCCEEDED, SUCCEEDED, FAILED, SUCCEEDED]).await;
        assert_eq!(world.store.recent_since().await.unwrap(), Some((SECOND, false)));
        let history = world.store.run_history(SECOND, SECOND + 3000, 2000).await.unwrap();
        let (first, second) = (SECOND - SECOND % 2000, SECOND - SECOND % 2000 + 2000);
        let expected = [
            (first, RunState::Succeeded, 2),
            (second, RunState::Succeeded, 1),
            (second, RunState::Failed, 1),
        ];
        let mut sorted = history.clone();
        sorted.sort_by_key(|step| (step.0, step.1.code()));
        assert_eq!(sorted, expected);
        world.run(&job, Row { id: 3 + LATELY, fire_no: NOW + 60_000, state: SUCCEEDED, ..Row::default() }).await;
        assert_eq!(world.store.recent_since().await.unwrap(), Some((SECOND + 3000, true)));
    }

    async fn a_job_fails_until_it_succeeds(db: &TestDatabase) {
        let world = World::new(db).await;
        let (bad, worse, mended) = (
            world.create(&each("0 0 3 * * ?")).await,
            world.create(&each("0 0 4 * * ?")).await,
            world.create(&each("0 0 5 * * ?")).await,
        );
        history(&world, &bad, 1, &[FAILED, SUCCEEDED, FAILED, CLAIMED]).await;
        history(&world, &worse, 11, &[SUCCEEDED, FAILED, FAILED, FAILED]).await;
        history(&world, &mended, 21, &[FAILED, FAILED, SUCCEEDED]).await;
        let failing = world.store.failing_jobs(10).await.unwrap();
        let seen: Vec<_> = failing.iter().map(|job| (job.job_id, job.last_run, job.failures)).collect();
        assert_eq!(seen, [(worse.id, 14, 3), (bad.id, 3, 1)]);
        assert_eq!(world.store.failing_jobs(1).await.unwrap().len(), 1);
    }

    async fn who_needs_a_hand(db: &TestDatabase) {
        let world = World::new(db).await;
        assert!(world.store.apps_in_use().await.unwrap().is_empty());
        let job = world.create(&each("0 0 3 * * ?")).await;
        assert_eq!(world.store.apps_in_use().await.unwrap(), ["billing"]);
        assert!(world.store.paused_by_engine(5).await.unwrap().is_empty());
        world.sql(&format!("UPDATE job SET enabled = FALSE, paused_reason = 'too hard' WHERE id = {}", job.id)).await;
        let paused = world.store.paused_by_engine(5).await.unwrap();
        assert_eq!((paused[0].job_id, paused[0].reason.as_str()), (job.id, "too hard"));
        assert!(world.store.apps_in_use().await.unwrap().is_empty());
    }
}
