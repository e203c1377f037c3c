//! Deliveries: which items they carry, how many there are at once, and what their executors say of items.

use carillon_scheduler::RunState::{Failed, Running, Succeeded};
use carillon_scheduler::run::map::ItemState;
use carillon_scheduler::{RunEvent, RunReason};
use carillon_store::Error;

use super::maps::{executor, outcome, page};
use crate::conformance::fixture::{Fixture, NOW};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, found, success};
use crate::conformance::hot::outcome::workflow::graphs::two;

databases! {
    async fn a_run_goes_on_until_its_items_have_their_outcomes(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(0, &["a", "b", "c", "d", "e"]).await;
        let held = fixture.row(root).await;
        assert_eq!((held.state(), held.result_msg.as_deref()), (Running, Some("said 200")));
        assert_eq!(fixture.deliveries(root).await, "1.1 claimed, 2.1 claimed, 3.1 claimed");
        assert_eq!(fixture.carried(root, 2).await, [2, 3]);
        for id in fixture.send_items(root).await {
            assert_eq!(fixture.row(root).await.state(), Running);
            fixture.settle(&[success(id)]).await;
            fixture.go_on().await;
        }
        assert_eq!(fixture.counts(root).await, [0, 5, 0, 0], "a delivery that succeeds says so of all its items");
        let ended = fixture.row(root).await;
        assert_eq!((ended.state(), ended.result_msg.as_deref()), (Succeeded, Some("said 200")));
        assert!(fixture.noted().await.is_empty());
    }

    async fn only_items_without_a_success_are_delivered_again(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(1, &["a", "b"]).await;
        let first = fixture.send_items(root).await[0];
        assert_eq!(fixture.say(first, &[outcome(0, true), outcome(1, false)]).await, 2);
        assert_eq!(fixture.counts(root).await, [0, 1, 1, 0]);
        let settled = fixture.settle(&[failure(first)]).await;
        assert!(settled.alarms.is_empty());
        fixture.go_on().await;
        assert_eq!(fixture.deliveries(root).await, "1.1 failed, 1.2 claimed");
        assert_eq!(fixture.carried(root, 1).await, [1]);
        let second = fixture.send_items(root).await[0];
        fixture.say(second, &[outcome(1, true)]).await;
        fixture.settle(&[success(second)]).await;
        fixture.go_on().await;
        assert_eq!((fixture.state(root).await, fixture.counts(root).await), (Succeeded, [0, 2, 0, 0]));
    }

    async fn items_of_a_lost_delivery_fail_when_no_attempt_is_left(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(0, &["a", "b", "c"]).await;
        let [first, second] = fixture.send_items(root).await[..] else { panic!() };
        fixture.say(first, &[outcome(1, true)]).await;
        let settled = fixture.settle(&[found(first, RunEvent::ExecutorGone, RunReason::Lost), success(second)]).await;
        assert!(settled.alarms.is_empty(), "the run that they are of raises it");
        fixture.go_on().await;
        let row = fixture.row(root).await;
        let message = "1 of 3 items failed; item 0: Its executor went away while it ran.";
        assert_eq!((row.state(), row.result_msg.as_deref()), (Failed, Some(message)));
        assert_eq!(row.reason.as_deref(), Some("items"));
        assert_eq!(fixture.items(root).await, "0 failed, 1 succeeded, 2 succeeded");
        // What it says late changes nothing: the item has its outcome.
        assert!(matches!(fixture.store.maps().add_outcomes(first, &[outcome(0, true)], &executor()).await, Err(Error::Refused(_))));
        fixture.settle(&[success(first)]).await;
        fixture.go_on().await;
        assert_eq!(fixture.items(root).await, "0 failed, 1 succeeded, 2 succeeded");
        assert_eq!(fixture.count("run", "attempt > 1").await, 0, "the retries of the job are those of its deliveries");
    }

    async fn an_item_has_one_outcome(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(1, &["a", "b", "c"]).await;
        let [first, second] = fixture.send_items(root).await[..] else { panic!() };
        assert_eq!(fixture.say(first, &[outcome(0, true), outcome(2, true)]).await, 1, "2 is in another delivery");
        assert_eq!(fixture.say(first, &[outcome(0, false)]).await, 0);
        assert_eq!(fixture.items(root).await, "0 succeeded, 1 waiting, 2 waiting");
        fixture.settle(&[success(second)]).await;
        fixture.go_on().await;
        let why = fixture.store.maps().add_outcomes(second, &[outcome(2, false)], &executor()).await.unwrap_err();
        assert_eq!(why.to_string(), "logId: is a delivery that has ended");
        assert_eq!(fixture.items_in(root, ItemState::Succeeded).await, [0, 2]);
        let why = fixture.store.maps().add_outcomes(root, &[outcome(2, false)], &executor()).await.unwrap_err();
        assert_eq!(why.to_string(), "logId: is no run that items were delivered to");
    }

    async fn a_bounded_number_of_deliveries_is_on_its_way(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let items: Vec<String> = (0..13).map(|item| item.to_string()).collect();
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let root = fixture.mapped(0, &items).await;
        for ended in 0..7 {
            let open = fixture.count("run", "cause = 6 AND state < 9").await;
            assert_eq!(open, (7 - ended).min(4), "after {ended}");
            let ids = fixture.send_items(root).await;
            let open = fixture.item_runs(root).await.into_iter().find(|run| run.state() == Running).unwrap().id;
            assert!(ended == 0 || ids.len() <= 1);
            fixture.settle(&[success(open)]).await;
            fixture.go_on().await;
        }
        assert_eq!((fixture.state(root).await, fixture.counts(root).await), (Succeeded, [0, 13, 0, 0]));
        assert_eq!(fixture.count("run", "cause = 6").await, 7);
    }

    async fn a_delivery_closes_when_its_parameters_are_full(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (_, root) = fixture.root(0).await;
        let long = "x".repeat(15_000);
        let mut whole = page(root, 0, &[&long, &long, &long, &long, &long, "short"]);
        whole.chunk = Some(100);
        fixture.store.maps().add_page(&whole, &executor()).await.unwrap();
        fixture.hold(root).await;
        assert_eq!((fixture.carried(root, 1).await, fixture.carried(root, 2).await), (vec![0, 1, 2, 3], vec![4, 5]));
    }

    async fn two_nodes_that_do_what_follows_begin_each_delivery_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let root = fixture.mapped(0, &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]).await;
        let nodes = two(&fixture, db).await;
        let ids = fixture.send_items(root).await;
        for store in &nodes {
            store.runs().settle(&[success(ids[0]), success(ids[1])], &FOLLOW_UP).await.unwrap();
        }
        let noted = fixture.noted().await;
        let advance = |store: usize| {
            let (store, noted) = (nodes[store].clone(), noted.clone());
            async move { store.runs().advance(&noted, NOW).await.unwrap() }
        };
        tokio::join!(advance(0), advance(1));
        fixture.go_on().await;
        assert_eq!(fixture.deliveries(root).await, "1.1 succeeded, 2.1 succeeded, 3.1 running, 4.1 running, 5.1 claimed");
        let view = fixture.store.maps().view(root).await.unwrap().unwrap();
        assert_eq!((view.in_flight, view.released, view.deliveries), (3, 10, 5));
    }
}
