use std::sync::Arc;

use carillon_scheduler::{
    BlockStrategy, CatchUp, Durability, JobDraft, MisfirePolicy, Overlap, Parts, RouteStrategy, ScheduleDraft, shard_of,
};
use carillon_store::{Definition, Job, Store};

use crate::conformance::fixture::{Fixture, NOW, SECOND, SHARDS, actor, after, draft, each};
use crate::services::TestDatabase;

/// Another node on this database.
async fn open(db: &TestDatabase) -> Arc<Store> {
    Store::open(&db.store()).await.unwrap()
}

fn every_member() -> JobDraft {
    JobDraft {
        app: "billing".into(),
        name: "Tagesabschluß 日次 🚀 '\"\\".into(),
        handler: "closeDay".into(),
        script: None,
        workflow: None,
        http: None,
        key: "close-day_2.1".into(),
        set: "billing.files".into(),
        takes_result: false,
        parts: Parts::default(),
        description: "Schließt den Tag 🚀\n zweite Zeile".into(),
        owner: "Ada 日次".into(),
        tags: vec!["a.b".into(), "tier-1".into()],
        params: "{\"a\":\"line\\n\"}\r\nzweite ä ? Zeile".into(),
        schedule: ScheduleDraft::cron("0 0 3 ? * MON-FRI", "Europe/Berlin"),
        durability: Durability::Durable,
        catch_up: CatchUp::Latest,
        misfire: MisfirePolicy::Skip,
        misfire_threshold_seconds: 90,
        misfire_limit: 7,
        misfire_window_seconds: 120,
        route: RouteStrategy::Broadcast,
        route_labels: "zone=eu".into(),
        overlap: Overlap::Cancel,
        overlap_queue: 3,
        max_concurrent: 2,
        limits: vec![],
        priority: -60,
        block: BlockStrategy::CoverEarly,
        timeout_seconds: 600,
        retries: 3,
        retry_delay: "fixed 1 60".parse().unwrap(),
        flag_after_seconds: 90,
        start_within_seconds: 45,
        pause_after_failures: 5,
        children: vec![],
        enabled: false,
    }
}

databases! {
    // covers: 001-7
    async fn jobs_that_several_nodes_create_spread_evenly_over_the_shards(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let definition = fixture.definition(&each("0 0 3 * * ?"));
        let mut stores = vec![fixture.store.clone()];
        // A file of SQLite has one node.
        while db.kind() != Kind::Sqlite && stores.len() < 3 {
            stores.push(open(db).await);
        }
        // Each node takes ids by the block, and leaves the rest of its last one.
        for round in 0..4 {
            for (node, store) in stores.iter().enumerate() {
                store.jobs().create(vec![definition.clone(); 190 + 37 * node + round], NOW, &actor(), None).await.unwrap();
            }
        }
        let rows = fixture.rows("SELECT shard, COUNT(*) AS jobs FROM job_clock GROUP BY shard").await;
        let jobs: Vec<i64> = rows.iter().map(|row| row.try_get("", "jobs").unwrap()).collect();
        let (most, all) = (*jobs.iter().max().unwrap() as f64, jobs.iter().sum::<i64>() as f64);
        assert_eq!(jobs.len(), SHARDS as usize);
        assert!(all > 700.0 && most * f64::from(SHARDS) / all < 1.1, "{jobs:?}");
    }

    async fn a_job_is_read_back_as_it_was_given(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let made = fixture.create(&every_member()).await;
        assert_eq!(made.draft, every_member());
        assert_eq!(fixture.store.jobs().get(made.id).await.unwrap(), Some(made.clone()));
        assert_eq!((made.revision, made.created_at, made.updated_at), (1, NOW, NOW));
        assert_eq!((made.shard, made.anchor_at), (shard_of(made.id, SHARDS), SECOND));
        assert!(made.id < 1 << 31);
        assert_eq!(fixture.store.jobs().get(made.id + 1).await.unwrap(), None);
    }

    // covers: 000-4
    async fn a_new_job_knows_its_next_instant(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let cron = fixture.create(&each("*/10 * * * * ?")).await;
        assert_eq!(cron.next_fire_at, Some(after(10)));
        let rate = fixture.create(&JobDraft { schedule: ScheduleDraft::fixed_rate(7), ..draft("rate") }).await;
        assert_eq!((rate.anchor_at, rate.next_fire_at), (SECOND, Some(after(7))));
        assert_eq!(fixture.store.jobs().get(rate.id).await.unwrap().unwrap().next_fire_at, Some(after(7)));
    }

    // covers: 001-31
    async fn a_paused_job_is_never_due(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let paused = fixture.create(&JobDraft { enabled: false, ..each("* * * * * ?") }).await;
        let none = fixture.create(&draft("by hand")).await;
        assert_eq!((paused.next_fire_at, none.next_fire_at), (None, None));
        assert_eq!(fixture.count("job_clock", "1 = 1").await, 0);
    }

    async fn a_batch_is_stored_whole_and_in_its_order(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let drafts: Vec<_> = (0..250).map(|n| JobDraft { name: format!("job {n}"), ..each("* * * * * ?") }).collect();
        let definitions = drafts.iter().map(|draft| fixture.definition(draft)).collect();
        let jobs = fixture.store.jobs().create(definitions, NOW, &actor(), None).await.unwrap();
        assert!(jobs.iter().map(|job| &job.draft).eq(&drafts));
        assert_eq!(fixture.count("job", "1 = 1").await, 250);
        assert_eq!(fixture.count("job_params", "1 = 1").await, 250);
        assert_eq!(fixture.count("job_clock", &format!("next_fire_at = {}", after(1))).await, 250);
        assert_eq!(fixture.count("audit", "object = 'job'").await, 250);
        assert_eq!(fixture.store.jobs().get(jobs[249].id).await.unwrap().as_ref(), Some(&jobs[249]));
    }

    async fn a_batch_that_fails_leaves_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let first = fixture.create(&draft("first")).await;
        // The id of the last but one of the batch is in use, behind the store's back.
        fixture.sql(&format!("INSERT INTO job_params (job_id, params) VALUES ({}, '')", first.id + 4)).await;
        let definitions = (0..5).map(|_| fixture.definition(&each("* * * * * ?"))).collect();
        let error = fixture.store.jobs().create(definitions, NOW, &actor(), None).await.unwrap_err();
        assert!(error.is_unique_violation(), "{error}");
        assert_eq!(fixture.count("job", "1 = 1").await, 1);
        assert_eq!(fixture.count("job_clock", "1 = 1").await, 0);
        assert_eq!(fixture.count("audit", "object = 'job'").await, 1);
    }

    async fn a_repeated_key_finds_the_jobs_of_the_first_time(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let create = |names: [&str; 2]| {
            let definitions: Vec<Definition> = names.iter().map(|name| fixture.definition(&draft(name))).collect();
            let store = fixture.store.clone();
            async move { store.jobs().create(definitions, NOW, &actor(), Some("monday")).await.unwrap() }
        };
        let ids = |jobs: &[Job]| jobs.iter().map(|job| job.id).collect::<Vec<_>>();
        let (one, other) = futures_util::join!(create(["a", "b"]), create(["a", "b"]));
        assert_eq!(ids(&one), ids(&other));
        assert_eq!(ids(&create(["c", "d"]).await), ids(&one));
        assert_eq!(fixture.count("job", "1 = 1").await, 2);
    }
}
