//! Who holds a shard is decided by the database alone, by its own clock and its epochs.

use std::time::Duration;

use carillon_store::Store;
use futures_util::future::join_all;

use super::rows::{TTL, claim, holder};
use crate::conformance::fixture::{Fixture, NOW, SHARDS, after};

databases! {
    // covers: 003-11
    async fn a_shard_has_one_holder_and_each_taking_a_new_epoch(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        assert_eq!(store.leases().list().await.unwrap().len(), SHARDS as usize);
        assert_eq!(store.leases().take(2, "a", NOW, TTL).await.unwrap(), Some(1));
        assert_eq!(store.leases().take(2, "b", NOW, TTL).await.unwrap(), None);
        assert_eq!(store.leases().take(3, "b", NOW, TTL).await.unwrap(), Some(1), "each shard by itself");
        assert_eq!(store.leases().take(2, "a", NOW, TTL).await.unwrap(), Some(2), "its owner may begin anew");
        assert!(store.leases().renew(2, 2, NOW, TTL).await.unwrap());
        assert!(!store.leases().renew(2, 1, NOW, TTL).await.unwrap(), "fenced");
        let lease = store.leases().list().await.unwrap().remove(2);
        assert_eq!((lease.shard, lease.epoch, lease.owner.as_str()), (2, 2, "a"));
        assert_eq!(store.leases().take(99, "a", NOW, TTL).await.unwrap(), None);
    }

    // covers: 6.10
    async fn a_foreign_release_is_refused(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        assert_eq!(fixture.take(2).await, 1);
        assert_eq!(fixture.take(2).await, 2);
        // By an earlier epoch, by one that does not exist yet, and of another shard.
        store.leases().release(2, 1).await.unwrap();
        store.leases().release(2, 3).await.unwrap();
        store.leases().release(1, 2).await.unwrap();
        assert_eq!(store.leases().take(2, "b", NOW, TTL).await.unwrap(), None);
        store.leases().release(2, 2).await.unwrap();
        assert_eq!(store.leases().take(2, "b", NOW, TTL).await.unwrap(), Some(3), "epochs only grow");
        store.leases().release(2, 2).await.unwrap();
        assert_eq!(store.leases().take(2, "a", NOW, TTL).await.unwrap(), None, "what was a's is b's now");
    }

    async fn what_was_on_its_way_does_not_take_a_returned_lease_back(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let job = fixture.ticking("tick").await;
        let epoch = fixture.take(job.shard).await;
        store.leases().release(job.shard, epoch).await.unwrap();
        // Begun before the lease went back: recorded, for no other node has the shard yet.
        let changed = store.runs().claim(&holder(job.shard, epoch), &[claim(&job, &[(1, after(1))])], NOW).await.unwrap();
        assert!(changed.is_empty());
        assert!(store.leases().renew(job.shard, epoch, NOW, TTL).await.unwrap());
        assert_eq!(store.leases().list().await.unwrap()[job.shard as usize].expires_at, 0);
        assert_eq!(store.leases().take(job.shard, "b", NOW, TTL).await.unwrap(), Some(epoch + 1), "at once");
    }

    // covers: 001-43
    async fn a_lease_that_is_not_renewed_ends(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let ttl = 300;
        let first = store.leases().take(0, "a", NOW, ttl).await.unwrap();
        if db.kind() == Kind::Sqlite {
            assert_eq!(store.leases().take(0, "b", NOW + ttl, TTL).await.unwrap(), None);
            assert_eq!(store.leases().take(0, "b", NOW + ttl + 1, TTL).await.unwrap(), Some(2));
        } else {
            let taken = async {
                loop {
                    if let Some(epoch) = store.leases().take(0, "b", NOW, TTL).await.unwrap() {
                        break epoch;
                    }
                }
            };
            let taken = tokio::time::timeout(Duration::from_secs(10), taken).await.unwrap();
            assert_eq!((first, taken), (Some(1), 2));
        }
        // Its holder comes back: what it still trusts is not there any more.
        assert!(!store.leases().renew(0, 1, NOW, TTL).await.unwrap());
    }

    async fn the_databases_clock_counts_whatever_a_nodes_clock_says(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        if db.kind() == Kind::Sqlite {
            assert_eq!(store.leases().database_now().await.unwrap(), None, "the process is the only one there");
            store.leases().take(0, "a", NOW, TTL).await.unwrap();
            return assert_eq!(store.leases().list().await.unwrap()[0].expires_at, NOW + TTL);
        }
        let year = 365 * 86_400_000;
        let now = store.leases().database_now().await.unwrap().unwrap();
        assert!(now > NOW, "of this time, in ms: {now}");
        let job = fixture.ticking("tick").await;
        let shard = job.shard;
        let expires_in = async || {
            let lease = store.leases().list().await.unwrap().remove(shard as usize);
            lease.expires_at - store.leases().database_now().await.unwrap().unwrap()
        };
        let epoch = store.leases().take(shard, "a", now + year, TTL).await.unwrap().unwrap();
        assert!((0..=TTL).contains(&expires_in().await));
        assert_eq!(store.leases().take(shard, "b", now + year, TTL).await.unwrap(), None, "a quick clock takes nothing");
        for clock in [0, now + year] {
            store.leases().renew(shard, epoch, clock, TTL).await.unwrap();
            assert!((0..=TTL).contains(&expires_in().await));
        }
        // A claim is a heartbeat too.
        store.leases().renew(shard, epoch, now, 1).await.unwrap();
        store.runs().claim(&holder(shard, epoch), &[claim(&job, &[(1, after(1))])], now + year).await.unwrap();
        assert!((0..=TTL).contains(&expires_in().await));
    }

    // covers: 004-6
    async fn of_fifty_nodes_one_takes_the_shard(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let racing = (0..50).map(|number| {
            let store = fixture.store.clone();
            tokio::spawn(async move { store.leases().take(1, &format!("node-{number}"), NOW, TTL).await.unwrap() })
        });
        let taken: Vec<i64> = join_all(racing).await.into_iter().filter_map(Result::unwrap).collect();
        assert_eq!(taken, [1]);
    }

    // covers: 6.6
    async fn two_nodes_make_the_shards_of_one_database_once(db: &TestDatabase) {
        let stores = crate::conformance::hot::schema::nodes(db, 2).await;
        stores[0].migrate().await.unwrap();
        let made = join_all(stores.iter().map(|store| store.leases().ensure_shards(None))).await;
        assert!(made.iter().all(|made| matches!(made, Ok(8))), "{made:?}");
        let names = join_all(stores.iter().map(|store| store.leases().cluster())).await;
        assert_eq!(names[0].as_ref().unwrap(), names[names.len() - 1].as_ref().unwrap());
        let store: &Store = &stores[0];
        assert_eq!(store.leases().list().await.unwrap().len(), 8);
        let refused = store.leases().ensure_shards(Some(4)).await.unwrap_err();
        assert_eq!(refused.to_string(), "--shards 4 (CARILLON_SHARDS) differs from the 8 shards of this database; drop the flag");
    }
}
