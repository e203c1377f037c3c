//! Children: the last of several parts that are settled at once creates them, and no other part does.

use carillon_scheduler::RunState::{Lost, Running, Succeeded};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, given_with_fire, success};

impl Fixture {
    /// A broadcast fire of `parts`, all running; their ids.
    async fn broadcast(&self, job: &carillon_store::Job, fire_no: i64, parts: i32) -> Vec<i64> {
        let mut ids = vec![];
        for part in 0..parts {
            let row = Row { fire_no: -1, state: Running.code(), ..Row::default() };
            let id = self.run(job, row).await;
            let text = "UPDATE run SET fire_no = {fire_no}, part = {part}";
            let text = text.replace("{fire_no}", &fire_no.to_string()).replace("{part}", &part.to_string());
            self.sql(&format!("{text}, parts = {parts}, follow = 2 WHERE id = {id}")).await;
            ids.push(id);
        }
        ids
    }
}

databases! {
    async fn parts_that_end_at_once_bear_one_child(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let child = fixture.ticking("child").await;
        let parent = fixture.ticking_with("parent", |draft| draft.children = vec![child.id]).await;
        for round in 0..20 {
            let ids = fixture.broadcast(&parent, NOW + round, 4).await;
            // Each by a call of its own, as several nodes would do it.
            let settling = ids.iter().map(|id| {
                let (store, finding) = (fixture.store.clone(), success(*id));
                async move {
                    let settled = store.runs().settle(&[finding], &FOLLOW_UP).await.unwrap();
                    let (mut ends, mut to_scan) = (settled.followed, vec![]);
                    // What another holds up is looked at again, as a node does it.
                    while !ends.is_empty() {
                        let advanced = store.runs().advance(&ends, FOLLOW_UP.now).await.unwrap();
                        to_scan.extend(advanced.to_scan);
                        ends = advanced.held_up;
                    }
                    to_scan
                }
            });
            let woken: Vec<i32> = futures_util::future::join_all(settling).await.concat();
            assert_eq!(woken, [child.shard], "the last one, alone");
            let born = fixture.rows_where(&format!("cause = 3 AND job_id = {} AND fire_no = {}", child.id, ids[0])).await;
            assert_eq!(born.len(), 1);
            assert_eq!((born[0].state, born[0].epoch, born[0].shard, born[0].scheduled_at), (0, 0, child.shard, NOW + 500));
            let handed_on = r#"["said 200","said 200","said 200","said 200"]"#.to_owned();
            assert_eq!(fixture.store.jobs().given_params(&[born[0].id]).await.unwrap(), [(born[0].id, given_with_fire(&handed_on))]);
        }
    }

    // covers: I9
    async fn each_success_bears_each_child_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let one = fixture.ticking("one").await;
        let two = fixture.ticking_with("two", |draft| draft.takes_result = false).await;
        let parent = fixture.ticking_with("parent", |draft| draft.children = vec![two.id, one.id]).await;
        let other = fixture.ticking("other").await;
        let ids = fixture.runs_in(&parent, &[Running, Running, Lost]).await;
        fixture.sql(&format!("UPDATE run SET follow = 2 WHERE job_id = {}", parent.id)).await;
        let plain = fixture.runs_in(&other, &[Running]).await[0];
        let settled = fixture.settle(&[success(ids[0]), failure(ids[1]), success(ids[2]), success(plain)]).await;
        assert_eq!(settled.changed.len(), 4);
        assert_eq!(fixture.count("run", "cause = 3").await, 4, "two children after each of two successes");
        let given = |job: i64| format!("run_id IN (SELECT id FROM run WHERE cause = 3 AND job_id = {job})");
        assert_eq!(fixture.count("run_input", &given(one.id)).await, 2, "the parent's result");
        assert_eq!(fixture.count("run_input", &given(two.id)).await, 0, "it takes none");
        assert_eq!(fixture.row(ids[0]).await.state(), Succeeded);
        assert_eq!(fixture.settle(&[success(ids[0]), success(ids[2])]).await.changed, []);
        assert_eq!(fixture.count("run", "cause = 3").await, 4);
        // As if the database had lost the success, but not the children.
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {}", ids[0])).await;
        fixture.settle(&[success(ids[0])]).await;
        assert_eq!(fixture.count("run", "cause = 3").await, 4);
    }

    // covers: W5, W6
    async fn what_ends_after_its_job_has_moved_brings_about_nothing_of_the_other_app(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let child = fixture.ticking("child").await;
        let job = fixture
            .ticking_with("moves", |draft| {
                draft.children = vec![child.id];
                draft.retries = 1;
                draft.pause_after_failures = 1;
            })
            .await;
        let ids = fixture.runs_in(&job, &[Running, Running, Running]).await;
        fixture.sql(&format!("UPDATE run SET follow = 258 WHERE job_id = {}", job.id)).await;
        let other = fixture.store.apps().create("other", "Other", NOW, &actor()).await.unwrap();
        fixture.sql(&format!("UPDATE job SET app_id = {}, name = 'secret' WHERE id = {}", other.id, job.id)).await;
        // After the move: a success, a failure that may be retried, and one that may not.
        fixture.sql(&format!("UPDATE run SET attempt = 2 WHERE id = {}", ids[2])).await;
        let settled = fixture.settle(&[success(ids[0]), failure(ids[1]), failure(ids[2])]).await;
        assert_eq!((settled.changed.len(), settled.alarms.len()), (3, 0));
        assert_eq!(fixture.count("run", "1 = 1").await, 3, "no child and no further attempt");
        assert_eq!(fixture.count("alarm", "1 = 1").await, 0);
        assert_eq!(fixture.count("job_failure", "1 = 1").await, 0);
        assert_eq!(fixture.store.runs().get(ids[0]).await.unwrap().unwrap().job, None, "its name is the other app's");
        // The runs of the app that has it now do.
        let mut now = vec![];
        for second in [90, 91, 92] {
            now.push(fixture.run(&job, Row { fire_no: after(second), state: Running.code(), ..Row::default() }).await);
        }
        let of_now = format!("app_id = {}, follow = 258", other.id);
        fixture.sql(&format!("UPDATE run SET {of_now} WHERE id >= {}", now[0])).await;
        fixture.settle(&[success(now[0]), failure(now[1])]).await;
        assert_eq!(fixture.count("run", "cause = 3").await, 0, "the child's app does not let the other one start its jobs");
        assert_eq!(fixture.count("alarm", &format!("kind = 'child_not_started' AND job_id = {}", job.id)).await, 1);
        let billing = fixture.store.apps().by_name("billing").await.unwrap().unwrap();
        fixture.store.apps().set_starters(&billing, std::slice::from_ref(&other), NOW, &actor()).await.unwrap();
        fixture.settle(&[success(now[2])]).await;
        assert_eq!(fixture.count("run", "cause = 3").await, 1);
        assert_eq!(fixture.count("run", &format!("attempt = 2 AND app_id = {}", other.id)).await, 1);
    }
}
