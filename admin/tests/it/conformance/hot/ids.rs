//! Ids are known before an insert, and no id is given twice.

use std::collections::HashSet;

use carillon_store::db::ids;
use futures_util::future::join_all;

use super::rows::connect;
use super::schema::nodes;

databases! {
    async fn ids_of_two_nodes_never_meet(db: &TestDatabase) {
        let stores = nodes(db, 2).await;
        stores[0].migrate().await.unwrap();
        // Each several times at once, from the very first block on.
        let tasks = (0..8).map(|number| {
            let store = stores[number % stores.len()].clone();
            tokio::spawn(async move {
                let mut taken = vec![];
                for count in [1, 400, 7, 900, 2_500, 1] {
                    let ids = store.take_ids(&ids::RUN, count).await.unwrap();
                    assert_eq!(ids.len(), count);
                    assert!(ids.is_sorted(), "ascending");
                    taken.extend(ids);
                }
                taken.extend(store.take_ids(&ids::JOB, 0).await.unwrap());
                taken
            })
        });
        let taken: Vec<i64> = join_all(tasks).await.into_iter().flat_map(Result::unwrap).collect();
        assert_eq!(taken.iter().collect::<HashSet<_>>().len(), taken.len());
        assert!(taken.iter().all(|id| *id > 0));
        // Another kind counts by itself.
        assert_eq!(stores[0].take_id(&ids::JOB).await.unwrap(), 1);
        assert_eq!(stores[0].take_id(&ids::JOB).await.unwrap(), 2);
    }

    // covers: B20
    async fn unused_ids_go_back_at_a_stop(db: &TestDatabase) {
        let store = nodes(db, 1).await.remove(0);
        store.migrate().await.unwrap();
        let take = async || (store.take_id(&ids::JOB).await.unwrap(), store.take_id(&ids::RUN).await.unwrap());
        assert_eq!(take().await, (1, 1));
        store.return_ids(true).await.unwrap();
        assert_eq!(take().await, (2, 2), "the numbers go on");
        store.return_ids(false).await.unwrap();
        assert_eq!(take().await, (3, 12), "runs only of the last node");
        let raw = connect(db).await;
        let sql = async |text: &str| sea_orm::ConnectionTrait::execute_unprepared(&raw, text).await.unwrap();
        sql("UPDATE report_cursor SET run_id = 13 WHERE id = 1").await;
        store.return_ids(true).await.unwrap();
        assert_eq!(take().await, (4, 22), "the summaries have passed the unused ids of runs");
        sql("UPDATE id_block SET next = next + 10").await;
        store.return_ids(true).await.unwrap();
        assert_eq!(take().await, (24, 42), "another node has taken a later block");
    }

    async fn no_id_is_given_that_the_wire_cannot_carry(db: &TestDatabase) {
        let store = nodes(db, 1).await.remove(0);
        store.migrate().await.unwrap();
        store.take_id(&ids::JOB).await.unwrap();
        let raw = connect(db).await;
        let last = (1_i64 << 31) - 50;
        sea_orm::ConnectionTrait::execute_unprepared(&raw, &format!("UPDATE id_block SET next = {last} WHERE name = 'job'")).await.unwrap();
        let refused = store.take_ids(&ids::JOB, 200).await.unwrap_err();
        assert_eq!(refused.to_string(), "no job ids are left below 2147483648");
    }
}
