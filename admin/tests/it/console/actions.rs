//! What is done to jobs, runs and apps without script: each action leads back with a message.

use carillon_scheduler::AuditObjectKind;
use carillon_scheduler::{RunState, ScheduleDraft};
use carillon_store::audit::list::AuditFilter;
use sea_orm::ConnectionTrait as _;

use super::client::{Console, START};
use super::run;
use crate::conformance::fixture::actor;

#[test]
fn pause_resume_and_delete_lead_back_with_a_message() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = ScheduleDraft::fixed_rate(60)).await;
        let admin = console.admin().await;
        let next = [("next", "/jobs?app=orders")];
        let answer = admin.submit("/jobs/1/disable", &next).await;
        assert_eq!((answer.status, answer.location()), (303, "/jobs?app=orders"));
        let page = admin.get("/jobs?app=orders").await.body;
        assert!(page.contains("Close the day is paused.") && page.contains("data-state=\"paused\""));
        admin.submit("/jobs/1/enable", &next).await;
        assert!(console.store.jobs().get(1).await.unwrap().unwrap().draft.enabled);

        let question = admin.get("/jobs/1/delete").await.body;
        assert!(question.contains("Delete Close the day?"));
        assert!(console.store.jobs().get(1).await.unwrap().is_some(), "asking deletes nothing");
        let answer = admin.submit("/jobs/1/delete", &[]).await;
        assert_eq!(answer.location(), "/jobs");
        assert!(console.store.jobs().get(1).await.unwrap().is_none());
        assert_eq!(admin.submit("/jobs/1/delete", &[]).await.status, 404);
        assert_eq!(admin.submit("/jobs/1/enable", &[]).await.status, 404);
    });
}

#[test]
fn a_run_by_hand_is_made_once_however_often_it_is_sent() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.params = "usual".into()).await;
        let admin = console.admin().await;
        let page = admin.get("/jobs/1/run").await;
        assert!(page.body.contains("No executor of orders is online"));
        let key = page.hidden("key");
        let fields = [("key", key.as_str()), ("params", "special")];
        let (first, second) = (admin.submit("/jobs/1/run", &fields).await, admin.submit("/jobs/1/run", &fields).await);
        assert_eq!((first.status, first.location()), (303, second.location()));
        let id = first.location().strip_prefix("/runs/").unwrap().parse().unwrap();
        let made = console.store.runs().get(id).await.unwrap().unwrap();
        assert_eq!((made.params.as_deref(), made.state), (Some("special"), RunState::Claimed));
        let page = admin.get(first.location()).await.body;
        for text in ["given for this run", "special", "by hand", "The log begins when the run is sent."] {
            assert!(page.contains(text), "{text}");
        }
        assert!(admin.get(&format!("/jobs/1/run?like={id}")).await.body.contains(">\nspecial</textarea>"));
        let other = admin.get("/jobs/1/run").await.hidden("key");
        assert_ne!(admin.submit("/jobs/1/run", &[("key", &other)]).await.location(), first.location());
    });
}

#[test]
fn a_run_only_goes_where_an_executor_is_and_takes_no_more_than_fits() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let foreign = [("key", "a"), ("address", "http://169.254.169.254/")];
        let answer = admin.submit("/jobs/1/run", &foreign).await;
        assert!(answer.status == 422 && answer.error("address").unwrap().contains("not online"));
        let long = "ä".repeat(40_000);
        let answer = admin.submit("/jobs/1/run", &[("key", "b"), ("params", &long)]).await;
        assert!(answer.status == 422 && answer.error("params").unwrap().contains("80000 bytes"));
        assert!(answer.body.contains(&long), "nothing typed is lost");
        assert_eq!(console.store.runs().newest_run().await.unwrap(), 0);
    });
}

#[test]
fn a_kill_asks_first_and_cancels_what_was_not_sent() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let run = admin.submit("/jobs/1/run", &[("key", "k")]).await.location().to_owned();
        assert!(admin.get(&run).await.body.contains(&format!("href=\"{run}/kill\"")));
        assert!(admin.get(&format!("{run}/kill")).await.body.contains("Kill the run"));
        let answer = admin.submit(&format!("{run}/kill"), &[]).await;
        assert_eq!((answer.status, answer.location()), (303, run.as_str()));
        let page = admin.get(&run).await.body;
        assert!(page.contains("The run is cancelled; it had not been sent."));
        assert!(page.contains("data-state=\"cancelled\"") && !page.contains("/kill\""));
        assert!(page.contains("There is no log"));
    });
}

// covers: A11
#[test]
fn the_page_of_a_killed_run_says_who_asked_and_what_became_of_it() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let address = admin.submit("/jobs/1/run", &[("key", "k")]).await.location().to_owned();
        let id: i64 = address.strip_prefix("/runs/").unwrap().parse().unwrap();
        let raw = sea_orm::Database::connect(console.database_url()).await.unwrap();
        let sent = format!("UPDATE run SET state = 2, marked_at = {START}, sent_at = {START} WHERE id = {id}");
        raw.execute_unprepared(&sent).await.unwrap();
        console.store.runs().request_kill(id, START + 1, Some(&actor())).await.unwrap();
        let page = admin.get(&address).await.body;
        assert!(page.contains("Kill asked") && page.contains("by ada"), "{page}");
        let ended = format!(
            "UPDATE run SET state = 11, reason = 'unconfirmed', result_msg = 'killed; its end was not reported', \
             finished_at = {START} WHERE id = {id}"
        );
        raw.execute_unprepared(&ended).await.unwrap();
        let page = admin.get(&address).await.body;
        for text in [
            "data-state=\"killed\"",
            "Ended by a kill.",
            "Kill asked",
            "by ada",
            "Killed",
            "killed; its end was not reported",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
    });
}

// covers: 001-40
#[test]
fn a_run_whose_outcome_nobody_knows_is_resolved_with_a_note() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let pressed = admin.submit("/jobs/1/run", &[("key", "k")]).await;
        let run = pressed.location().to_owned();
        let path = format!("{run}/resolve");
        let link = format!("href=\"{path}\"");
        assert!(!admin.get(&run).await.body.contains(&link), "it is not lost");
        let early = admin.get(&path).await;
        assert_eq!((early.status, early.location()), (303, run.as_str()));
        let path_of_file = console.config.data_dir.join("carillon.db");
        let database = sea_orm::Database::connect(format!("sqlite://{}", path_of_file.display()));
        let database = database.await.unwrap();
        database.execute_unprepared("UPDATE run SET state = 4").await.unwrap();
        assert!(admin.get(&run).await.body.contains(&link));
        assert!(admin.get(&path).await.body.contains("The run is lost"));
        let wrong = admin.submit(&path, &[("outcome", "killed"), ("note", "  ")]).await;
        assert_eq!(wrong.status, 422);
        assert!(wrong.error("outcome").unwrap().contains("Choose"));
        assert!(wrong.error("note").unwrap().contains("how you know"));
        let word = [("outcome", "succeeded"), ("note", "the <file> is there")];
        let answer = admin.submit(&path, &word).await;
        assert_eq!((answer.status, answer.location()), (303, run.as_str()));
        let page = admin.get(&run).await.body;
        assert!(page.contains("The run is resolved.") && page.contains("data-state=\"succeeded\""));
        assert!(!page.contains("<file>") && !page.contains(&link));
        let id = run.rsplit('/').next().unwrap().parse().unwrap();
        let about = AuditFilter::about(AuditObjectKind::Run, id);
        let entry = console.store.audit().list(&about).await.unwrap().items.remove(0);
        assert_eq!((entry.action.as_str(), entry.actor.as_str()), ("resolve", "admin"));
        assert!(entry.detail.contains("the <file> is there"));
        // Once is enough.
        let again = admin.submit(&path, &word).await;
        assert_eq!((again.status, again.location()), (303, run.as_str()));
        assert!(admin.get(&run).await.body.contains("known by now: it is succeeded"));
    });
}

#[test]
fn an_app_is_made_once() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let answer = admin.submit("/apps", &[("name", "billing"), ("title", "")]).await;
        assert_eq!((answer.status, answer.location()), (303, "/apps"));
        let again = admin.submit("/apps", &[("name", "billing"), ("title", "<i>")]).await;
        assert!(again.status == 422 && again.error("name").unwrap().contains("already"));
        let wrong = admin.submit("/apps", &[("name", "a b")]).await;
        assert!(wrong.error("name").is_some());
        assert_eq!(console.store.apps().by_name("billing").await.unwrap().unwrap().title, "billing");
    });
}
