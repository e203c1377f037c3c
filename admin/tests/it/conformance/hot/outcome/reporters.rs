//! Whose report counts for a run: that of the executor that it was sent to.

use std::collections::BTreeSet;
use std::sync::Arc;

use carillon_scheduler::RunState::{Failed, Running, Succeeded};
use carillon_store::app::executors::{Executor, ExecutorSettings};
use carillon_store::run::settle::finding::{Reporter, ReporterToken, RunReport};

use super::settle::{failure, success};
use crate::conformance::fixture::{Fixture, NOW};

fn reporter(token: ReporterToken, boot_id: Option<&str>, journal_id: Option<&str>) -> Arc<Reporter> {
    let [boot_id, journal_id] = [boot_id, journal_id].map(|id| id.map(str::to_owned));
    Arc::new(Reporter { token, boot_id, journal_id, source: "10.0.0.9".into() })
}

fn of_app(app_id: i64) -> ReporterToken {
    ReporterToken::OfApp { token_id: 7, app_id }
}

fn global(except: &[i64]) -> ReporterToken {
    ReporterToken::Global { except: Arc::new(except.iter().copied().collect::<BTreeSet<i64>>()) }
}

fn by(reporter: &Arc<Reporter>, report: RunReport) -> RunReport {
    RunReport { reporter: Some(reporter.clone()), ..report }
}

async fn sent_to(fixture: &Fixture, run_id: i64, boot_id: &str, journal_id: &str) {
    fixture
        .sql(&format!(
            "UPDATE run SET boot_id = '{boot_id}', journal_id = '{journal_id}', address = 'http://x:1/', sends = 1 \
             WHERE id = {run_id}"
        ))
        .await;
}

databases! {
    // covers: V2, S14
    async fn a_report_counts_for_runs_of_the_app_of_its_token(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running; 6]).await;
        let (own, other) = (reporter(of_app(job.app_id), None, None), reporter(of_app(job.app_id + 1), None, None));
        let (all, but_this) = (reporter(global(&[]), None, None), reporter(global(&[job.app_id]), None, None));
        let settled = fixture.settle(&[
            by(&other, success(ids[0])), by(&other, failure(ids[1])),
            by(&but_this, success(ids[2])), by(&own, success(ids[3])), by(&all, success(ids[4])), by(&own, failure(ids[5])),
        ]).await;
        assert_eq!(settled.changed, [(ids[3], Succeeded), (ids[4], Succeeded), (ids[5], Failed)]);
        let refused = |id: i64, by: &Arc<Reporter>| (id, job.app_id, Some(by.clone()));
        assert_eq!(settled.foreign, [refused(ids[0], &other), refused(ids[1], &other), refused(ids[2], &but_this)]);
        let elsewhere = reporter(global(&[job.app_id + 1]), None, None);
        assert_eq!(fixture.settle(&[by(&elsewhere, success(ids[0]))]).await.changed, [(ids[0], Succeeded)]);
    }

    // covers: V2
    async fn a_report_counts_from_the_start_or_the_journal_that_has_the_run(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running; 5]).await;
        for id in &ids {
            sent_to(&fixture, *id, "boot", "journal").await;
        }
        let here = |boot_id, journal_id| reporter(of_app(job.app_id), boot_id, journal_id);
        let (stock, another) = (here(None, None), here(Some("other"), Some("theirs")));
        let settled = fixture.settle(&[by(&stock, success(ids[0])), by(&another, success(ids[1]))]).await;
        let refused = |id: i64, by: &Arc<Reporter>| (id, job.app_id, Some(by.clone()));
        assert_eq!(settled.changed, []);
        assert_eq!(settled.foreign, [refused(ids[0], &stock), refused(ids[1], &another)]);
        let (same, restarted) = (here(Some("boot"), None), here(Some("later"), Some("journal")));
        let settled = fixture.settle(&[by(&same, success(ids[0])), by(&same, failure(ids[1])), by(&restarted, success(ids[2]))]).await;
        assert_eq!(settled.changed, [(ids[0], Succeeded), (ids[1], Failed), (ids[2], Succeeded)]);
        // The executor restarted, and lost its journal, just before the run was sent to its address.
        let executor = Executor {
            app: "billing".into(), address: "http://x:1/".into(), boot_id: Some("later".into()), capabilities: None, journal_id: None, token_id: None,
            registered_at: NOW, seen_at: NOW, expires_at: NOW + 30_000,
            announced: ExecutorSettings::default(), set: ExecutorSettings::default(), manual_since: None, draining_since: None,
        };
        let emptied = here(Some("later"), Some("new"));
        assert_eq!(fixture.settle(&[by(&emptied, success(ids[3]))]).await.changed, []);
        fixture.store.apps().register_executor(&executor).await.unwrap();
        assert_eq!(fixture.settle(&[by(&emptied, success(ids[3]))]).await.changed, [(ids[3], Succeeded)]);
        fixture.sql(&format!("UPDATE run SET address = 'http://y:1/' WHERE id = {}", ids[4])).await;
        assert_eq!(fixture.settle(&[by(&emptied, success(ids[4]))]).await.changed, [], "it is registered elsewhere");
    }

    // covers: V2
    async fn a_forged_report_does_not_take_the_place_of_the_right_one(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running; 4]).await;
        let (own, other) = (reporter(of_app(job.app_id), None, None), reporter(of_app(job.app_id + 1), None, None));
        let settled = fixture.settle(&[
            by(&other, failure(ids[0])), by(&own, success(ids[0])),
            by(&other, success(ids[1])), by(&own, success(ids[1])),
            by(&other, success(ids[2])), by(&own, failure(ids[2])),
            by(&own, failure(ids[3])), by(&other, failure(ids[3])),
        ]).await;
        assert_eq!(settled.changed, [(ids[0], Succeeded), (ids[1], Succeeded), (ids[2], Failed), (ids[3], Failed)]);
    }
}
