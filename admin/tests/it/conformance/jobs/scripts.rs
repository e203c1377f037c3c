//! Scripts of jobs: versions that grow, and are kept apart from the job's row.

use carillon_scheduler::{JobDraft, Millis, ScriptDraft, ScriptKind};
use carillon_store::{Definition, DefinitionContext, Job};

use crate::conformance::fixture::{Fixture, NOW, actor, draft};

fn script(source: &str) -> JobDraft {
    let script = ScriptDraft::new(ScriptKind::Shell, source, format!("remark on {source:.20}"));
    JobDraft { handler: String::new(), script: Some(script), ..draft("a") }
}

async fn edit(fixture: &Fixture, job: &Job, draft: &JobDraft, now: Millis) -> Job {
    let context = DefinitionContext::of(&fixture.app, job, &job.calendars);
    let definition = Definition::check_in(context, draft, now).unwrap();
    fixture.store.jobs().update(job.id, &definition, None, now, &actor()).await.unwrap()
}

fn version(job: &Job) -> Millis {
    job.draft.script.as_ref().and_then(|script| script.version).unwrap()
}

databases! {
    // covers: S26
    async fn each_version_of_a_script_is_greater_than_all_before_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&script("echo 1\r\n")).await;
        let jobs = fixture.store.jobs();
        assert_eq!(jobs.script_source(job.id, version(&job)).await.unwrap().as_deref(), Some("echo 1\n"));
        // In the same millisecond, with a clock that went back, of another type, and with the source of the first one.
        let mut versions = vec![version(&job)];
        let mut job = job;
        let python = ScriptDraft::new(ScriptKind::Python, "print(1)", "another type");
        let other = JobDraft { handler: String::new(), script: Some(python), ..draft("a") };
        for (draft, now) in [(script("echo 2"), NOW), (script("echo 3"), NOW - 5_000), (other, NOW), (script("echo 1"), NOW)] {
            job = edit(&fixture, &job, &draft, now).await;
            versions.push(version(&job));
        }
        assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
        // A job that had a handler in between goes on counting.
        let job = edit(&fixture, &job, &draft("a"), NOW).await;
        assert_eq!(job.draft.script, None);
        let job = edit(&fixture, &job, &script("echo 1"), NOW).await;
        assert!(version(&job) > versions[4]);
        let kept = jobs.script_versions(job.id).await.unwrap();
        assert_eq!(kept.len(), 6);
        let author = &actor().name;
        assert!(kept.iter().all(|it| it.author == *author && it.sha256.len() == 64 && it.remark.len() >= 4));
    }

    // covers: S26
    async fn a_source_that_stays_makes_no_version_and_is_in_no_audit_entry(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&script("echo secret-word")).await;
        let stored = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
        let reference = stored.draft.script.clone().unwrap();
        assert_eq!((reference.source.as_ref(), reference.bytes), (None, Some(16)));
        // Sent back as it was read, and with the same source again without a remark.
        let again = edit(&fixture, &stored, &JobDraft { name: "b".into(), ..stored.draft.clone() }, NOW + 1).await;
        let same = ScriptDraft::new(ScriptKind::Shell, "echo secret-word", "");
        let again = edit(&fixture, &again, &JobDraft { script: Some(same), ..again.draft.clone() }, NOW + 2).await;
        assert_eq!(version(&again), version(&stored));
        assert_eq!(fixture.store.jobs().script_versions(job.id).await.unwrap().len(), 1);
        assert_eq!(fixture.count("audit", "detail LIKE '%secret-word%' AND detail NOT LIKE '%remark on%'").await, 0);
        assert_eq!(fixture.count("audit", "detail LIKE '%\"sha256\"%' AND detail LIKE '%\"bytes\":16%'").await, 1);
        let changed = ScriptDraft::new(ScriptKind::Shell, "echo 2", "no");
        let context = DefinitionContext::of(&fixture.app, &again, &again.calendars);
        let wrong = Definition::check_in(context, &JobDraft { script: Some(changed), ..again.draft.clone() }, NOW);
        assert_eq!(wrong.unwrap_err()[0].field, "script.remark");
    }

    async fn the_last_thirty_versions_are_kept_beside_the_current_one(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let mut job = fixture.create(&script("echo 0")).await;
        for number in 1..40 {
            job = edit(&fixture, &job, &script(&format!("echo {number}")), NOW + number).await;
        }
        let kept = fixture.store.jobs().script_versions(job.id).await.unwrap();
        assert_eq!((kept.len(), kept[0].version), (31, version(&job)));
        assert_eq!(fixture.store.jobs().script_source(job.id, NOW).await.unwrap(), None);
        fixture.store.jobs().delete(job.id, NOW + 50, &actor()).await.unwrap();
        assert_eq!(fixture.count("job_script", "1 = 1").await, 0);
    }
}
