//! A node without its Redis says so on every page, and nowhere to who has not signed in.

use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{ManualClock, zone_data};
use sea_orm::ConnectionTrait as _;

use super::client::{Console, START};
use super::pages::register;
use super::run;
use crate::conformance::fixture::actor;
use crate::services::{Kind, TestDatabase};

// covers: H4
#[test]
fn every_page_says_that_the_node_is_degraded() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        // No server listens there.
        config.redis_url = Some("redis://127.0.0.1:1/".into());
        let console = Console::on(config, Arc::new(ManualClock::new(START))).await;
        let admin = console.admin().await;
        let says_so = async |path: &str| {
            let page = admin.get(path).await.body;
            page.contains("data-testid=\"degraded\"")
        };
        assert!(!says_so("/").await, "nothing was asked yet");
        console.engine.services.coordinator.step().await;
        for path in ["/", "/jobs", "/runs", "/apps"] {
            assert!(says_so(path).await, "{path}");
        }
        let page = console.visitor().get("/login").await.body;
        assert!(!page.contains("degraded"), "not to strangers");
    });
}

// covers: H28
#[test]
fn nodes_of_different_versions_say_so() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        let console = Console::on(config, Arc::new(ManualClock::new(START))).await;
        let admin = console.admin().await;
        let actor = actor();
        let made = console.store.apps().create("orders", "Orders", START, &actor);
        made.await.unwrap();
        console.job(|_| ()).await;
        let metrics = || console.engine.metrics_text();
        console.engine.services.coordinator.step().await;
        assert!(metrics().contains("carillon_version_skew 0"));
        let page = admin.get("/").await.body;
        assert!(page.contains(&format!("tzdata {}", zone_data().version())), "{page}");
        assert!(!page.contains("data-testid=\"skew\""));

        let raw = sea_orm::Database::connect(database.direct_url()).await.unwrap();
        let older = format!(
            "INSERT INTO node (id, address, version, seen_at) VALUES ('old', 'http://10.0.0.2:8080/', '0.1.0, tzdata 2019c', {START})"
        );
        raw.execute_unprepared(&older).await.unwrap();
        console.engine.services.coordinator.step().await;
        assert!(metrics().contains("carillon_version_skew 1"));
        let page = admin.get("/").await.body;
        assert!(page.contains("data-testid=\"skew\"") && page.contains("tzdata 2019c"));
    });
}

// covers: 001-47
#[test]
fn more_nodes_than_shards_are_told() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        config.shards = Some(2);
        let console = Console::on(config, Arc::new(ManualClock::new(START))).await;
        let admin = console.admin().await;
        let actor = actor();
        let made = console.store.apps().create("orders", "Orders", START, &actor);
        made.await.unwrap();
        console.job(|_| ()).await;
        let mut shown = vec![];
        for node in ["a", "b", "c"] {
            let store = &console.store;
            store.leases().report_node(node, "http://10.0.0.2:8080/", START).await.unwrap();
            let page = admin.get("/").await.body;
            shown.push(page.contains("data-testid=\"idle-nodes\""));
        }
        assert_eq!(shown, [false, false, true]);
    });
}

// covers: B18
#[test]
fn executors_that_have_not_registered_again_are_waited_for() {
    run(async {
        let database = TestDatabase::new(Kind::Postgres).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        let clock = Arc::new(ManualClock::new(START));
        let before = Console::on(config.clone(), clock.clone()).await;
        let actor = actor();
        before.store.apps().create("orders", "Orders", START, &actor).await.unwrap();
        before.job(|_| ()).await;
        register(&before, "http://10.0.0.2:9999/", "orders").await;
        before.store.leases().report_node("before", "http://10.0.0.1:8080/", START).await.unwrap();
        clock.advance(Duration::from_secs(100));
        let after = Console::on(config, clock.clone()).await;
        let shown = async || after.admin().await.get("/").await.body;
        let page = shown().await;
        assert!(
            page.contains("has registered again since this node started") && !page.contains("is online:"),
            "{page}"
        );
        clock.advance(Duration::from_secs(91));
        let page = shown().await;
        assert!(page.contains("is online: the jobs of this app fail"), "{page}");
    });
}

// covers: B18
#[test]
fn runs_that_were_sent_late_are_shown_for_a_day_with_the_time_of_the_last() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        admin.submit("/jobs/1/run", &[("key", "k")]).await;
        let raw = sea_orm::Database::connect(console.database_url()).await.unwrap();
        let sent = format!(
            "UPDATE run SET state = 9, due_at = {START}, sent_at = {START} + 120000, finished_at = {START} + 120000"
        );
        raw.execute_unprepared(&sent).await.unwrap();
        // Since then 15 minutes have passed: the line says that it is over.
        console.advance_minutes(15);
        let page = admin.get("/").await.body;
        let line = page.lines().find(|line| line.contains("data-testid=\"late\"")).unwrap();
        assert!(line.contains("1 of the newest runs was sent late") && line.contains("the last one was due"), "{line}");
        assert!(line.contains("15 min ago"), "{line}");
        console.advance_minutes(24 * 60);
        let page = console.admin().await.get("/").await.body;
        assert!(!page.contains("data-testid=\"late\""), "{page}");
    });
}

#[test]
fn the_zone_data_is_shown_and_current_names_are_offered() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        console.job(|_| ()).await;
        let data = zone_data();
        let shown = format!("tzdata {} ({})", data.version(), data.source());
        assert!(console.visitor().get("/readyz").await.body.ends_with(&format!("\n{shown}\n")));
        for page in ["/", "/nodes"] {
            let page = admin.get(page).await.body;
            assert!(page.contains("data-testid=\"zone-data\"") && page.contains(&shown), "{page}");
        }
        let zones: Vec<String> = serde_json::from_str(&admin.get("/zones").await.body).unwrap();
        let has = |name: &str| zones.iter().any(|zone| zone == name);
        assert!(
            has("Asia/Kolkata") && has("Europe/Kyiv") && has("UTC") && !has("Asia/Calcutta") && !has("Europe/Kiev")
        );
    });
}
