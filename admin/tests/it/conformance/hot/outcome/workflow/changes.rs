//! What people do at the moment at which a run begins or goes on.

use carillon_scheduler::JobDraft;
use carillon_scheduler::RunState::{Cancelled, Claimed, Failed, Running, Succeeded};
use carillon_scheduler::workflow::RerunFrom;
use carillon_store::{Definition, DefinitionContext};

use super::graphs::{Graph, diamond, two};
use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, success};

impl Fixture {
    async fn edit_graph(&self, graph: &Graph, draft: &JobDraft) {
        let context = DefinitionContext::of(&self.app, &graph.job, &graph.job.calendars);
        let definition = Definition::check_in(context, draft, NOW).unwrap();
        self.store.jobs().update(graph.job.id, &definition, None, NOW, &actor()).await.unwrap();
    }

    /// Without a look at what follows.
    async fn settle_only(&self, run_id: i64) {
        self.store.runs().settle(&[success(run_id)], &FOLLOW_UP).await.unwrap();
    }
}

databases! {
    // covers: I14
    async fn a_run_begins_with_one_graph_whatever_edit_comes_at_the_same_moment(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for round in 0..8 {
            let graph = fixture.graph(diamond()).await;
            let run = fixture.fire_of_graph(&graph, NOW - round).await;
            let less = graph.without("bottom");
            let hold = fixture.store.workflows().hold(&run, "", NOW);
            let (begun, ()) = tokio::join!(hold, fixture.edit_graph(&graph, &less));
            fixture.go_on().await;
            let nodes = fixture.count("workflow_node", &format!("run_id = {}", run.run_id)).await;
            match (begun.unwrap(), fixture.state(run.run_id).await) {
                (true, Running) => {
                    let view = fixture.store.workflows().view(run.run_id).await.unwrap().unwrap();
                    assert_eq!((view.graph.nodes.len(), view.nodes.len()), (nodes as usize, nodes as usize));
                    assert!(nodes == 3 || nodes == 4, "{nodes} nodes");
                    fixture.only(&graph, run.run_id, "top").await;
                }
                (false, Cancelled) => assert_eq!(nodes, 0),
                other => panic!("{other:?} with {nodes} nodes"),
            }
        }
    }

    // covers: I14
    async fn a_run_goes_on_with_its_graph_whatever_becomes_of_its_job(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for (round, is_deleted) in (0..8).zip([true, false].into_iter().cycle()) {
            let graph = fixture.graph(diamond()).await;
            let run_id = fixture.begun(&graph, NOW - round).await;
            let top = fixture.only(&graph, run_id, "top").await.id;
            fixture.settle_only(top).await;
            let less = graph.without("bottom");
            let change = async {
                match is_deleted {
                    true => drop(fixture.store.jobs().delete(graph.job.id, NOW, &actor()).await.unwrap()),
                    false => fixture.edit_graph(&graph, &less).await,
                }
            };
            let list = [top];
            let (advanced, ()) = tokio::join!(fixture.store.runs().advance(&list, FOLLOW_UP.now), change);
            advanced.unwrap();
            fixture.go_on().await;
            for node in ["left", "right", "bottom"] {
                fixture.send().await;
                fixture.settle_only(fixture.only(&graph, run_id, node).await.id).await;
                fixture.go_on().await;
            }
            assert_eq!(fixture.state(run_id).await, Succeeded, "deleted: {is_deleted}");
        }
    }

    // covers: I14
    async fn a_job_that_is_deleted_when_its_run_begins_leaves_it_whole_or_cancelled(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for round in 0..8 {
            let graph = fixture.graph(diamond()).await;
            let run = fixture.fire_of_graph(&graph, NOW - round).await;
            let hold = fixture.store.workflows().hold(&run, "", NOW);
            let by = actor();
            let delete = fixture.store.jobs().delete(graph.job.id, NOW, &by);
            let (begun, deleted) = tokio::join!(hold, delete);
            deleted.unwrap();
            let of_run = format!("run_id = {}", run.run_id);
            let (nodes, of_job) = (fixture.count("workflow_node", &of_run).await, format!("job_id = {}", graph.job.id));
            match (begun.unwrap(), fixture.state(run.run_id).await) {
                (true, Running) => {
                    assert_eq!((nodes, fixture.count("workflow_graph", &of_job).await), (4, 1));
                    fixture.go_on().await;
                    fixture.only(&graph, run.run_id, "top").await;
                }
                (false, Cancelled) => assert_eq!((nodes, fixture.count("workflow_graph", &of_job).await), (0, 0)),
                other => panic!("{other:?}"),
            }
        }
    }

    // covers: I14
    async fn nothing_starts_after_a_kill_that_comes_while_nodes_start(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let nodes = two(&fixture, db).await;
        let graph = fixture.graph(diamond()).await;
        for round in 0..8 {
            let run_id = fixture.begun(&graph, NOW + round).await;
            let top = fixture.only(&graph, run_id, "top").await.id;
            fixture.settle_only(top).await;
            let by = actor();
            let kill = nodes[0].runs().request_kill(run_id, NOW, Some(&by));
            let list = [top];
            let (killed, advanced) = tokio::join!(kill, nodes[1].runs().advance(&list, FOLLOW_UP.now));
            killed.unwrap();
            advanced.unwrap();
            let started = fixture.count("run", &format!("fire_no >> 10 = {run_id}")).await;
            for _ in 0..3 {
                let noted = fixture.noted().await;
                let advanced = fixture.store.runs().advance(&noted, FOLLOW_UP.now).await.unwrap();
                fixture.store.runs().settle(&advanced.to_end, &FOLLOW_UP).await.unwrap();
                for node in advanced.to_kill {
                    fixture.store.runs().request_kill(node, NOW, None).await.unwrap();
                }
            }
            assert_eq!(fixture.count("run", &format!("fire_no >> 10 = {run_id}")).await, started, "round {round}");
            assert!(!fixture.nodes(run_id).await.contains("waiting"), "{}", fixture.nodes(run_id).await);
            assert_eq!(fixture.of_node(&graph, "bottom").await.len(), 0);
            assert!(!fixture.state(run_id).await.is_open(), "its nodes were not sent");
            fixture.go_on().await;
        }
    }

    // covers: I14
    async fn two_people_who_run_it_again_at_once_make_one_attempt(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let nodes = two(&fixture, db).await;
        let graph = fixture.graph(diamond()).await;
        for round in 0..5 {
            let run_id = fixture.begun(&graph, NOW + round).await;
            let top = fixture.only(&graph, run_id, "top").await.id;
            fixture.store.runs().settle(&[failure(top)], &FOLLOW_UP).await.unwrap();
            fixture.go_on().await;
            assert_eq!(fixture.state(run_id).await, Failed);
            let by = actor();
            let again = |node: usize| nodes[node].workflows().rerun(run_id, &RerunFrom::Failed, FOLLOW_UP.now, &by);
            let (one, other) = tokio::join!(again(0), again(1));
            let (made, refused) = match (one, other) {
                (Ok(made), Err(refused)) | (Err(refused), Ok(made)) => (made.0, refused),
                other => panic!("{other:?}"),
            };
            assert!(refused.to_string().contains("was repeated by run"), "{refused}");
            let attempts = fixture.rows_where(&format!("job_id = {} AND fire_no = {}", graph.job.id, NOW + round)).await;
            assert_eq!(attempts.iter().map(|run| (run.attempt, run.id)).max(), Some((2, made)));
            assert_eq!((attempts.len(), fixture.state(made).await), (2, Claimed));
        }
    }
}
