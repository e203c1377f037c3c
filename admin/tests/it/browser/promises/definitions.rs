//! *Delete*, *Restore* and *Move*.

use carillon_scheduler::{AuditObjectKind, RunState, ScheduleDraft};
use carillon_store::Actor;
use carillon_store::audit::list::AuditFilter;

use super::super::run;
use super::{Scene, count_of};

fn admin() -> Actor {
    Actor::new("test", "", carillon_store::Grants::for_all(carillon_store::Role::Admin))
}

// covers: B2
#[test]
fn delete_takes_the_job_from_the_parents_that_it_names_and_cancels_what_waits() {
    run(async {
        let scene = Scene::start().await;
        let daily = ScheduleDraft::cron("0 0 2 * * ?", "UTC");
        let child = scene.job("Child", "echo", |draft| draft.schedule = daily).await;
        let parent = scene.job("Parent", "echo", |draft| draft.children = vec![child.id]).await;
        let other = scene.job("Other", "echo", |_| ()).await;
        scene.waiting_runs(&child, 2).await;
        scene.browser.go(&format!("/jobs/{}/delete", child.id)).await;
        let promised = scene.browser.text("[data-testid=question]").await;
        assert!(promised.contains("Its runs that are not sent yet are cancelled"), "{promised}");
        assert!(promised.contains("Each of them gets a new version without it"), "{promised}");
        assert_eq!(scene.texts("[data-testid=parents] li").await, [format!("Parent (orders #{})", parent.id)]);
        scene.browser.press("[data-testid=question] button").await;
        scene.browser.find("[data-testid=flash]").await;

        assert!(scene.live.store.jobs().get(child.id).await.unwrap().is_none());
        let after = scene.stored(parent.id).await;
        assert_eq!((after.draft.children, after.revision), (vec![], parent.revision + 1));
        assert_eq!(scene.stored(other.id).await.revision, other.revision);
        assert_eq!(count_of(&scene.runs(child.id).await, RunState::Cancelled), 2);
        scene.close().await;
    });
}

// covers: B13
#[test]
fn restore_changes_the_fields_that_it_shows_and_no_others() {
    run(async {
        let scene = Scene::start().await;
        let job = scene.job("Settle", "echo", |draft| draft.params = "shop 1".into()).await;
        let mut draft = job.draft.clone();
        (draft.params, draft.retries, draft.description) = ("shop 2".into(), 3, "kept".into());
        let second = scene.live.engine.jobs().update(job.id, &draft, None, &admin()).await.unwrap();
        scene.live.engine.jobs().pause(job.id, Default::default(), &admin()).await.unwrap();
        let paused = scene.stored(job.id).await;
        scene.browser.go(&format!("/jobs/{}/history", job.id)).await;
        scene.browser.press(&format!("a[href='/jobs/{}/history/{}/restore']", job.id, job.revision)).await;
        let promised = scene.browser.text("[data-testid=promise]").await;
        let numbers =
            format!("3 fields of version {} change. The result is version {}", paused.revision, paused.revision + 1);
        assert!(promised.contains(&numbers), "{promised}");
        assert!(promised.contains("whether the schedule fires stays as it is"), "{promised}");
        let changes = scene.texts("[data-testid=changes] [data-member]").await;
        assert_eq!(changes, ["Description kept → (empty)", "Parameters shop 2 → shop 1", "Retries 3 → 0"]);
        assert_eq!(scene.stored(job.id).await, paused, "asking changes nothing");
        scene.browser.press("[data-testid=question] button").await;
        scene.browser.find("[data-testid=flash]").await;

        let after = scene.stored(job.id).await;
        let mut expected = second.draft.clone();
        (expected.params, expected.retries, expected.enabled) = ("shop 1".into(), 0, false);
        expected.description.clear();
        assert_eq!((after.draft, after.revision), (expected, paused.revision + 1));
        let about = AuditFilter::about(AuditObjectKind::Job, job.id);
        let (_, detail) = scene.newest_entry(about).await;
        let changed: Vec<&String> = detail["after"].as_object().unwrap().keys().collect();
        assert_eq!(changed, ["description", "params", "retries"]);

        scene.browser.go(&format!("/jobs/{}/history/{}/restore", job.id, job.revision)).await;
        let promised = scene.browser.text("[data-testid=promise]").await;
        assert!(promised.contains("there is nothing to restore"), "{promised}");
        assert!(!scene.browser.has("[data-testid=question] button").await);
        scene.close().await;
    });
}

#[test]
fn move_takes_the_jobs_that_it_names_and_their_waiting_runs_to_the_app() {
    run(async {
        let scene = Scene::start().await;
        let daily = || ScheduleDraft::cron("0 0 2 * * ?", "UTC");
        let one = scene.job("One", "echo", |draft| draft.schedule = daily()).await;
        let two = scene.job("Two", "echo", |_| ()).await;
        let stays = scene.job("Stays", "echo", |_| ()).await;
        scene.waiting_runs(&one, 2).await;
        scene.ask_for_jobs(&[one.id, two.id], "move").await;
        assert_eq!(scene.browser.text("h1").await, "Move 2 jobs?");
        let promised = scene.browser.text("[data-testid=selected]").await;
        assert!(promised.contains("2 selected jobs."), "{promised}");
        let label = |name: &str, id: i64| format!("{name} (orders #{id})");
        assert_eq!(scene.texts("[data-testid=names] li").await, [label("One", one.id), label("Two", two.id)]);
        let hint = scene.browser.text("[data-testid=bulk-form] .hint").await;
        assert!(hint.contains("Their runs that are not sent yet move with them."), "{hint}");
        scene.browser.script("document.querySelector('#to').value = 'billing'").await;
        scene.browser.press("[data-testid=bulk-form] button").await;
        let done = scene.browser.text("[data-testid=flash]").await;
        assert!(done.contains("2 jobs"), "{done}");

        for (job, app) in [(&one, "billing"), (&two, "billing"), (&stays, "orders")] {
            assert_eq!(scene.stored(job.id).await.draft.app, app);
        }
        let runs = scene.runs(one.id).await;
        assert!(runs.len() == 2 && runs.iter().all(|run| run.app == "billing"), "{runs:?}");
        scene.close().await;
    });
}
