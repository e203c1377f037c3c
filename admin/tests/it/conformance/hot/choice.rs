//! Recorded choices, sticky jobs, open runs of executors, and what operators set of them.

use carillon_scheduler::AuditObjectKind;
use carillon_scheduler::RouteStrategy;
use carillon_scheduler::RunState::{Claimed, Running, Sending, Succeeded};
use carillon_store::app::executors::ExecutorSettings;
use carillon_store::audit::list::AuditFilter;
use carillon_store::run::mark::MarkRequest;
use carillon_store::run::route::{RouteTrace, TraceNote};
use futures_util::future::join_all;

use super::executor::beat;
use super::mark::mark;
use crate::conformance::fixture::{Fixture, NOW, SHARDS, actor};

fn told(address: &str, what: &str) -> TraceNote {
    TraceNote { address: address.into(), what: what.into() }
}

databases! {
    async fn a_choice_is_read_as_it_was_made(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed; 3]).await;
        let set = |id: i64| (id, r#"["http://x:1/","http://y:1/"]"#.to_owned());
        let sets = [set(i64::MAX), set(3), set(4)];
        let kept = join_all((0..4).map(|node| store.runs().persist_candidates(&sets[..=node % 3], NOW))).await;
        assert!(kept.into_iter().all(|kept| kept.is_ok()), "many nodes at once keep one row each");
        assert_eq!(fixture.count("candidate_set", "1 = 1").await, 3);
        store.runs().persist_candidates(&[(4, "[]".into()), (5, "[]".into())], NOW + 1).await.unwrap();
        assert_eq!(fixture.count("candidate_set", "addresses = '[]'").await, 1, "what is there stays as it is");
        let marks = [0, 1].map(|index| MarkRequest {
            candidates_id: i64::MAX,
            route_code: RouteStrategy::Failover.code(),
            ..mark(ids[index])
        });
        store.runs().mark(&marks, 5, "a", NOW).await.unwrap();
        let story = RouteTrace {
            answers: vec![told("http://w:1/", "no answer in \"time\" ✗"), told("http://x:1/", "alive")],
            ..RouteTrace::default()
        };
        let text = serde_json::to_string(&story).unwrap();
        store.runs().add_traces(&[(ids[0], "{}".into()), (ids[2], text.clone())]).await.unwrap();
        store.runs().add_traces(&[(ids[0], text)]).await.unwrap();
        let choice = async |id| {
            let run = store.runs().get(id).await.unwrap().unwrap();
            store.runs().route_decision(&run).await.unwrap()
        };
        let told = choice(ids[0]).await.unwrap();
        assert_eq!((told.route, told.chosen.as_deref()), (Some(RouteStrategy::Failover), Some("http://x:1/")));
        assert_eq!((told.candidates.join(" ").as_str(), &told.story), ("http://x:1/ http://y:1/", &story));
        assert_eq!(told.why, "it was the first to answer that it is alive");
        assert_eq!(choice(ids[1]).await.unwrap().story, RouteTrace::default());
        assert_eq!(choice(ids[2]).await, None, "it waits again");
    }

    async fn where_a_sticky_job_goes_is_kept_once_and_dropped_with_the_job(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let jobs = [fixture.ticking("a").await, fixture.ticking("b").await];
        let ids = [jobs[0].id, jobs[1].id];
        assert_eq!(store.runs().sticky(&ids).await.unwrap(), []);
        for address in ["http://x:1/", "http://y:1/", "http://y:1/"] {
            store.runs().set_sticky(&[(ids[0], address.into())], NOW).await.unwrap();
        }
        assert_eq!(store.runs().sticky(&ids).await.unwrap(), [(ids[0], "http://y:1/".to_owned())]);
        store.jobs().delete(ids[0], NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("sticky", "1 = 1").await, 0);
    }

    async fn open_runs_are_counted_by_address(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Sending, Running, Running, Succeeded]).await;
        fixture.sql("UPDATE run SET address = 'http://x:1/'").await;
        fixture.sql(&format!("UPDATE run SET address = 'http://y:1/' WHERE id = {}", ids[3])).await;
        let mut active = fixture.store.runs().active_runs_by_address(SHARDS).await.unwrap();
        active.sort_unstable();
        assert_eq!(active, [("http://x:1/".to_owned(), 2), ("http://y:1/".to_owned(), 1)]);
    }

    async fn what_an_operator_sets_wins_and_outlives_the_registration(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let app = fixture.app.clone();
        let mut executor = beat("http://x:1/", Some("boot"), NOW);
        executor.app.clone_from(&app.name);
        executor.announced = ExecutorSettings { weight: Some(5), labels: Some("zone=eu".into()) };
        assert!(store.apps().register_executor(&executor).await.unwrap());
        assert!(!store.apps().register_executor(&executor).await.unwrap());
        let read = async || store.apps().executors_of(&app.name).await.unwrap().remove(0);
        assert_eq!((read().await.weight(), read().await.labels().to_string().as_str()), (5, "zone=eu"));
        let set = ExecutorSettings { weight: Some(7), labels: None };
        let change = async |traits: &ExecutorSettings| {
            store.apps().set_executor_settings(&app, "http://x:1/", traits, NOW + 1, &actor()).await.unwrap();
        };
        let before = fixture.count("audit", "1 = 1").await;
        for _ in 0..2 {
            change(&set).await;
        }
        assert_eq!(fixture.count("audit", "1 = 1").await, before + 1, "the second one changed nothing");
        assert_eq!((read().await.weight(), read().await.labels().to_string().as_str()), (7, "zone=eu"));
        let entry = store.audit().list(&AuditFilter::about(AuditObjectKind::App, app.id)).await.unwrap().items.remove(0);
        assert_eq!(entry.action, "update_executor");
        assert!(entry.detail.contains(r#""address":"http://x:1/""#), "{}", entry.detail);
        // Gone, and back with other words: the setting is still there, and what it leaves open follows the executor.
        store.apps().deregister_executor(&app.name, "http://x:1/").await.unwrap();
        executor.announced = ExecutorSettings { weight: None, labels: None };
        assert!(store.apps().register_executor(&executor).await.unwrap());
        assert_eq!((read().await.weight(), read().await.labels().is_empty()), (7, true));
        change(&ExecutorSettings::default()).await;
        assert_eq!(read().await.weight(), 1);
        assert_eq!(fixture.count("executor_setting", "1 = 1").await, 0);
        executor.announced.labels = Some("gpu=yes".into());
        assert!(store.apps().register_executor(&executor).await.unwrap(), "routes must see it at once");
    }
}
