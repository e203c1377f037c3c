use carillon_scheduler::ScheduleDraft;
use sea_orm::ConnectionTrait as _;

use super::client::{Console, START};
use super::run;

/// Inserts a range of skipped fires.
async fn skipped(console: &Console, job: i64, from: i64, reason: &str) {
    let file = console.config.data_dir.join("carillon.db");
    let database = sea_orm::Database::connect(format!("sqlite://{}", file.display())).await.unwrap();
    let text = format!(
        "INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES ({job}, {from}, {}, 3, 'skip', '{reason}', 1)",
        from + 120_000
    );
    database.execute_unprepared(&text).await.unwrap();
}

#[test]
fn skipped_fires_are_listed_by_filters() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/misfires").await.body.contains("No fire was skipped"));
        for name in ["Settle", "Charge"] {
            console.job(|job| (job.name, job.schedule) = (name.into(), ScheduleDraft::fixed_rate(60))).await;
        }
        skipped(&console, 1, START - 600_000, "misfire").await;
        skipped(&console, 2, START - 300_000, "coalesced").await;
        let page = admin.get("/misfires").await.body;
        for text in [">Settle</a>", ">Charge</a>", "misfire policy: skip", "only the latest of several late fires runs"]
        {
            assert!(page.contains(text), "{text}: {page}");
        }
        for job in ["1", "%231", "Settle"] {
            let page = admin.get(&format!("/misfires?job={job}")).await.body;
            assert!(page.contains(">Settle</a>") && !page.contains(">Charge</a>"), "{job}: {page}");
        }
        let page = admin.get("/misfires?to=2025-10-09T08:47&app=orders").await.body;
        assert!(page.contains(">Settle</a>") && !page.contains(">Charge</a>"), "{page}");
        let explain = page.split("/jobs/1/explain?at=").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(admin.get(&format!("/jobs/1/explain?at={explain}")).await.status, 200);
        assert!(admin.get("/misfires?job=7").await.body.contains("No skipped fire matches the filter"));
        for wrong in ["job=x", "app=none", "from=noon", "after=x"] {
            let answer = admin.get(&format!("/misfires?{wrong}")).await;
            assert!(answer.status == 400 && answer.body.contains("data-testid=\"wrong-filter\""), "{wrong}");
        }
        assert!(admin.get("/jobs/1").await.body.contains("/misfires?job=1"));
    });
}

#[test]
fn the_gap_audit_lists_differences_with_their_reasons() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/gaps").await.body.contains("There is no such job"));
        console.job(|job| job.schedule = ScheduleDraft::fixed_rate(60)).await;
        assert!(admin.get("/gaps?hours=1").await.body.contains("1 job: 0 differences"));
        // Nothing claims here, so instants go by without a record.
        console.advance_minutes(10);
        let page = admin.get("/gaps?hours=24&job=1").await.body;
        assert!(page.contains("missing, explained") && page.contains("not planned yet"), "{page}");
        assert!(page.contains("0 instants unexplained") && page.contains("/jobs/1/explain?at="), "{page}");
        let by_name = admin.get("/gaps?hours=24&job=Close+the+day").await;
        assert!(by_name.body.contains("missing, explained"), "{}", by_name.body);
        let wrong = admin.get("/gaps?job=abc").await;
        assert!(wrong.status == 400 && wrong.body.contains("No job is called “abc”"), "{}", wrong.body);
    });
}

#[test]
fn nodes_are_shown_with_their_shards() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let (store, node) = (&console.store, &console.engine.cx.node);
        store.leases().report_node(node, "http://10.0.0.1:8080/", START).await.unwrap();
        store.leases().report_node("gone", "http://10.0.0.2:8080/", START - 60_000).await.unwrap();
        let shards = store.leases().list().await.unwrap();
        for lease in &shards {
            store.leases().take(lease.shard, node, START, 30_000).await.unwrap();
        }
        let page = admin.get("/nodes").await.body;
        let all = shards.len();
        for text in ["http://10.0.0.1:8080/", "this node", "alive", "silent", &format!("{all} of {all}"), "tzdata"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(!page.contains("data-testid=\"unheld\""), "{page}");
        console.advance_minutes(2);
        assert!(admin.get("/nodes").await.body.contains("data-testid=\"unheld\""));
    });
}
