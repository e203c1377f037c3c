//! Work that must not grow with all jobs and all runs: what it reads and writes, counted.

use carillon_scheduler::JobDraft;
use carillon_store::backfill::backfills::NewBackfill;
use carillon_store::db::ids;
use carillon_store::job::job_row::{Params, StoredDefinition};
use carillon_store::run::open::misplaced::RepairCursor;

use super::fixture::{Fixture, NOW, actor, after, each};

const DAY: i64 = 86_400_000;

impl Fixture {
    /// Inserts `count` rows into one table; `row` gives the values of each.
    async fn many(&self, table: &str, count: i64, row: impl Fn(i64) -> String) {
        let ids: Vec<i64> = (1..=count).collect();
        for chunk in ids.chunks(1000) {
            let rows: Vec<String> = chunk.iter().map(|id| row(*id)).collect();
            self.sql(&format!("INSERT INTO {table} VALUES {}", rows.join(","))).await;
        }
    }
}

databases! {
    // covers: F13
    async fn a_round_deletes_all_old_alarms_keys_and_audit_lines_however_many_there_are(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let old = NOW - 400 * DAY;
        let base = 10_000_000;
        fixture.many("alarm (id, job_id, kind, message, created_at)", 12_000, |id| format!("({}, 1, 'failed', 'x', {old})", base + id)).await;
        fixture.many("audit (id, at, actor, source, action, object, object_id, detail)", 12_000, |id| {
            format!("({}, {old}, 'a', 'b', 'update', 'job', {id}, '{{}}')", base + id)
        }).await;
        fixture.many("idempotency (request_key, object_id, created_at)", 12_000, |id| format!("('k{id}', {id}, {old})")).await;
        fixture.sql(&format!("INSERT INTO alarm (id, job_id, kind, message, created_at) VALUES (1, 1, 'failed', 'young', {NOW})")).await;
        fixture.store.retention().prune_rest(90, NOW).await.unwrap();
        let left = [
            fixture.count("alarm", "1 = 1").await,
            fixture.count("audit", &format!("at = {old}")).await,
            fixture.count("idempotency", "1 = 1").await,
        ];
        assert_eq!(left, [1, 0, 0]);
    }

    // covers: F22
    async fn a_backfill_that_is_full_takes_no_run_ids(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let new = NewBackfill {
            job: job.id.into(), from_at: after(-60), to_at: after(0), max_concurrent: 7,
            instants: (-60..0).map(after).collect(),
        };
        fixture.store.backfills().create(&new, NOW, &actor()).await.unwrap();
        let open = fixture.store.backfills().open_backfills().await.unwrap().remove(0);
        assert_eq!(fixture.store.backfills().release(&open, NOW).await.unwrap().runs.len(), 7);
        let before = fixture.store.take_id(&ids::RUN).await.unwrap();
        for _ in 0..100 {
            let released = fixture.store.backfills().release(&open, NOW).await.unwrap();
            assert!(released.runs.is_empty() && released.full);
        }
        assert_eq!(fixture.store.take_id(&ids::RUN).await.unwrap(), before + 1);
    }

    // covers: H22
    async fn a_scan_loads_no_long_parameters(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let with = |params: String| JobDraft { params, ..each("* * * * * ?") };
        let short = fixture.create(&with("short".into())).await;
        let long = fixture.create(&with("x".repeat(60_000))).await;
        let spoilt = fixture.create(&with("short".into())).await;
        fixture.sql(&format!("UPDATE job_params SET params = '{}' WHERE job_id = {}", "y".repeat(10_000_000), spoilt.id)).await;
        let ids = [short.id, long.id, spoilt.id];
        let sorted = |mut found: Vec<StoredDefinition>| {
            found.sort_by_key(|it| it.job_id);
            found.into_iter().map(|it| it.params).collect::<Vec<_>>()
        };
        let scanned = sorted(fixture.store.jobs().definitions(&ids).await.unwrap());
        assert_eq!(scanned, [Params::Here("short".into()), Params::Apart, Params::Apart]);
        let marked = sorted(fixture.store.jobs().whole_definitions(&ids).await.unwrap());
        assert_eq!(marked, [Params::Here("short".into()), Params::Here("x".repeat(60_000)), Params::TooLong]);
    }

    async fn a_search_for_what_is_astray_reads_a_slice_and_finds_all_in_time(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.many("job (id, app_id, shard, name, handler, schedule_kind, schedule_text, anchor_at, catch_up, misfire, misfire_threshold_ms, \
             route, block, timeout_seconds, retries, enabled, revision, created_at, updated_at)", 5_000, |id| {
            format!("({id}, 1, {}, 'n', 'h', 'cron', '{{}}', 0, 'all', 'skip', 60000, 'first', 'serial', 0, 0, TRUE, 1, 1, 1)", id % 4)
        }).await;
        fixture.many("job_clock (shard, next_fire_at, job_id, revision)", 5_000, |id| format!("({}, {NOW}, {id}, 1)", id % 4)).await;
        fixture.sql("UPDATE job SET shard = 0 WHERE id = 4999").await;
        fixture.sql("UPDATE job_clock SET shard = 2 WHERE job_id = 4999").await;
        let mut walk = RepairCursor::default();
        let mut found = vec![];
        for _ in 0..3 {
            found.push(fixture.store.runs().repair_misplaced(&mut walk, NOW).await.unwrap().map(|alarm| alarm.text));
        }
        assert_eq!(found[0], None, "a look reads 2,000 jobs");
        let told: Vec<&String> = found.iter().flatten().collect();
        assert!(!told.is_empty(), "{found:?}");
        assert_eq!(fixture.count("job", "shard <> id % 4").await + fixture.count("job_clock", "shard <> job_id % 4").await, 0);
    }
}
