//! Somebody holds locks on one shard's rows for long: a backup, a forgotten session.

use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use super::rows::{claim, holder};
use crate::conformance::fixture::{Fixture, NOW, after};

databases! {
    // covers: 003-2
    async fn a_lock_on_one_shard_holds_up_no_other(db: &TestDatabase) {
        if db.kind() == Kind::Sqlite {
            // One process, one writer: no other session can hold a lock.
            return;
        }
        let fixture = Fixture::new(db).await;
        let stuck = fixture.ticking("stuck").await;
        let free = loop {
            let free = fixture.ticking("free").await;
            if free.shard != stuck.shard { break free; }
        };
        let (epoch, other) = (fixture.take(stuck.shard).await, fixture.take(free.shard).await);
        let session = fixture.raw.begin().await.unwrap();
        let lock = format!("UPDATE shard_lease SET owner = owner WHERE shard = {}", stuck.shard);
        session.execute_unprepared(&lock).await.unwrap();
        let lock = format!("UPDATE job_clock SET revision = revision WHERE shard = {} AND next_fire_at = {} AND job_id = {}",
            stuck.shard, after(1), stuck.id);
        session.execute_unprepared(&lock).await.unwrap();
        let begun = Instant::now();
        let store = fixture.store.clone();
        let waiting = claim(&stuck, &[(1, after(1))]);
        let held_up = tokio::spawn(async move { store.runs().claim(&holder(stuck.shard, epoch), &[waiting], NOW).await });
        fixture.store.runs().claim(&holder(free.shard, other), &[claim(&free, &[(2, after(1))])], NOW).await.unwrap();
        assert!(!held_up.is_finished() && begun.elapsed() < Duration::from_secs(2));
        // The stuck claim ends with an error in time.
        let error = held_up.await.unwrap().unwrap_err();
        assert!(error.is_transient() && !error.is_lock_conflict(), "{error:?}");
        assert!(begun.elapsed() < Duration::from_secs(8), "well within the lease");
        session.rollback().await.unwrap();
        assert_eq!(fixture.count("run", "1 = 1").await, 1);
    }
}
