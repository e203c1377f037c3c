//! What the console shows at a glance, on every database.

use carillon_scheduler::RunState;
use carillon_store::run::view::dashboard::RECENT_RUN_IDS;
use carillon_store::{JobFilter, VisibleApps};

use crate::conformance::fixture::{Fixture, NOW, Row, SECOND, SHARDS, each};

const CLAIMED: i16 = 0;
const SUCCEEDED: i16 = 9;
const FAILED: i16 = 10;

/// One run a second, the first at `SECOND`, with these states and ids from `first`.
async fn history(fixture: &Fixture, job: &carillon_store::Job, first: i64, states: &[i16]) {
    for (index, state) in states.iter().enumerate() {
        let index = index as i64;
        let row = Row { id: first + index, fire_no: SECOND + 1000 * index, state: *state, ..Row::default() };
        fixture.run(job, row).await;
    }
}

databases! {
    async fn the_last_runs_of_each_job_newest_first(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        assert_eq!(fixture.store.runs().newest_run().await.unwrap(), 0);
        let (a, b, c) = (
            fixture.create(&each("0 0 3 * * ?")).await,
            fixture.create(&each("0 0 4 * * ?")).await,
            fixture.create(&each("0 0 5 * * ?")).await,
        );
        history(&fixture, &a, 1, &[SUCCEEDED, SUCCEEDED, FAILED, CLAIMED]).await;
        history(&fixture, &b, 11, &[FAILED]).await;
        let found = fixture.store.runs().latest(&[a.id, b.id, c.id], 2, &VisibleApps::All).await.unwrap();
        let ids = |job: i64| found.get(&job).map(|marks| marks.iter().map(|mark| mark.id).collect::<Vec<_>>());
        assert_eq!((ids(a.id), ids(b.id), ids(c.id)), (Some(vec![3, 2]), Some(vec![11]), None), "a claimed run has not begun");
        assert_eq!(found[&a.id][0].state, RunState::Failed);
        fixture.run(&b, Row { id: 12 + RECENT_RUN_IDS, fire_no: NOW, ..Row::default() }).await;
        assert!(!fixture.store.runs().latest(&[b.id], 2, &VisibleApps::All).await.unwrap().contains_key(&b.id), "long ago is not lately");
        assert!(fixture.store.runs().latest(&[], 2, &VisibleApps::All).await.unwrap().is_empty());
        let others = VisibleApps::Only(vec![fixture.app.id + 1]);
        assert!(fixture.store.runs().latest(&[a.id], 2, &others).await.unwrap().is_empty(), "of before it moved");
    }

    async fn what_fires_next_over_all_shards(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for hour in [9, 3, 7, 5, 8] {
            fixture.create(&each(&format!("0 0 {hour} * * ?"))).await;
        }
        let all = fixture.store.jobs().next_fires(SHARDS, 10, NOW, &VisibleApps::All).await.unwrap();
        assert!(all.len() == 5 && all.is_sorted_by_key(|fire| fire.next_fire_at));
        let three = fixture.store.jobs().next_fires(SHARDS, 3, NOW, &VisibleApps::All).await.unwrap();
        assert_eq!(three, all[..3]);
        assert_eq!(all[0].app, "billing");
    }

    async fn runs_are_counted_since_a_moment_and_a_cut_is_told(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("0 0 3 * * ?")).await;
        history(&fixture, &job, 1, &[SUCCEEDED, FAILED, SUCCEEDED, CLAIMED]).await;
        fixture.sql("UPDATE run SET sent_at = due_at + CASE WHEN id = 2 THEN 30001 ELSE 30000 END WHERE id < 4").await;
        let recent = async |since, now| fixture.store.runs().recent(since, 30_000, now, &VisibleApps::All).await.unwrap();
        let lately = recent(SECOND + 1000, SECOND + 33_000).await;
        let count = |state| lately.states.get(&state).copied().unwrap_or(0);
        assert_eq!((count(RunState::Succeeded), count(RunState::Failed), count(RunState::Claimed)), (1, 1, 1));
        assert_eq!((lately.late, lately.last_late_at, lately.is_cut), (1, Some(SECOND + 1000), false));
        let waits = recent(SECOND + 1000, SECOND + 33_001).await;
        assert_eq!((waits.late, waits.last_late_at), (2, Some(SECOND + 3000)), "one is late and still waits");
        assert_eq!(recent(SECOND + 4000, SECOND + 33_001).await.last_late_at, None);
        fixture.run(&job, Row { id: 3 + RECENT_RUN_IDS, fire_no: NOW + 60_000, state: SUCCEEDED, ..Row::default() }).await;
        assert!(recent(SECOND, SECOND).await.is_cut, "there were earlier ones of the same time");
    }

    async fn runs_are_counted_step_by_step(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        assert_eq!(fixture.store.runs().recent_since(&VisibleApps::All).await.unwrap(), None);
        let job = fixture.create(&each("0 0 3 * * ?")).await;
        history(&fixture, &job, 1, &[SUCCEEDED, SUCCEEDED, FAILED, SUCCEEDED]).await;
        assert_eq!(fixture.store.runs().recent_since(&VisibleApps::All).await.unwrap(), Some((SECOND, false)));
        let history = fixture.store.runs().run_history(SECOND, SECOND + 3000, 2000, &VisibleApps::All).await.unwrap();
        let (first, second) = (SECOND - SECOND % 2000, SECOND - SECOND % 2000 + 2000);
        let expected = [
            (first, RunState::Succeeded, 2),
            (second, RunState::Succeeded, 1),
            (second, RunState::Failed, 1),
        ];
        let mut sorted = history.clone();
        sorted.sort_by_key(|step| (step.0, step.1.code()));
        assert_eq!(sorted, expected);
        fixture.run(&job, Row { id: 3 + RECENT_RUN_IDS, fire_no: NOW + 60_000, state: SUCCEEDED, ..Row::default() }).await;
        assert_eq!(fixture.store.runs().recent_since(&VisibleApps::All).await.unwrap(), Some((SECOND + 3000, true)));
    }

    async fn a_job_fails_until_it_succeeds(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (bad, worse, mended) = (
            fixture.create(&each("0 0 3 * * ?")).await,
            fixture.create(&each("0 0 4 * * ?")).await,
            fixture.create(&each("0 0 5 * * ?")).await,
        );
        history(&fixture, &bad, 1, &[FAILED, SUCCEEDED, FAILED, CLAIMED]).await;
        history(&fixture, &worse, 11, &[SUCCEEDED, FAILED, FAILED, FAILED]).await;
        history(&fixture, &mended, 21, &[FAILED, FAILED, SUCCEEDED]).await;
        let failing = fixture.store.runs().failing_jobs(&VisibleApps::All).await.unwrap();
        let seen: Vec<_> = failing.iter().map(|job| (job.job_id, job.last_run, job.failures)).collect();
        assert_eq!(seen, [(worse.id, 14, 3), (bad.id, 3, 1)]);
        // The walk over ended runs has passed them, and they are none of the newest.
        fixture.store.reports().summarize_runs(24, NOW).await.unwrap();
        fixture.run(&bad, Row { id: 30 + RECENT_RUN_IDS, fire_no: NOW + 60_000, state: FAILED, ..Row::default() }).await;
        let failing = fixture.store.runs().failing_jobs(&VisibleApps::All).await.unwrap();
        let seen: Vec<_> = failing.iter().map(|job| (job.job_id, job.last_run, job.failures)).collect();
        assert_eq!(seen, [(worse.id, 14, 3), (bad.id, 30 + RECENT_RUN_IDS, 2)]);
        let filter = JobFilter { last_results: vec![RunState::Failed], limit: 10, ..JobFilter::default() };
        assert_eq!(fixture.store.jobs().count(&filter, 10).await.unwrap(), 2);
        fixture.run(&worse, Row { id: 31 + RECENT_RUN_IDS, fire_no: NOW + 60_000, state: SUCCEEDED, ..Row::default() }).await;
        let failing = fixture.store.runs().failing_jobs(&VisibleApps::All).await.unwrap();
        assert_eq!(failing.iter().map(|job| job.job_id).collect::<Vec<_>>(), [bad.id], "it has succeeded since");
        assert_eq!(fixture.store.jobs().count(&filter, 10).await.unwrap(), 1);
        fixture.store.reports().summarize_runs(32 + RECENT_RUN_IDS, NOW).await.unwrap();
        assert_eq!(fixture.count("report_failing", "failures = 2").await, 1);
        assert_eq!(fixture.store.runs().failing_jobs(&VisibleApps::All).await.unwrap().len(), 1);
    }

    async fn who_needs_a_hand(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        assert!(fixture.store.runs().apps_in_use(&VisibleApps::All).await.unwrap().is_empty());
        let job = fixture.create(&each("0 0 3 * * ?")).await;
        assert_eq!(fixture.store.runs().apps_in_use(&VisibleApps::All).await.unwrap(), ["billing"]);
        assert!(fixture.store.runs().paused_by_engine(5, &VisibleApps::All).await.unwrap().is_empty());
        fixture.sql(&format!("UPDATE job SET enabled = FALSE, paused_reason = 'too hard' WHERE id = {}", job.id)).await;
        let paused = fixture.store.runs().paused_by_engine(5, &VisibleApps::All).await.unwrap();
        assert_eq!((paused[0].job_id, paused[0].reason.as_str()), (job.id, "too hard"));
        assert!(fixture.store.runs().apps_in_use(&VisibleApps::All).await.unwrap().is_empty());
    }
}
