//! How a run ends whose items have their outcomes: by what reads their results, by a kill, and what goes with it.

use carillon_scheduler::RunState::{Failed, Killed, Running, Succeeded};
use carillon_scheduler::{Outcome, RunState};
use carillon_store::map::audit::StalledMap;
use carillon_store::map::delivery::ItemInput;
use carillon_store::run::settle::finding::RunReport;

use super::maps::{executor, outcome, page};
use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{failure, report, success};

impl Fixture {
    /// A run whose items have their outcomes, one of them a failure, and the run that reads their results.
    async fn reducing(&self) -> (i64, i64) {
        let (_, root) = self.root(0).await;
        let mut whole = page(root, 0, &["a", "b", "c"]);
        whole.reduces = true;
        self.store.maps().add_page(&whole, &executor()).await.unwrap();
        self.hold(root).await;
        let [first, second] = self.send_items(root).await[..] else { panic!() };
        self.say(first, &[outcome(0, true), outcome(1, false)]).await;
        self.settle(&[failure(first)]).await;
        self.go_on().await;
        assert_eq!(self.deliveries(root).await, "1.1 failed, 2.1 running", "not before all items have their outcomes");
        self.settle(&[success(second)]).await;
        self.go_on().await;
        (root, self.send_items(root).await[0])
    }
}

databases! {
    // covers: I14
    async fn items_that_nothing_moves_are_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(0, &["a", "b", "c"]).await;
        let stalled = async || fixture.store.maps().stalled().await.unwrap();
        assert_eq!(stalled().await, [], "its deliveries wait");
        for delivery in fixture.send_items(root).await {
            assert_eq!(stalled().await, [], "one runs");
            fixture.settle(&[success(delivery)]).await;
        }
        assert_eq!(stalled().await, [], "their ends are noted");
        fixture.sql("DELETE FROM follow_up").await;
        let job_id = fixture.row(root).await.job_id;
        assert_eq!(stalled().await, [StalledMap { run_id: root, job_id }]);
        fixture.store.runs().wake_held(root, NOW).await.unwrap();
        assert_eq!(stalled().await, []);
        fixture.go_on().await;
        assert_eq!((stalled().await, fixture.state(root).await), (vec![], Succeeded));
    }

    async fn one_run_reads_the_results_of_all_items_and_its_end_is_that_of_the_run(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (root, reduce) = fixture.reducing().await;
        assert_eq!(fixture.row(reduce).await.part, 0);
        assert_eq!(fixture.store.maps().input(root, 0).await.unwrap(), ItemInput::Reduction { items: 3, failed: 1 });
        let items = fixture.store.maps().items_for(reduce, 0, &executor()).await.unwrap();
        let read: Vec<_> = items.iter().map(|it| (it.item, it.state.as_str(), it.message.as_deref(), it.params.as_str())).collect();
        assert_eq!(read, [(1, "failed", Some("cannot do 1"), "b"), (2, "succeeded", None, "c")]);
        assert!(fixture.store.maps().items_for(reduce, 2, &executor()).await.unwrap().is_empty());
        assert_eq!(fixture.state(root).await, Running);
        let sum = RunReport { message: Some("42".into()), ..success(reduce) };
        fixture.settle(&[sum]).await;
        fixture.go_on().await;
        let row = fixture.row(root).await;
        assert_eq!((row.state(), row.result_msg.as_deref()), (Succeeded, Some("42")));
        assert_eq!(fixture.count("run", "cause = 6 AND part = 0").await, 1);
    }

    async fn a_reduce_that_fails_fails_the_run(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (root, reduce) = fixture.reducing().await;
        fixture.settle(&[failure(reduce)]).await;
        fixture.go_on().await;
        let row = fixture.row(root).await;
        assert_eq!((row.state(), row.result_msg.as_deref()), (Failed, Some("reduce failed: said 500")));
    }

    async fn after_a_kill_no_delivery_begins(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let items: Vec<String> = (0..12).map(|item| item.to_string()).collect();
        let root = fixture.mapped(1, &items.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let running = fixture.send_items(root).await;
        fixture.settle(&[success(running[0])]).await;
        fixture.go_on().await;
        fixture.store.runs().request_kill(root, NOW, Some(&actor())).await.unwrap();
        let to_kill = fixture.store.runs().advance(&[root], NOW).await.unwrap().to_kill;
        assert_eq!(to_kill.len(), 4, "three that run, and one that waits");
        for id in to_kill {
            fixture.store.runs().request_kill(id, NOW, None).await.unwrap();
        }
        fixture.settle(&running[1..].iter().map(|id| report(*id, Outcome::Failed)).collect::<Vec<_>>()).await;
        fixture.go_on().await;
        assert_eq!(fixture.state(root).await, Killed);
        assert_eq!(fixture.deliveries(root).await, "1.1 succeeded, 2.1 killed, 3.1 killed, 4.1 killed, 5.1 cancelled");
        assert_eq!(fixture.counts(root).await, [2, 2, 0, 8], "what was not delivered has no outcome");
    }

    async fn the_items_of_a_run_go_with_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (gone, kept) = (fixture.mapped(0, &["a", "b", "c"]).await, fixture.mapped(0, &["d"]).await);
        for id in fixture.send_items(gone).await {
            fixture.settle(&[success(id)]).await;
        }
        fixture.go_on().await;
        fixture.sql("DELETE FROM report_open").await;
        assert_eq!(fixture.store.retention().prune_runs(&[gone, kept], 0).await.unwrap(), 1);
        for table in ["map_run", "map_page", "map_delivery", "map_item"] {
            assert_eq!(fixture.count(table, &format!("run_id = {gone}")).await, 0, "{table}");
            assert_eq!(fixture.count(table, &format!("run_id = {kept}")).await, 1, "{table}");
        }
        fixture.sql(&format!("DELETE FROM run WHERE id = {kept}")).await;
        assert_eq!(fixture.store.retention().prune_orphans().await.unwrap(), 4);
    }

    async fn a_run_without_items_ends_as_any_other(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(0, &[]).await;
        assert_eq!((fixture.state(root).await, fixture.deliveries(root).await), (Succeeded, String::new()));
        assert_eq!(fixture.rows_where("state = 0").await.len(), 0);
        assert_eq!(RunState::Succeeded, fixture.state(root).await);
    }
}
