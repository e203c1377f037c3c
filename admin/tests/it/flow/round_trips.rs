//! How often the engine waits for its database: never more often because a batch has more in it. Results have the like in
//! `results`.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{
    AlarmKind, Clock as _, Durability, JobDraft, Overlap, RouteStrategy, RunState, ScheduleDraft,
};
use carillon_store::alarm::alarms::Alarm;
use carillon_store::lease::loops::{Grant, LoopHolder, LoopLease, Report};
use carillon_store::{Definition, Job};
use carillon_testkit::{RecordingExecutor, wait_for};
use serde_json::json;

use super::node::Node;
use crate::conformance::fixture::actor;
use crate::flow::recover::cut_wire::Wire;
use crate::flow::recover::unknown_commits::on_a_wire;
use crate::services::{Kind, TestDatabase, on};

use RunState::{Cancelled, Claimed, Running, Sending, Succeeded};

/// The statements of a kind are prepared by the first use of each connection.
const PREPARED: usize = 8;

/// Asks both databases for the cost of 3 and of 30.
async fn costs_no_more(kind: Kind, trips: impl AsyncFn(&TestDatabase, usize) -> usize) {
    let databases = [TestDatabase::new(kind).await, TestDatabase::new(kind).await];
    let few = trips(&databases[0], 3).await;
    let many = trips(&databases[1], 30).await;
    assert!(many <= few + PREPARED, "{few} round trips for 3, {many} for 30");
}

fn on_each_server(trips: impl AsyncFn(&TestDatabase, usize) -> usize + Copy) {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        on(kind, async |_| costs_no_more(kind, trips).await);
    }
}

async fn of_one_tick(node: &Node, wire: &Wire) -> usize {
    let before = wire.round_trips();
    node.dispatch().await;
    wire.round_trips() - before
}

async fn fire_all(node: &Node, jobs: &[Job]) -> Vec<i64> {
    let mut runs = vec![];
    for job in jobs {
        runs.push(node.fire(job).await);
    }
    node.scan().await;
    runs
}

async fn states(node: &Node, jobs: &[Job]) -> Vec<Vec<RunState>> {
    let mut states = vec![];
    for job in jobs {
        states.push(node.states(job).await);
    }
    states
}

// covers: F7
#[test]
fn a_broadcast_to_many_executors_costs_no_more_round_trips_than_one_to_few() {
    on_each_server(async |db, executors| {
        let (node, wire) = on_a_wire(db).await;
        for port in 0..executors {
            let address = format!("http://127.0.0.1:{}/", 2_000 + port);
            node.register_address(&address, None).await;
        }
        let job = node.job(|draft| draft.route = RouteStrategy::Broadcast).await;
        node.renew_leases().await;
        fire_all(&node, std::slice::from_ref(&job)).await;
        // Ids come from a block, which is filled now and then.
        node.store.take_ids(&carillon_store::db::ids::RUN, 1_000).await.unwrap();
        let before = wire.round_trips();
        node.dispatch().await;
        wait_for("it is expanded", async || !node.engine.is_expanding()).await;
        let trips = wire.round_trips() - before;
        assert_eq!(node.states(&job).await, vec![Claimed; executors]);
        trips
    });
}

/// A node and jobs of this rule, each with a run that runs.
async fn running(db: &TestDatabase, rule: Overlap, jobs: usize) -> (Node, Wire, RecordingExecutor, Vec<Job>) {
    let (node, wire) = on_a_wire(db).await;
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    node.renew_leases().await;
    let jobs = node.create_jobs(jobs, |draft| draft.overlap = rule).await;
    fire_all(&node, &jobs).await;
    node.round().await;
    assert_eq!(states(&node, &jobs).await, vec![[Running]; jobs.len()]);
    (node, wire, executor, jobs)
}

// covers: F7
#[test]
fn runs_of_many_jobs_that_overlap_are_cancelled_by_as_many_round_trips_as_of_few() {
    on_each_server(async |db, count| {
        let (node, wire, _executor, jobs) = running(db, Overlap::Skip, count).await;
        fire_all(&node, &jobs).await;
        let trips = of_one_tick(&node, &wire).await;
        assert_eq!(states(&node, &jobs).await, vec![[Running, Cancelled]; count]);
        trips
    });
}

// covers: F7
#[test]
fn runs_of_many_jobs_wait_and_go_on_by_as_many_round_trips_as_of_few() {
    on_each_server(async |db, count| {
        let (node, wire, _executor, jobs) = running(db, Overlap::Wait, count).await;
        fire_all(&node, &jobs).await;
        let wait = of_one_tick(&node, &wire).await;
        let mut results = vec![];
        for job in &jobs {
            let runs = node.runs(job).await;
            assert_eq!((runs[1].state, runs[1].reason.as_deref()), (Claimed, Some("overlap")));
            results.push((runs[0].id, 200, ""));
        }
        node.callback(&results).await;
        let go = of_one_tick(&node, &wire).await;
        for job in &jobs {
            let runs = node.runs(job).await;
            assert_eq!((runs[0].state, runs[1].state), (Succeeded, Sending));
            assert_eq!(runs[1].reason, None, "it waits no longer");
        }
        wait + go
    });
}

// covers: F7
#[test]
fn many_new_sets_of_candidates_cost_no_more_round_trips_than_few() {
    on_each_server(async |db, apps| {
        let (node, wire) = on_a_wire(db).await;
        let (mut executors, mut jobs) = (vec![], vec![]);
        for number in 0..apps {
            let (name, now) = (format!("app-{number}"), node.clock.now());
            let app = node.store.apps().create(&name, "App", now, &actor()).await;
            let draft = JobDraft::new(&name, "job", "handle");
            let definition = Definition::check(&app.unwrap(), &draft, now).unwrap();
            let created = node.store.jobs().create(vec![definition], now, &actor(), None).await;
            jobs.extend(created.unwrap());
            let executor = RecordingExecutor::start().await;
            let body = json!({"registryGroup": "EXECUTOR", "registryKey": name, "registryValue": executor.address});
            assert_eq!(node.post("api/registry", &body).await["code"], 200);
            executors.push(executor);
        }
        node.services.refresher.step().await;
        node.renew_leases().await;
        fire_all(&node, &jobs).await;
        let trips = of_one_tick(&node, &wire).await;
        for (job, executor) in jobs.iter().zip(&executors) {
            let run = node.runs(job).await[0].id;
            let run = node.store.runs().get(run).await.unwrap().unwrap();
            let choice = node.store.runs().route_decision(&run).await.unwrap();
            let candidates = choice.map(|choice| choice.candidates);
            assert_eq!(candidates, Some(vec![executor.address.clone()]), "{run:?}");
        }
        trips
    });
}

// covers: F24
#[test]
fn many_alarms_are_escalated_by_as_many_round_trips_as_few() {
    on_each_server(async |db, count| {
        let (node, wire) = on_a_wire(db).await;
        let (job, now) = (node.job(|_| ()).await, node.clock.now());
        for run_id in 1..=count as i64 {
            let text = "nothing is known of it".to_owned();
            let alarm = Alarm { kind: AlarmKind::Unknown, job_id: Some(job.id), run_id: Some(run_id), text };
            let _raised = node.store.alarms().raise_alone(alarm, now).await.unwrap();
        }
        let before = wire.round_trips();
        let escalated = node.store.alarms().escalate(now, now + 1).await.unwrap();
        let trips = wire.round_trips() - before;
        assert!(escalated.len() == count && escalated.iter().all(|row| row.level == 1));
        trips
    });
}

/// Of one transaction; the least of some, as a connection that has not been used yet prepares each statement.
async fn least_of_new_jobs(node: &Node, wire: &Wire, count: usize) -> usize {
    let mut least = usize::MAX;
    for _ in 0..5 {
        least = least.min(of_new_jobs(node, wire, count).await);
    }
    least
}

async fn of_new_jobs(node: &Node, wire: &Wire, count: usize) -> usize {
    let draft = JobDraft {
        schedule: carillon_scheduler::ScheduleDraft::fixed_rate(60),
        ..JobDraft::new("orders", "job", "handle")
    };
    let definition = Definition::check(&node.app, &draft, node.clock.now()).unwrap();
    let before = wire.round_trips();
    let made = node.store.jobs().create(vec![definition; count], node.clock.now(), &actor(), None).await.unwrap();
    let trips = wire.round_trips() - before;
    assert_eq!(made.len(), count);
    assert!(made.iter().all(|job| job.next_fire_at.is_some()));
    trips
}

/// There: the list of jobs was searched for each job that was added.
// covers: 6.13
#[test]
fn many_new_jobs_cost_no_more_round_trips_than_few_also_beside_many_others() {
    on_each_server(async |db, count| {
        let (node, wire) = on_a_wire(db).await;
        let alone = least_of_new_jobs(&node, &wire, count).await;
        for _ in 0..10 {
            of_new_jobs(&node, &wire, 100).await;
        }
        let beside_others = least_of_new_jobs(&node, &wire, count).await;
        assert!(beside_others <= alone + PREPARED, "{alone} round trips, and {beside_others} beside a thousand jobs");
        beside_others
    });
}

// covers: 000-17
#[test]
fn the_renewal_of_many_loops_costs_no_more_than_of_few_however_often_they_fire() {
    on_each_server(async |db, count| {
        const LONG: i64 = 600_000;
        let (node, wire) = on_a_wire(db).await;
        let schedule = ScheduleDraft::fixed_rate(1);
        let change = |draft: &mut JobDraft| (draft.schedule, draft.durability) = (schedule, Durability::BestEffort);
        let jobs = node.create_jobs(count, change).await;
        let (ids, app_id): (Vec<i64>, i64) = (jobs.iter().map(|job| job.id).collect(), jobs[0].app_id);
        let (loops, now) = (node.store.loops(), node.clock.now());
        let grant = |lease: LoopLease| Grant {
            lease,
            app_id,
            address: "http://127.0.0.1:2000/".into(),
            boot_id: "boot-1".into(),
            counters: String::new(),
        };
        let grants: Vec<Grant> = loops.of_jobs(&ids).await.unwrap().into_iter().map(grant).collect();
        assert_eq!(loops.grant(&grants, now, LONG).await.unwrap().len(), count);
        let renewal = async |fired: u64| {
            let text = json!({"counters": {"fired": fired, "succeeded": fired}}).to_string();
            let reports: Vec<Report> =
                ids.iter().map(|id| Report { job_id: *id, epoch: 1, text: text.clone() }).collect();
            let before = wire.round_trips();
            let renewed = loops.renew(LoopHolder { app_id, boot_id: "boot-1" }, &reports, now, LONG).await.unwrap();
            assert_eq!(renewed.len(), count);
            wire.round_trips() - before
        };
        // Statements are prepared by the first use of each connection.
        renewal(1).await;
        let (seldom, often) = (renewal(2).await, renewal(1_000_000).await);
        assert!(often <= seldom + PREPARED, "{seldom} round trips for 1 fire, {often} for a million");
        often
    });
}
