//! Sets of executors: renewed while they are used, deleted when they are not.

use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW, Row, each};

const DAY: i64 = 86_400_000;

fn set(id: i64) -> (i64, String) {
    (id, format!(r#"["http://{id}:1/"]"#))
}

databases! {
    async fn a_set_that_is_used_is_renewed_and_an_idle_one_can_be_deleted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        store.runs().persist_candidates(&(1..=250).map(set).collect::<Vec<_>>(), NOW).await.unwrap();
        store.runs().persist_candidates(&[set(7), set(300)], NOW + DAY).await.unwrap();
        assert_eq!(fixture.count("candidate_set", "1 = 1").await, 251);
        assert_eq!(store.runs().idle_candidate_sets(0, NOW, 9).await.unwrap(), [0; 0]);
        let idle = store.runs().idle_candidate_sets(0, NOW + 1, 1000).await.unwrap();
        assert_eq!((idle.len(), idle[0], idle[6], idle[248]), (249, 1, 8, 250), "all but what was renewed");
        assert_eq!(store.runs().idle_candidate_sets(5, NOW + 1, 2).await.unwrap(), [6, 8]);
        // One is used again after it was found idle.
        store.runs().persist_candidates(&[set(8)], NOW + DAY).await.unwrap();
        assert_eq!(store.runs().delete_candidate_sets(&idle, NOW + 1).await.unwrap(), 248);
        let left = fixture.rows("SELECT id FROM candidate_set ORDER BY id").await;
        let left: Vec<i64> = left.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
        assert_eq!(left, [7, 8, 300]);
        // A node that believes it to be there brings it back.
        store.runs().persist_candidates(&[set(9)], NOW + DAY).await.unwrap();
        assert_eq!(fixture.count("candidate_set", "id = 9").await, 1);
    }

    async fn a_set_that_is_renewed_while_it_is_deleted_is_there_afterwards(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        for round in 0..20 {
            store.runs().persist_candidates(&[set(1)], NOW + round * DAY).await.unwrap();
            let (used, before) = (NOW + (round + 1) * DAY, NOW + round * DAY + 1);
            let again = [set(1)];
            let (renewed, deleted) =
                tokio::join!(store.runs().persist_candidates(&again, used), store.runs().delete_candidate_sets(&[1], before));
            renewed.unwrap();
            deleted.unwrap();
            assert_eq!(fixture.count("candidate_set", &format!("used_at = {used}")).await, 1);
        }
    }

    async fn many_nodes_renew_the_same_sets_at_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let forth: Vec<_> = (1..=120).map(set).collect();
        let back: Vec<_> = forth.iter().rev().cloned().collect();
        for day in 0..5 {
            let kept = join_all((0..6).map(|node| {
                fixture.store.runs().persist_candidates(if node % 2 == 0 { &forth } else { &back }, NOW + day * DAY)
            }));
            assert!(kept.await.into_iter().all(|kept| kept.is_ok()));
        }
        assert_eq!(fixture.count("candidate_set", &format!("used_at = {}", NOW + 4 * DAY)).await, 120);
    }

    async fn the_sets_of_runs_above_an_id_are_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        for (id, set) in [(10, "1"), (11, "2"), (12, "NULL"), (13, "2"), (14, "3")] {
            fixture.run(&job, Row { id, fire_no: id, ..Row::default() }).await;
            fixture.sql(&format!("UPDATE run SET candidates_id = {set} WHERE id = {id}")).await;
        }
        let mut named = fixture.store.runs().candidate_sets_named_above(10).await.unwrap();
        named.sort_unstable();
        assert_eq!(named, [2, 3]);
    }
}
