//! A run keeps what it was given, whatever becomes of its job.

use carillon_admin::store::{Job, RunParams};
use carillon_scheduler::JobDraft;

use super::world::{NOW, Row, World, actor, after, draft};

const SUCCEEDED: i16 = 9;

/// A run that was sent with this revision.
async fn sent(world: &World, job: &Job, id: i64, revision: i64) -> i64 {
    let row = Row { id, fire_no: after(id), state: SUCCEEDED, ..Row::default() };
    world.run(job, row).await;
    let text = format!("UPDATE run SET revision = {revision}, marked_at = {NOW} WHERE id = {id}");
    world.sql(&text).await;
    id
}

async fn given(world: &World, id: i64) -> RunParams {
    let run = world.store.run(id).await.unwrap().unwrap();
    world.store.params_of(&run).await.unwrap()
}

async fn edit(world: &World, job: &Job, params: &str) -> Job {
    let now = world.store.job(job.id).await.unwrap().unwrap();
    let edited = world.definition(&JobDraft { params: params.into(), ..now.draft });
    world.store.update_job(job.id, &edited, None, NOW, &actor()).await.unwrap()
}

fn text(text: &str) -> RunParams {
    RunParams::Sent(text.to_owned())
}

databases! {
    // covers: A1
    async fn a_run_keeps_the_parameters_that_it_was_sent_with(db: &TestDatabase) {
        let world = World::new(db).await;
        let long = "ä".repeat(30_000);
        let job = world.create(&JobDraft { params: long.clone(), ..draft("a") }).await;
        let first = sent(&world, &job, 1, 1).await;
        assert_eq!(given(&world, first).await, text(&long));
        edit(&world, &job, "second").await;
        let second = sent(&world, &job, 2, 2).await;
        // A change of something else, and one more of the parameters.
        world.store.set_job_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let third = sent(&world, &job, 3, 3).await;
        edit(&world, &job, "fourth").await;
        let fourth = sent(&world, &job, 4, 4).await;
        let all = [first, second, third, fourth];
        let expected = [text(&long), text("second"), text("second"), text("fourth")];
        for (id, expected) in all.into_iter().zip(&expected) {
            assert_eq!(&given(&world, id).await, expected, "run {id}");
        }
        assert_eq!(world.count("job_params_history", "1 = 1").await, 2);
        world.store.delete_job(job.id, NOW, &actor()).await.unwrap();
        for (id, expected) in all.into_iter().zip(&expected) {
            assert_eq!(&given(&world, id).await, expected, "run {id} of a deleted job");
        }
    }

    // covers: A1
    async fn a_run_that_was_not_sent_says_so(db: &TestDatabase) {
        let world = World::new(db).await;
        let job = world.create(&JobDraft { params: "old".into(), ..draft("a") }).await;
        let cancelled = world.run(&job, Row { id: 2, fire_no: after(91), state: 12, ..Row::default() }).await;
        let earlier = world.run(&job, Row { id: 3, fire_no: after(92), state: SUCCEEDED, ..Row::default() }).await;
        world.sql("UPDATE run SET marked_at = 1 WHERE id = 3").await;
        edit(&world, &job, "new").await;
        assert_eq!(given(&world, cancelled).await, RunParams::NeverSent);
        assert_eq!(given(&world, earlier).await, RunParams::NotOnRecord, "sent before revisions were noted");
        let by_hand = world.run(&job, Row { id: 4, cause: 1, fire_no: 4, ..Row::default() }).await;
        assert_eq!(given(&world, by_hand).await, RunParams::Waiting("new".into()));
        world.sql("INSERT INTO run_input (run_id, params) VALUES (4, 'own')").await;
        assert_eq!(given(&world, by_hand).await, RunParams::Own("own".into()));
    }

    // covers: A1
    async fn earlier_parameters_go_with_the_last_run_that_may_have_had_them(db: &TestDatabase) {
        let world = World::new(db).await;
        let job = world.create(&JobDraft { params: "one".into(), ..draft("a") }).await;
        let other = world.create(&draft("b")).await;
        sent(&world, &other, 1, 1).await;
        sent(&world, &job, 2, 1).await;
        edit(&world, &job, "two").await;
        sent(&world, &job, 3, 2).await;
        edit(&world, &job, "three").await;
        let left = async || {
            world.store.prune_orphans().await.unwrap();
            world.count("job_params_history", "1 = 1").await
        };
        assert_eq!(left().await, 2);
        world.sql("DELETE FROM run WHERE id = 2").await;
        assert_eq!(left().await, 1, "the run of another job keeps nothing");
        assert_eq!(given(&world, 3).await, text("two"));
        world.sql("DELETE FROM run WHERE id = 3").await;
        assert_eq!(left().await, 0);
    }
}
