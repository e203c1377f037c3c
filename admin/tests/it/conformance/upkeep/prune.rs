//! Deleting what was kept long enough: what goes, what must stay, and what is left of it.

use carillon_scheduler::AuditObjectKind;
use carillon_store::RunFilter;
use carillon_store::audit::list::AuditFilter;
use carillon_store::backfill::backfills::NewBackfill;
use carillon_store::backfill::release::OpenBackfill;
use carillon_store::retention::rules::{Retention, Scope};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after, each};

/// Succeeded, failed, unknown, lost.
const DONE: i16 = 9;
const FAILED: i16 = 10;
const UNKNOWN: i16 = 3;
const LOST: i16 = 4;

databases! {
    async fn only_whole_fires_that_have_ended_go_and_are_counted_by_day(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let old = after(-40 * 86_400);
        let mut ids = vec![];
        for (second, attempt, state) in [(0, 1, DONE), (1, 1, FAILED), (1, 2, DONE), (2, 1, FAILED), (2, 2, UNKNOWN), (3, 1, FAILED), (3, 2, 0)] {
            let row = Row { fire_no: old + second * 1000, attempt, state, ..Row::default() };
            ids.push(fixture.run(&job, row).await);
        }
        fixture.sql(&format!("INSERT INTO run_input (run_id, params) VALUES ({}, 'x')", ids[0])).await;
        assert_eq!(fixture.store.retention().prune_runs(&ids, 0).await.unwrap(), 3, "an open attempt keeps its whole fire");
        assert_eq!(fixture.count("run", "1 = 1").await, 4);
        assert_eq!(fixture.count("run_input", "1 = 1").await, 0);
        assert_eq!(fixture.store.retention().prune_runs(&ids, 0).await.unwrap(), 0);
        let day = i32::try_from(old / 86_400_000).unwrap();
        let counts = fixture.store.retention().day_counts(job.id, day - 1, day + 1).await.unwrap();
        assert_eq!((counts.len(), counts[0].day, counts[0].succeeded, counts[0].failed), (1, day, 2, 1));
        assert_eq!(fixture.store.runs().pruned_to(job.id).await.unwrap(), Some(old + 1000));
        // What is learned of an outcome lets the fire go.
        fixture.sql("UPDATE run SET state = 10 WHERE state = 3").await;
        assert_eq!(fixture.store.retention().prune_runs(&ids, 0).await.unwrap(), 2);
        let counts = fixture.store.retention().day_counts(job.id, day, day).await.unwrap();
        assert_eq!((counts[0].succeeded, counts[0].failed), (2, 3));
    }

    // covers: B1
    async fn a_run_that_was_run_again_is_known_as_such_after_its_repetition_has_gone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let old = after(-40 * 86_400);
        let mut ids = vec![];
        for (second, state) in [(0, FAILED), (1, DONE), (2, FAILED), (3, DONE)] {
            ids.push(fixture.run(&job, Row { fire_no: old + second * 1000, state, ..Row::default() }).await);
        }
        for (again, original) in [(ids[1], ids[0]), (ids[3], ids[2])] {
            fixture.sql(&format!("INSERT INTO run_input (run_id, params, rerun_of) VALUES ({again}, 'x', {original})")).await;
        }
        let filter = RunFilter { job_id: Some(job.id), is_not_rerun: true, limit: 10, ..RunFilter::default() };
        let offered = async || fixture.store.runs().list(&filter).await.unwrap().items.iter().map(|run| run.id).collect::<Vec<_>>();
        assert_eq!(fixture.store.retention().prune_runs(&[ids[1]], 0).await.unwrap(), 1);
        assert_eq!(offered().await, [ids[3]], "each failure was run again");
        assert_eq!(fixture.count("run_input", "params IS NOT NULL").await, 1, "the large part goes with the run");
        assert_eq!(fixture.store.retention().prune_runs(&[ids[0], ids[2]], 0).await.unwrap(), 2);
        assert_eq!(fixture.count("run_input", "1 = 1").await, 1, "nothing asks for the first any more");
        assert_eq!(fixture.store.retention().prune_runs(&[ids[3]], 0).await.unwrap(), 1);
        assert_eq!(fixture.count("run_input", "1 = 1").await, 0);
    }

    // covers: 001-35
    async fn outcomes_that_nobody_has_learned_are_given_up_with_the_failures_of_their_time(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let (old, young) = (after(-91 * 86_400), after(-89 * 86_400));
        let mut ids = vec![];
        for (from, second, attempt, state) in [
            // Its last word is not known, nor its retry's; both are old.
            (old, 0, 1, UNKNOWN), (old, 0, 2, LOST),
            // A retry still waits, or runs: its fire has not ended.
            (old, 1, 1, LOST), (old, 1, 2, 0), (old, 2, 1, UNKNOWN), (old, 2, 2, 2),
            // What ended goes with it.
            (old, 3, 1, UNKNOWN), (old, 3, 2, DONE),
            (young, 0, 1, UNKNOWN),
        ] {
            ids.push(fixture.run(&job, Row { fire_no: from + second * 1000, attempt, state, ..Row::default() }).await);
        }
        // Of an old fire an outcome may still be young: it was given up late.
        let late = [(1, DONE), (2, UNKNOWN)].map(|(attempt, state)| Row { fire_no: old + 4000, attempt, state, ..Row::default() });
        for row in late {
            ids.push(fixture.run(&job, row).await);
        }
        fixture.sql(&format!("UPDATE run SET finished_at = {young} WHERE id = {}", ids[10])).await;
        assert_eq!(fixture.store.retention().prune_runs(&ids, 0).await.unwrap(), 0, "kept for ever");
        assert_eq!(fixture.store.retention().prune_runs(&ids, after(-90 * 86_400)).await.unwrap(), 4);
        let left = fixture.rows("SELECT id FROM run ORDER BY id").await;
        let left: Vec<i64> = left.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
        assert_eq!(left, [ids[2], ids[3], ids[4], ids[5], ids[8], ids[9], ids[10]]);
        let day = i32::try_from(old / 86_400_000).unwrap();
        let counts = fixture.store.retention().day_counts(job.id, day, day).await.unwrap();
        assert_eq!((counts[0].succeeded, counts[0].failed), (1, 3), "they count as failed, as they did");
    }

    async fn the_child_of_a_parent_that_is_given_up_goes_after_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let parent = fixture.run(&job, Row { fire_no: after(-100), state: DONE, ..Row::default() }).await;
        let other_part = fixture.run(&job, Row { fire_no: after(-100), attempt: 2, state: LOST, ..Row::default() }).await;
        let child = fixture.run(&job, Row { cause: 3, fire_no: parent, state: DONE, ..Row::default() }).await;
        let before = after(-50);
        assert_eq!(fixture.store.retention().prune_runs(&[child], before).await.unwrap(), 0, "its parent's rules may be others");
        assert_eq!(fixture.store.retention().prune_runs(&[parent, other_part], before).await.unwrap(), 2);
        assert_eq!(fixture.store.retention().prune_runs(&[child], before).await.unwrap(), 1);
    }

    async fn a_child_stays_until_its_parents_fire_cannot_change(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let parent = fixture.run(&job, Row { fire_no: after(-100), state: DONE, ..Row::default() }).await;
        let other_part = fixture.run(&job, Row { fire_no: after(-100), attempt: 2, state: UNKNOWN, ..Row::default() }).await;
        let child = fixture.run(&job, Row { cause: 3, fire_no: parent, state: DONE, ..Row::default() }).await;
        assert_eq!(fixture.store.retention().prune_runs(&[child], 0).await.unwrap(), 0);
        fixture.sql(&format!("UPDATE run SET state = 9 WHERE id = {other_part}")).await;
        assert_eq!(fixture.store.retention().prune_runs(&[child], 0).await.unwrap(), 1);
    }

    async fn a_backfill_never_runs_an_instant_again_whose_run_is_gone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let backfill = async |from: i64, to: i64| {
            let instants = (from..to).map(after).collect();
            let new = NewBackfill { job: job.id.into(), from_at: after(from), to_at: after(to), max_concurrent: 100, instants };
            let made = fixture.store.backfills().create(&new, NOW, &actor()).await.unwrap();
            let open = OpenBackfill { id: made.id, job_id: job.id, shard: job.shard, max_concurrent: 100 };
            fixture.store.backfills().release(&open, NOW).await.unwrap().runs
        };
        let runs = backfill(-20, -10).await;
        assert_eq!(runs.len(), 10);
        fixture.sql("UPDATE run SET state = 9").await;
        assert_eq!(fixture.store.retention().prune_runs(&runs, 0).await.unwrap(), 10);
        assert_eq!(backfill(-20, -5).await.len(), 5);
        assert_eq!(fixture.store.backfills().recorded_instants(job.id, &[after(-20), after(-3)]).await.unwrap(), [after(-20)]);
    }

    async fn what_else_grows_is_deleted_by_its_age(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let (old, young) = (after(-400 * 86_400), after(-5));
        for (id, at) in [(900_001, old), (900_002, young)] {
            fixture.sql(&format!("INSERT INTO audit (id, at, actor, source, action, object, object_id, detail) VALUES ({id}, {at}, 'a', '', 'x', 'y', 1, '')")).await;
            fixture.sql(&format!("INSERT INTO alarm (id, job_id, kind, message, created_at) VALUES ({id}, 0, 'lost', '', {at})")).await;
            fixture.sql(&format!("INSERT INTO idempotency (request_key, object_id, created_at) VALUES ('k{id}', 1, {at})")).await;
            fixture.sql(&format!("INSERT INTO session (id_hash, account_id, csrf, created_at, seen_at, expires_at) VALUES ('s{id}', 1, '', 0, 0, {at})")).await;
        }
        fixture.sql("INSERT INTO backfill_done (job_id, at) VALUES (777, 1)").await;
        fixture.sql(&format!("INSERT INTO backfill_done (job_id, at) VALUES ({}, 1)", job.id)).await;
        assert_eq!(fixture.store.retention().prune_rest(90, NOW).await.unwrap(), 4);
        assert_eq!(fixture.store.retention().prune_orphans().await.unwrap(), 1);
        for (table, column) in [("audit", "id"), ("alarm", "id")] {
            assert_eq!(fixture.count(table, &format!("{column} = 900001")).await, 0, "{table}");
            assert_eq!(fixture.count(table, &format!("{column} = 900002")).await, 1, "{table}");
        }
        assert_eq!(fixture.count("session", "1 = 1").await, 1);
        assert_eq!(fixture.store.retention().prune_rest(90, NOW).await.unwrap(), 0);
        fixture.store.retention().prune_misfire(job.id, 5, 9).await.unwrap();
        assert_eq!(fixture.store.runs().pruned_to(job.id).await.unwrap(), Some(9));
    }

    async fn rules_of_retention_are_stored_and_audited(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let rule = Retention { days: Some(7), runs: Some(0), ..Retention::default() };
        fixture.store.retention().set(Scope::Job(job.id), rule, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.store.retention().of(Scope::Job(job.id)).await.unwrap(), rule);
        let keep = fixture.store.retention().rules().await.unwrap().keep(job.app_id, job.id);
        assert_eq!((keep.days, keep.failure_days, keep.failures, keep.runs), (7, 90, 10, 0));
        let wrong = Retention { days: Some(9999), ..Retention::default() };
        let error = fixture.store.retention().set(Scope::All, wrong, NOW, &actor()).await.unwrap_err();
        assert!(error.to_string().contains("0 to 3650"), "{error}");
        fixture.store.retention().set(Scope::Job(job.id), Retention::default(), NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("retention", "1 = 1").await, 0);
        let audit = fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, job.id)).await.unwrap();
        assert_eq!(audit.items[0].action, "retention");
    }

    // covers: F18
    async fn a_row_that_cannot_be_read_is_left_out_and_stops_no_other(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let mut ids = vec![];
        for second in 0..3 {
            let row = Row { fire_no: after(-40 * 86_400 + second), state: DONE, ..Row::default() };
            ids.push(fixture.run(&job, row).await);
        }
        fixture.sql(&format!("UPDATE run SET state = 77 WHERE id = {}", ids[0])).await;
        fixture.sql(&format!("UPDATE run SET cause = 77 WHERE id = {}", ids[1])).await;
        let old = fixture.store.retention().runs_above(0, 10).await.unwrap();
        assert_eq!(old.iter().map(|run| run.id).collect::<Vec<_>>(), ids[1..]);
        assert_eq!(fixture.store.retention().prune_runs(&ids, 0).await.unwrap(), 1);
        assert_eq!(fixture.count("run", "1 = 1").await, 2);
    }
}
