//! Former definitions with long texts: to the letter, for as long as the audit reaches back.

use carillon_scheduler::{JobDraft, Millis};
use carillon_store::Job;

use crate::conformance::fixture::{Fixture, NOW, actor, draft};

const DAY: Millis = 86_400_000;

/// Gives the job these parameters at that time.
async fn edit(fixture: &Fixture, job: &Job, params: &str, at: Millis) -> Job {
    let edited = fixture.definition(&JobDraft { params: params.into(), ..job.draft.clone() });
    fixture.store.jobs().update(job.id, &edited, None, at, &actor()).await.unwrap()
}

/// The parameters of the definition of a revision, or why they cannot be had.
async fn params_of(fixture: &Fixture, job: &Job, revision: i64) -> Result<String, String> {
    let jobs = fixture.store.jobs();
    let revisions = jobs.revisions(job, None).await.unwrap();
    let found = revisions.into_iter().find(|it| it.number == Some(revision)).unwrap();
    jobs.former_draft(job, &found).await.map(|draft| draft.params).map_err(|error| error.to_string())
}

async fn prune(fixture: &Fixture, now: Millis) -> i64 {
    fixture.store.retention().prune_former_texts(now).await.unwrap();
    fixture.store.retention().prune_orphans().await.unwrap();
    fixture.count("job_params_history", "1 = 1").await
}

databases! {
    // covers: 001-16
    async fn long_parameters_of_each_former_definition_can_be_had_again_for_a_year(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        // Alike in their beginning and in their length.
        let texts = ["a", "b", "short", "c", "d"].map(|end| match end {
            "short" => end.to_owned(),
            _ => format!("{}{end}", "ä".repeat(32_000)),
        });
        let mut job = fixture.create(&JobDraft { params: texts[0].clone(), ..draft("a") }).await;
        for (day, text) in (1..).zip(&texts[1..]) {
            job = edit(&fixture, &job, text, NOW + day * DAY).await;
        }
        assert_eq!(prune(&fixture, NOW + 5 * DAY).await, 3, "the short one is in the audit");
        for (revision, text) in (1..).zip(&texts) {
            assert_eq!(params_of(&fixture, &job, revision).await.as_ref(), Ok(text), "revision {revision}");
        }
        let disabled = fixture.store.jobs().set_enabled(job.id, false, NOW + 6 * DAY, &actor()).await.unwrap();
        assert_eq!(params_of(&fixture, &disabled, 4).await.as_ref(), Ok(&texts[3]));
        // As long as an entry of the audit leads back to them, and no longer.
        assert_eq!(prune(&fixture, NOW + 366 * DAY).await, 3);
        assert_eq!(prune(&fixture, NOW + 366 * DAY + 1).await, 2);
        let refused = params_of(&fixture, &disabled, 1).await.unwrap_err();
        assert_eq!(refused, "params: only the beginning of these former parameters is kept");
        assert_eq!(params_of(&fixture, &disabled, 2).await.as_ref(), Ok(&texts[1]));
        fixture.store.jobs().delete(job.id, NOW + 367 * DAY, &actor()).await.unwrap();
        assert_eq!(prune(&fixture, NOW + 367 * DAY).await, 0, "a deleted job has nothing to go back to");
    }

    // covers: 001-16
    async fn of_the_long_texts_of_a_job_the_newest_hundred_stay(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (job, other) = (fixture.create(&draft("a")).await, fixture.create(&draft("b")).await);
        for (id, count) in [(job.id, 102), (other.id, 2)] {
            for revision in 1..=count {
                for (table, columns, values) in [("job_params_history", ", runs_to", ", 0"), ("job_part_history", "", "")] {
                    let text = format!(
                        "INSERT INTO {table} (job_id, revision, params, replaced_at{columns}) VALUES ({id}, {revision}, '[]', {NOW}{values})"
                    );
                    fixture.sql(&text).await;
                }
            }
        }
        assert_eq!(prune(&fixture, NOW + 1).await, 102);
        for table in ["job_params_history", "job_part_history"] {
            assert_eq!(fixture.count(table, &format!("job_id = {} AND revision > 2", job.id)).await, 100, "{table}");
            assert_eq!(fixture.count(table, &format!("job_id = {}", other.id)).await, 2, "{table}");
        }
        assert_eq!(fixture.store.retention().prune_former_texts(NOW + 1).await.unwrap(), 0);
    }
}
