//! Which items are taken, and from whom.

use std::sync::Arc;

use carillon_scheduler::RunState::{Failed, Running, Succeeded};
use carillon_store::Error;
use carillon_store::map::pages::NewPage;
use carillon_store::run::settle::finding::{Reporter, ReporterToken, RunReport};

use super::maps::{executor, page};
use crate::conformance::fixture::Fixture;
use crate::conformance::hot::outcome::settle::{failure, success};

async fn refusal(fixture: &Fixture, page: &NewPage, reporter: &Reporter) -> String {
    match fixture.store.maps().add_page(page, reporter).await {
        Err(Error::Refused(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

databases! {
    async fn a_page_that_is_sent_again_changes_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (_, root) = fixture.root(0).await;
        for sent in [page(root, 0, &["a", "b"]), page(root, 1, &["c"]), page(root, 0, &["a", "b"])] {
            fixture.store.maps().add_page(&sent, &executor()).await.unwrap();
        }
        assert_eq!(fixture.items(root).await, "0 waiting, 1 waiting, 2 waiting");
        assert_eq!(fixture.row(root).await.state(), Running);
        assert_eq!(fixture.deliveries(root).await, "", "its handler may hand in more");
    }

    async fn items_are_taken_from_the_executor_that_has_the_run_alone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (job, root) = fixture.root(0).await;
        let foreign = Reporter { token: ReporterToken::OfApp { token_id: 1, app_id: job.app_id + 1 }, ..executor() };
        assert_eq!(refusal(&fixture, &page(root, 0, &["a"]), &foreign).await, "logId: is a run that another executor has");
        fixture.sql(&format!("UPDATE run SET boot_id = 'first' WHERE id = {root}")).await;
        let restarted = Reporter { boot_id: Some("second".into()), ..executor() };
        assert_eq!(refusal(&fixture, &page(root, 0, &["a"]), &restarted).await, "logId: is a run that another executor has");
        let own = Reporter { boot_id: Some("first".into()), ..executor() };
        fixture.store.maps().add_page(&page(root, 0, &["a"]), &own).await.unwrap();
        assert_eq!(refusal(&fixture, &page(root + 9, 0, &["a"]), &own).await, "logId: is no run that an executor works on");
        fixture.hold(root).await;
        assert_eq!(refusal(&fixture, &page(root, 1, &["b"]), &own).await, "logId: is no run that an executor works on");
        let delivery = fixture.send_items(root).await[0];
        let nested = refusal(&fixture, &page(delivery, 0, &["b"]), &own).await;
        assert_eq!(nested, "logId: is a delivery of items, which cannot hand in items");
    }

    async fn more_items_than_a_run_may_have_are_refused_as_a_whole(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (_, root) = fixture.root(0).await;
        fixture.store.maps().add_page(&page(root, 0, &["a"]), &executor()).await.unwrap();
        fixture.sql(&format!("UPDATE map_run SET items = 99999 WHERE run_id = {root}")).await;
        let why = refusal(&fixture, &page(root, 1, &["b", "c"]), &executor()).await;
        assert_eq!(why, "items: are 100001 in all pages of the run; at most 100000");
        fixture.sql(&format!("UPDATE map_run SET items = 1, bytes = 67108864 WHERE run_id = {root}")).await;
        let why = refusal(&fixture, &page(root, 1, &["b"]), &executor()).await;
        assert_eq!(why, "items: have 67108896 bytes in all pages of the run; at most 67108864");
        assert_eq!(fixture.items(root).await, "0 waiting");
    }

    async fn a_run_that_fails_delivers_nothing_and_its_next_attempt_begins_anew(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (job, root) = fixture.root(1).await;
        fixture.store.maps().add_page(&page(root, 0, &["a", "b"]), &executor()).await.unwrap();
        fixture.settle(&[failure(root)]).await;
        fixture.go_on().await;
        assert_eq!(fixture.deliveries(root).await, "");
        let again = fixture.runs(&job).await.into_iter().find(|run| run.attempt == 2).unwrap().id;
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {again}")).await;
        fixture.settle(&[success(again)]).await;
        assert_eq!(fixture.row(again).await.state(), Succeeded, "it has handed in nothing itself");
    }

    async fn a_success_that_comes_after_the_run_was_given_up_is_none(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (_, root) = fixture.root(0).await;
        fixture.store.maps().add_page(&page(root, 0, &["a"]), &executor()).await.unwrap();
        fixture.sql(&format!("UPDATE run SET state = 4 WHERE id = {root}")).await;
        fixture.settle(&[success(root)]).await;
        let row = fixture.row(root).await;
        let message = "it was given up before its success was known, so its items were not delivered";
        assert_eq!((row.state(), row.result_msg.as_deref()), (Failed, Some(message)));
    }

    async fn an_executor_that_repeats_its_success_is_no_stranger(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(0, &["a"]).await;
        let again = RunReport { reporter: Some(Arc::new(executor())), ..success(root) };
        let settled = fixture.settle(&[again]).await;
        assert_eq!((settled.changed, settled.foreign), (vec![], vec![]));
        assert_eq!(fixture.row(root).await.state(), Running);
    }
}
