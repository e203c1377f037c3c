//! HTTP jobs: their requests, the secrets of their app, and the logs of their runs.

use carillon_scheduler::job::http::ExpectDraft;
use carillon_scheduler::{HttpAuth, HttpDraft, HttpMethod, JobDraft, RunEvent, RunReason, RunState};
use carillon_store::run::settle::finding::RunReport;
use carillon_store::{Definition, DefinitionContext, Job};

use crate::conformance::fixture::{Fixture, NOW, actor, draft};
use crate::conformance::hot::outcome::settle::{found, success};

fn http(request: HttpDraft) -> JobDraft {
    JobDraft { handler: String::new(), http: Some(request), ..draft("a") }
}

async fn edit(fixture: &Fixture, job: &Job, draft: &JobDraft) -> Job {
    let context = DefinitionContext::of(&fixture.app, job, &job.calendars);
    let definition = Definition::check_in(context, draft, NOW + 1).unwrap();
    fixture.store.jobs().update(job.id, &definition, None, NOW + 1, &actor()).await.unwrap()
}

fn every_member() -> HttpDraft {
    HttpDraft {
        method: HttpMethod::Put,
        headers: [("X-Key".to_owned(), "{{secret.KEY}}".to_owned())].into(),
        // More than a TEXT of MySQL holds, with what is around it.
        body: format!("{{{{run_id}}}}{}", "ä🚀x\r\n".repeat(7_000)),
        expect: ExpectDraft {
            status: "200-299, 404".into(),
            body: Some(serde_json::from_str(r#"{"path":"/ok","eq":true}"#).unwrap()),
            pattern: "^\\{".into(),
        },
        timeout_seconds: 7,
        callback_seconds: Some(60),
        auth: Some(HttpAuth::Hmac("SIGN".into())),
        idempotent: true,
        ..HttpDraft::new("https://api.example/{{scheduled_at|%F}}")
    }
}

databases! {
    // covers: 001-44
    async fn a_request_is_read_back_as_it_was_given(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&http(every_member())).await;
        let stored = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
        assert_eq!(stored.draft.http, Some(every_member()));
        let definitions = fixture.store.jobs().definitions(&[job.id]).await.unwrap();
        let request: HttpDraft = serde_json::from_str(definitions[0].http.as_deref().unwrap()).unwrap();
        assert_eq!(request, every_member());
        let history = fixture.store.jobs().definition_versions(&stored, 0).await.unwrap();
        assert_eq!(history.len(), 1);
        let plain = edit(&fixture, &stored, &draft("a")).await;
        assert_eq!((plain.draft.http, plain.revision), (None, 2));
        let definitions = fixture.store.jobs().definitions(&[job.id]).await.unwrap();
        assert_eq!(definitions[0].http, None);
    }

    // covers: 001-44
    async fn a_secret_is_kept_for_its_app_until_that_is_deleted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let apps = fixture.store.apps();
        let app = apps.create("secrets", "Secrets", NOW, &actor()).await.unwrap();
        for (name, sealed) in [("KEY", "one"), ("ANOTHER", "two"), ("KEY", "three")] {
            apps.set_secret(&app, name, sealed, NOW + 5, &actor()).await.unwrap();
        }
        let names = apps.secret_names(app.id).await.unwrap();
        let names: Vec<(&str, i64)> = names.iter().map(|it| (it.name.as_str(), it.updated_at)).collect();
        assert_eq!(names, [("ANOTHER", NOW + 5), ("KEY", NOW + 5)]);
        let mut sealed = apps.sealed_secrets(app.id).await.unwrap();
        sealed.sort();
        assert_eq!(sealed, [("ANOTHER", "two"), ("KEY", "three")].map(|(name, it)| (name.to_owned(), it.to_owned())));
        assert!(apps.sealed_secrets(fixture.app.id).await.unwrap().is_empty());
        assert!(apps.delete_secret(&app, "ANOTHER", NOW, &actor()).await.unwrap());
        assert!(!apps.delete_secret(&app, "ANOTHER", NOW, &actor()).await.unwrap());
        let audit = fixture.rows("SELECT detail FROM audit WHERE object = 'app' ORDER BY id").await;
        let details: Vec<String> = audit.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
        assert!(details.iter().any(|it| it.contains("KEY")) && !details.iter().any(|it| it.contains("three")));
        apps.delete(&app, NOW, &actor()).await.unwrap();
        assert!(apps.sealed_secrets(app.id).await.unwrap().is_empty());
    }

    // covers: 001-44
    async fn the_log_of_a_request_is_kept_with_its_run_and_goes_with_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let runs = fixture.runs_in(&job, &[RunState::Sending, RunState::Sending]).await;
        let text = "ä🚀\n".repeat(30_000);
        fixture.store.runs().write_http_log(runs[0], "first").await.unwrap();
        fixture.store.runs().write_http_log(runs[0], &text).await.unwrap();
        assert_eq!(fixture.store.runs().http_log(runs[0]).await.unwrap(), Some(text));
        assert_eq!(fixture.store.runs().http_log(runs[1]).await.unwrap(), None);
        fixture.settle(&[success(runs[0]), success(runs[1])]).await;
        assert_eq!(fixture.store.retention().prune_runs(&runs, NOW).await.unwrap(), 2);
        assert_eq!(fixture.store.runs().http_log(runs[0]).await.unwrap(), None);
    }

    // covers: 001-44
    async fn a_retry_starts_no_earlier_than_the_service_has_said(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&JobDraft { retries: 1, ..draft("busy") }).await;
        let runs = fixture.runs_in(&job, &[RunState::Sending]).await;
        let refused = found(runs[0], RunEvent::Refused, RunReason::Refused);
        let report = RunReport { not_before: Some(NOW + 1_234_567), ..refused };
        fixture.settle(&[report]).await;
        let rows = fixture.rows("SELECT due_at FROM run WHERE attempt = 2").await;
        assert_eq!(rows[0].try_get::<i64>("", "due_at").unwrap(), NOW + 1_234_567);
    }
}
