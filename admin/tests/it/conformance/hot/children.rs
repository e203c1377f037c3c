//! Children: the last of several parts that are settled at once bears them, and nobody else does.

use carillon_scheduler::RunState::{Lost, Running, Succeeded};

use super::ground::Ground;
use super::settle::{FOLLOW_UP, failure, success};
use crate::conformance::world::{NOW, Row};

impl Ground {
    /// A broadcast fire of `parts`, all running; their ids.
    async fn broadcast(&self, job: &carillon_admin::store::Job, fire_no: i64, parts: i32) -> Vec<i64> {
        let mut ids = vec![];
        for part in 0..parts {
            let row = Row { fire_no: -1, state: Running.code(), ..Row::default() };
            let id = self.run(job, row).await;
            let text = "UPDATE run SET fire_no = {fire_no}, part = {part}";
            let text = text.replace("{fire_no}", &fire_no.to_string()).replace("{part}", &part.to_string());
            self.sql(&format!("{text}, parts = {parts}, parent = TRUE WHERE id = {id}")).await;
            ids.push(id);
        }
        ids
    }
}

databases! {
    async fn parts_that_end_at_once_bear_one_child(db: &TestDatabase) {
        let ground = Ground::new(db).await;
        let child = ground.ticking("child").await;
        let parent = ground.ticking_with("parent", |draft| draft.children = vec![child.id]).await;
        for round in 0..20 {
            let ids = ground.broadcast(&parent, NOW + round, 4).await;
            // Each by a call of its own, as several nodes would do it.
            let settling = ids.iter().map(|id| {
                let (store, finding) = (ground.store.clone(), success(*id));
                async move { store.settle(&[finding], &FOLLOW_UP).await.unwrap().to_scan }
            });
            let woken: Vec<i32> = futures_util::future::join_all(settling).await.concat();
            assert_eq!(woken, [child.shard], "the last one, alone");
            let born = ground.rows_where(&format!("cause = 3 AND job_id = {} AND fire_no = {}", child.id, ids[0])).await;
            assert_eq!(born.len(), 1);
            assert_eq!((born[0].state, born[0].epoch, born[0].shard, born[0].scheduled_at), (0, 0, child.shard, NOW + 500));
            let handed_on = r#"["said 200","said 200","said 200","said 200"]"#.to_owned();
            assert_eq!(ground.store.given_params(&[born[0].id]).await.unwrap(), [(born[0].id, handed_on)]);
        }
    }

    // covers: I9
    async fn each_success_bears_each_child_once(db: &TestDatabase) {
        let ground = Ground::new(db).await;
        let (one, two) = (ground.ticking("one").await, ground.ticking("two").await);
        let parent = ground.ticking_with("parent", |draft| draft.children = vec![two.id, one.id]).await;
        let other = ground.ticking("other").await;
        let ids = ground.runs_in(&parent, &[Running, Running, Lost]).await;
        ground.sql(&format!("UPDATE run SET parent = TRUE WHERE job_id = {}", parent.id)).await;
        let plain = ground.runs_in(&other, &[Running]).await[0];
        let settled = ground.settle(&[success(ids[0]), failure(ids[1]), success(ids[2]), success(plain)]).await;
        assert_eq!(settled.changed.len(), 4);
        assert_eq!(ground.count("run", "cause = 3").await, 4, "two children after each of two successes");
        assert_eq!(ground.row(ids[0]).await.state(), Succeeded);
        assert_eq!(ground.settle(&[success(ids[0]), success(ids[2])]).await.changed, []);
        assert_eq!(ground.count("run", "cause = 3").await, 4);
        // As if the database had lost the success, but not the children.
        ground.sql(&format!("UPDATE run SET state = 2 WHERE id = {}", ids[0])).await;
        ground.settle(&[success(ids[0])]).await;
        assert_eq!(ground.count("run", "cause = 3").await, 4);
    }
}
