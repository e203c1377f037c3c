//! One kind of work cannot use up the connections of another.

use carillon_store::Actor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use carillon_scheduler::Cause;
use carillon_store::db::ids;
use carillon_store::run::trigger::NewTrigger;
use carillon_testkit::wait_for;
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use super::fixture::{Fixture, NOW, actor};
use super::hot::rows::{TTL, connect};
use crate::services::{Kind, TestDatabase, on};

/// A view in the place of a table, whose rows never come to an end: like a statement that scans far too much.
pub async fn make_endless(db: &TestDatabase, table: &str) {
    let endless = match db.kind() {
        Kind::Sqlite => "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n) > 0",
        Kind::Postgres => "(SELECT CAST(pg_sleep(600) AS TEXT)) IS NOT NULL",
        Kind::Mariadb => "SLEEP(600) = 0",
    };
    let raw = connect(db).await;
    for text in [
        format!("ALTER TABLE {table} RENAME TO {table}_behind"),
        format!("CREATE VIEW {table} AS SELECT t.* FROM {table}_behind t WHERE {endless}"),
    ] {
        raw.execute_unprepared(&text).await.unwrap();
    }
}

fn fire(job_id: i64) -> NewTrigger {
    NewTrigger {
        parts: None,
        job: job_id.into(),
        cause: Cause::Api,
        params: None,
        priority: None,
        address: None,
        idempotency_key: None,
        traceparent: None,
        rerun_of: None,
        repeats_saved: false,
        is_only_rerun: false,
    }
}

databases! {
    // covers: F3
    async fn a_page_that_scans_too_much_is_ended_with_a_reason_of_its_own(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        make_endless(db, "app").await;
        let error = fixture.store.apps().list(&carillon_store::VisibleApps::All).await.unwrap_err();
        assert!(error.is_too_slow(), "{error}");
    }

    // covers: F24
    async fn renewals_do_not_wait_behind_slow_statements(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let epoch = fixture.take(job.shard).await;
        let (store, mut slow) = (&fixture.store, vec![]);
        make_endless(db, "app").await;
        // More than pages have connections, and on a server more than the engine has for what it reads.
        for _ in 0..12 {
            let store = store.clone();
            slow.push(tokio::spawn(async move { drop(store.apps().list(&carillon_store::VisibleApps::All).await) }));
        }
        if db.kind() != Kind::Sqlite {
            make_endless(db, "job_clock").await;
            for _ in 0..6 {
                let (store, shard) = (store.clone(), job.shard);
                slow.push(tokio::spawn(async move { drop(store.runs().due_jobs(shard, NOW + 86_400_000, 10).await) }));
            }
        }
        // Until the database ends the first of them after 5 s.
        let mut renewals = 0;
        while !slow.iter().any(tokio::task::JoinHandle::is_finished) {
            assert!(store.leases().renew(job.shard, epoch, NOW, TTL).await.unwrap(), "the lease is still ours");
            renewals += 1;
        }
        assert!(renewals >= 20, "{renewals} renewals beside slow statements");
        slow.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

// covers: F15
async fn calls_that_wait_for_a_lock_delay_no_renewal(db: &TestDatabase) {
    let fixture = Fixture::new(db).await;
    let job = fixture.ticking("tick").await;
    let epoch = fixture.take(job.shard).await;
    let raw = connect(db).await;
    let holder = raw.begin().await.unwrap();
    let text = format!("SELECT id FROM job WHERE id = {} FOR UPDATE", job.id);
    holder.execute_unprepared(&text).await.unwrap();
    let calls: Vec<_> = (0..300)
        .map(|_| {
            let (store, job_id) = (fixture.store.clone(), job.id);
            tokio::spawn(
                async move { store.runs().insert_triggered(&fire(job_id), NOW, &Actor::engine()).await.is_ok() },
            )
        })
        .collect();
    for _ in 0..20 {
        let renewed = fixture.store.leases().renew(job.shard, epoch, NOW, TTL).await;
        assert!(renewed.unwrap(), "the lease is still ours");
        fixture.store.runs().due_jobs(job.shard, NOW, 10).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for call in &calls {
        call.abort();
    }
    holder.rollback().await.unwrap();
}

#[test]
fn calls_that_wait_for_a_lock_delay_no_renewal_on_postgres() {
    on(Kind::Postgres, calls_that_wait_for_a_lock_delay_no_renewal);
}

#[test]
fn calls_that_wait_for_a_lock_delay_no_renewal_on_mariadb() {
    on(Kind::Mariadb, calls_that_wait_for_a_lock_delay_no_renewal);
}

// covers: F15
#[test]
fn at_most_one_call_is_before_the_engine_at_the_one_writer_of_a_file() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let epoch = fixture.take(job.shard).await;
        const CALLS: usize = 2_000;
        let done = Arc::new(AtomicUsize::new(0));
        let calls: Vec<_> = (0..CALLS)
            .map(|_| {
                let (store, job_id, done) = (fixture.store.clone(), job.id, done.clone());
                tokio::spawn(async move {
                    let _ = store.runs().insert_triggered(&fire(job_id), NOW, &Actor::engine()).await;
                    done.fetch_add(1, Ordering::SeqCst);
                })
            })
            .collect();
        wait_for("the first calls are through", async || done.load(Ordering::SeqCst) >= 5).await;
        // In one queue with the calls, each renewal would come after all that wait.
        let before = done.load(Ordering::SeqCst);
        for _ in 0..5 {
            let renewed = fixture.store.leases().renew(job.shard, epoch, NOW, TTL).await;
            assert!(renewed.unwrap(), "the lease is still ours");
        }
        let passed = done.load(Ordering::SeqCst) - before;
        assert!(passed < CALLS / 2, "{passed} calls came before five renewals");
        for call in calls {
            call.abort();
        }
    });
}

// covers: F2
async fn ids_of_one_kind_do_not_wait_for_those_of_another(db: &TestDatabase) {
    let fixture = Fixture::new(db).await;
    fixture.store.take_id(&ids::JOB).await.unwrap();
    let raw = connect(db).await;
    let holder = raw.begin().await.unwrap();
    let text = "SELECT next FROM id_block WHERE name = 'job' FOR UPDATE";
    holder.execute_unprepared(text).await.unwrap();
    let store = fixture.store.clone();
    let stuck = tokio::spawn(async move { store.take_ids(&ids::JOB, 1_000).await.is_ok() });
    fixture.store.take_ids(&ids::RUN, 2_000).await.unwrap();
    assert!(!stuck.is_finished(), "the block of the other kind is still locked");
    holder.rollback().await.unwrap();
    stuck.await.unwrap();
    fixture.store.apps().create("after", "After", NOW, &actor()).await.unwrap();
}

#[test]
fn ids_of_one_kind_do_not_wait_for_those_of_another_on_postgres() {
    on(Kind::Postgres, ids_of_one_kind_do_not_wait_for_those_of_another);
}

#[test]
fn ids_of_one_kind_do_not_wait_for_those_of_another_on_mariadb() {
    on(Kind::Mariadb, ids_of_one_kind_do_not_wait_for_those_of_another);
}
