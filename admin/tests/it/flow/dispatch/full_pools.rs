//! Pages that use up their connections, and registrations that cannot be read, harm no run.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{ManualClock, RunState};
use carillon_testkit::{RecordingExecutor, wait_for};
use sea_orm::ConnectionTrait as _;

use crate::conformance::pools::make_endless;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

const SECONDS: usize = 40;
/// Each fires every second.
const JOBS: usize = 200;

/// Readers that ask for endless pages without a pause, more than any pool has connections. The clock is turned by hand, so
/// "40 s" are 40 rounds; how long they really take is not looked at.
async fn pages_that_hang_harm_no_run(db: &TestDatabase) {
    let node = Node::with_shards(db, 1).await;
    let executor = RecordingExecutor::start().await;
    node.register_own(&executor, "boot").await;
    let jobs = node.create_jobs(JOBS, |draft| {
        draft.schedule = carillon_scheduler::ScheduleDraft::fixed_rate(1);
    });
    let jobs = jobs.await;
    let new = carillon_store::people::accounts::NewAccount {
        name: "reader",
        password_hash: "hash",
        grants: &carillon_store::Grants::default(),
    };
    node.store.people().create_account(&new, START, &carillon_store::Actor::engine()).await.unwrap();
    make_endless(db, "account").await;
    let readers: Vec<_> = (0..12)
        .map(|_| {
            let store = node.store.clone();
            tokio::spawn(async move {
                loop {
                    let _ = store.people().account_by_name("reader").await;
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for second in 1..=SECONDS {
        if second % 10 == 0 {
            node.register_own(&executor, "boot").await;
        }
        node.advance(1_000).await;
        // The fires of this second have been sent in it: nothing was claimed late.
        wait_for("the runs of this second were sent", async || {
            executor.runs().len() >= JOBS * second.saturating_sub(1)
        })
        .await;
    }
    for reader in &readers {
        reader.abort();
    }
    for job in &jobs {
        let runs = node.runs(job).await;
        assert!(runs.len() >= SECONDS - 1, "{} runs", runs.len());
        for run in runs {
            assert!(!matches!(run.state, RunState::Failed | RunState::Cancelled), "{:?} {:?}", run.state, run.reason);
        }
        assert!(node.misfires(job).await.is_empty());
    }
}

// covers: F3
#[test]
fn pages_that_hang_harm_no_run_on_sqlite() {
    on(Kind::Sqlite, pages_that_hang_harm_no_run);
}

// covers: F3
#[test]
fn pages_that_hang_harm_no_run_on_postgres() {
    on(Kind::Postgres, pages_that_hang_harm_no_run);
}

// covers: F3
#[test]
fn pages_that_hang_harm_no_run_on_mariadb() {
    on(Kind::Mariadb, pages_that_hang_harm_no_run);
}

// covers: F3
#[test]
fn no_lease_ends_while_the_registrations_cannot_be_read() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let node = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
        let executor = RecordingExecutor::start().await;
        node.register_own(&executor, "boot").await;
        let job = node.job(|_| ()).await;
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        raw.execute_unprepared("ALTER TABLE executor RENAME TO executor_behind").await.unwrap();
        // Longer than the lease of 30 s.
        for _ in 0..40 {
            node.clock.advance(Duration::from_secs(1));
            node.services.refresher.step().await;
        }
        node.renew_leases().await;
        node.fire(&job).await;
        node.advance(2_000).await;
        let states = node.states(&job).await;
        assert_eq!(states, [RunState::Running], "sent to the executor that was live");
    });
}
