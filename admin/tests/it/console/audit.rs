//! The page of the audit, and that of a job's history.

use carillon_scheduler::{AuditAction, JobDraft, ScheduleDraft};
use carillon_store::audit::list::AuditFilter;
use carillon_store::{Actor, Definition, DefinitionContext};

use super::client::Console;
use super::run;
use crate::conformance::fixture::actor;

// covers: S37
#[test]
fn the_page_shows_what_was_changed_and_links_to_its_export() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let job = console.job(|draft| draft.name = "<b>Close</b>".to_owned()).await;
        admin.submit(&format!("/jobs/{}/run", job.id), &[("key", "k"), ("params", "x")]).await;
        let page = admin.get("/audit").await;
        assert_eq!(page.status, 200);
        assert!(page.body.contains("data-action=\"run\"") && page.body.contains("&#60;b&#62;Close"), "{}", page.body);
        assert!(!page.body.contains("<b>Close"));
        let history = format!("/audit?object=job&id={}", job.id);
        assert!(admin.get(&format!("/jobs/{}", job.id)).await.body.contains(&history.replace('&', "&amp;")));
        let of_job = admin.get(&history).await.body;
        assert!(of_job.contains("data-action=\"create\"") && !of_job.contains("data-action=\"sign_in\""));
        let wrong = admin.get("/audit?id=seven&action=loud").await;
        assert_eq!(wrong.status, 400);
        assert!(wrong.body.contains("This filter cannot be used"));
        let file = admin.get("/audit/export?action=sign_in").await;
        assert_eq!(file.header("content-disposition"), "attachment; filename=\"audit.csv\"");
        assert_eq!(file.body.lines().count(), 2);
        assert!(admin.get("/audit?actor=nobody-there").await.body.contains("No entry matches the filter"));
    });
}

// covers: S37, V10
#[test]
fn refused_sign_ins_are_in_the_audit_without_what_was_typed() {
    run(async {
        let console = Console::start().await;
        console.visitor().sign_in("admin", "a wrong password").await;
        console.visitor().sign_in("a password in the wrong field", "admin").await;
        let filter = AuditFilter { actions: vec![AuditAction::RefuseSignIn], limit: 10, ..AuditFilter::default() };
        let entries = console.store.audit().list(&filter).await.unwrap().items;
        let actors: Vec<_> = entries.iter().map(|entry| (entry.actor.as_str(), entry.source.as_str())).collect();
        assert_eq!(actors, [("unknown", "127.0.0.1"), ("admin", "127.0.0.1")]);
        assert!(entries.iter().all(|entry| !entry.detail.contains("wrong field") && entry.request_id.is_some()));
    });
}

// covers: 001-16
#[test]
fn a_version_is_compared_with_the_one_before_and_restored_by_a_button() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let job = console.job(|draft| draft.name = "<b>one</b>".to_owned()).await;
        let app = console.store.apps().by_name("orders").await.unwrap().unwrap();
        let mut draft = job.draft.clone();
        draft.name = "two".to_owned();
        let definition = Definition::check_in(DefinitionContext::of(&app, &job, &job.calendars), &draft, 0).unwrap();
        console.store.jobs().update(job.id, &definition, None, super::client::START + 1, &actor()).await.unwrap();
        let address = format!("/jobs/{}/history", job.id);
        assert!(admin.get(&format!("/jobs/{}", job.id)).await.body.contains(&address));
        let page = admin.get(&address).await.body;
        let changed = "<del translate=\"no\">&#60;b&#62;one&#60;/b&#62;</del>";
        assert!(page.contains(changed) && page.contains("<ins translate=\"no\">two</ins>"), "{page}");
        assert!(page.contains("<span class=\"quiet\">Name</span>"), "the member is called as in the form: {page}");
        assert!(page.contains("history/1/restore") && !page.contains("history/2/restore"), "{page}");
        let restore = format!("{address}/1/restore");
        let late = admin.submit(&restore, &[("revision", "1")]).await;
        assert_eq!((late.status, late.location()), (303, address.as_str()), "it was changed meanwhile");
        let done = admin.submit(&restore, &[("revision", "2")]).await;
        assert_eq!(done.location(), format!("/jobs/{}", job.id));
        let now = console.store.jobs().get(job.id).await.unwrap().unwrap();
        assert_eq!((now.draft, now.revision), (job.draft, 3));
    });
}

// covers: 001-16
#[test]
fn a_version_that_cannot_be_used_any_more_is_not_restored_and_the_page_says_why() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let (engine, by) = (&console.engine, Actor::engine());
        let calendar = serde_json::from_value(serde_json::json!({"name": "bank", "days": ["2025-10-13"]})).unwrap();
        engine.calendars().create(calendar, &by).await.unwrap();
        let mut draft = JobDraft::new("orders", "Settle", "settle");
        draft.schedule = ScheduleDraft::cron("0 0 3 * * ?", "UTC");
        draft.schedule.calendars = vec!["bank".into()];
        let job = engine.jobs().create(draft.clone(), None, &by).await.unwrap();
        draft.schedule.calendars.clear();
        draft.params = format!("{}one", "p".repeat(990));
        engine.jobs().update(job.id, &draft, Some(1), &by).await.unwrap();
        draft.params = format!("{}two", "p".repeat(1_990));
        engine.jobs().update(job.id, &draft, Some(2), &by).await.unwrap();
        draft.params = format!("{}three", "p".repeat(1_990));
        engine.jobs().update(job.id, &draft, Some(3), &by).await.unwrap();
        engine.calendars().delete("bank", &by).await.unwrap();
        let history = format!("/jobs/{}/history", job.id);
        let page = admin.get(&history).await.body;
        assert!(page.contains("ppone</del>"), "what differs late in a long text is seen: {page}");
        let answer = admin.submit(&format!("{history}/1/restore"), &[("revision", "4")]).await;
        assert_eq!((answer.status, answer.location()), (303, history.as_str()));
        let page = admin.get(&history).await.body.replace("&#96;", "`");
        let why = "there is no calendar `bank`";
        assert!(page.contains("Version 1 cannot be restored") && page.contains(why), "{page}");
        assert_eq!(console.store.jobs().get(job.id).await.unwrap().unwrap().revision, 4);
        let answer = admin.submit(&format!("{history}/3/restore"), &[("revision", "4")]).await;
        assert_eq!(answer.location(), format!("/jobs/{}", job.id));
        let restored = console.store.jobs().get(job.id).await.unwrap().unwrap();
        assert_eq!((restored.revision, restored.draft.params), (5, format!("{}two", "p".repeat(1_990))));
    });
}
