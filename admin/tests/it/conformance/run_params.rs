//! A run keeps what it was given, whatever becomes of its job.

use carillon_scheduler::JobDraft;
use carillon_store::{Job, RunParams};

use super::fixture::{Fixture, NOW, Row, actor, after, draft};

const SUCCEEDED: i16 = 9;

/// A run that was sent with this revision.
async fn sent(fixture: &Fixture, job: &Job, id: i64, revision: i64) -> i64 {
    let row = Row { id, fire_no: after(id), state: SUCCEEDED, ..Row::default() };
    fixture.run(job, row).await;
    let text = format!("UPDATE run SET revision = {revision}, marked_at = {NOW} WHERE id = {id}");
    fixture.sql(&text).await;
    id
}

async fn given(fixture: &Fixture, id: i64) -> RunParams {
    let run = fixture.store.runs().get(id).await.unwrap().unwrap();
    fixture.store.runs().params_of(&run).await.unwrap()
}

async fn edit(fixture: &Fixture, job: &Job, params: &str) -> Job {
    let now = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
    let edited = fixture.definition(&JobDraft { params: params.into(), ..now.draft });
    fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap()
}

fn text(text: &str) -> RunParams {
    RunParams::Sent(text.to_owned())
}

databases! {
    // covers: A1
    async fn a_run_keeps_the_parameters_that_it_was_sent_with(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let long = "ä".repeat(30_000);
        let job = fixture.create(&JobDraft { params: long.clone(), ..draft("a") }).await;
        let first = sent(&fixture, &job, 1, 1).await;
        assert_eq!(given(&fixture, first).await, text(&long));
        edit(&fixture, &job, "second").await;
        let second = sent(&fixture, &job, 2, 2).await;
        // A change of something else, and one more of the parameters.
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let third = sent(&fixture, &job, 3, 3).await;
        edit(&fixture, &job, "fourth").await;
        let fourth = sent(&fixture, &job, 4, 4).await;
        let all = [first, second, third, fourth];
        let expected = [text(&long), text("second"), text("second"), text("fourth")];
        for (id, expected) in all.into_iter().zip(&expected) {
            assert_eq!(&given(&fixture, id).await, expected, "run {id}");
        }
        assert_eq!(fixture.count("job_params_history", "1 = 1").await, 2);
        fixture.store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
        for (id, expected) in all.into_iter().zip(&expected) {
            assert_eq!(&given(&fixture, id).await, expected, "run {id} of a deleted job");
        }
    }

    // covers: A1
    async fn a_run_that_was_not_sent_says_so(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&JobDraft { params: "old".into(), ..draft("a") }).await;
        let cancelled = fixture.run(&job, Row { id: 2, fire_no: after(91), state: 12, ..Row::default() }).await;
        let earlier = fixture.run(&job, Row { id: 3, fire_no: after(92), state: SUCCEEDED, ..Row::default() }).await;
        fixture.sql("UPDATE run SET marked_at = 1 WHERE id = 3").await;
        edit(&fixture, &job, "new").await;
        assert_eq!(given(&fixture, cancelled).await, RunParams::NeverSent);
        assert_eq!(given(&fixture, earlier).await, RunParams::NotOnRecord, "sent before revisions were noted");
        let by_hand = fixture.run(&job, Row { id: 4, cause: 1, fire_no: 4, ..Row::default() }).await;
        assert_eq!(given(&fixture, by_hand).await, RunParams::Waiting("new".into()));
        fixture.sql("INSERT INTO run_input (run_id, params) VALUES (4, 'own')").await;
        assert_eq!(given(&fixture, by_hand).await, RunParams::Own("own".into()));
    }

    // covers: 001-44
    async fn the_texts_that_may_name_secrets_are_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&JobDraft { params: "{{ secret.A }}".into(), ..draft("a") }).await;
        let plain = fixture.create(&JobDraft { params: "secrets".into(), ..draft("b") }).await;
        sent(&fixture, &job, 1, 1).await;
        sent(&fixture, &plain, 2, 1).await;
        edit(&fixture, &job, "{{secret.B}}").await;
        sent(&fixture, &plain, 3, 1).await;
        sent(&fixture, &plain, 4, 1).await;
        // It was sent the text of a person, and no secret.
        sent(&fixture, &job, 5, 2).await;
        fixture.sql("INSERT INTO run_input (run_id, params) VALUES (5, 'guess')").await;
        // Given an address only, it was sent what its job was saved with.
        sent(&fixture, &job, 6, 2).await;
        fixture.sql("INSERT INTO run_input (run_id, address) VALUES (6, 'http://x:1/')").await;
        fixture.sql("INSERT INTO run_input (run_id, params) VALUES (3, '{{secret.C}}')").await;
        fixture.sql("INSERT INTO run_input (run_id, params, repeats_saved) VALUES (4, '{{secret.D}}', TRUE)").await;
        let found = fixture.store.runs().naming_texts(&[1, 2, 3, 4, 5, 6]).await.unwrap();
        let mut texts: Vec<(i64, String)> = found.into_iter().map(|naming| (naming.run_id, naming.text.to_string())).collect();
        texts.sort();
        let [a, b] = ["{{ secret.A }}", "{{secret.B}}"];
        let expected = [(1, a), (1, b), (4, "{{secret.D}}"), (6, a), (6, b)];
        assert_eq!(texts, expected.map(|(id, text)| (id, text.to_owned())));
        assert_eq!(given(&fixture, 3).await, RunParams::Own("{{secret.C}}".into()));
        assert_eq!(given(&fixture, 4).await, RunParams::Repeated("{{secret.D}}".into()));
        assert!(!fixture.store.apps().has_secrets().await.unwrap());
    }

    // covers: A1
    async fn earlier_parameters_go_with_the_last_run_that_may_have_had_them(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&JobDraft { params: "one".into(), ..draft("a") }).await;
        let other = fixture.create(&draft("b")).await;
        sent(&fixture, &other, 1, 1).await;
        sent(&fixture, &job, 2, 1).await;
        edit(&fixture, &job, "two").await;
        sent(&fixture, &job, 3, 2).await;
        edit(&fixture, &job, "three").await;
        let left = async || {
            fixture.store.retention().prune_orphans().await.unwrap();
            fixture.count("job_params_history", "1 = 1").await
        };
        assert_eq!(left().await, 2);
        fixture.sql("DELETE FROM run WHERE id = 2").await;
        assert_eq!(left().await, 1, "the run of another job keeps nothing");
        assert_eq!(given(&fixture, 3).await, text("two"));
        fixture.sql("DELETE FROM run WHERE id = 3").await;
        assert_eq!(left().await, 0);
    }
}
