//! What cannot be imported ends with a clear text, and nothing is written.

use std::time::Duration;

use carillon_import::xxl_job::{Error, ImportOptions, ImportPlan, Shape, SourceDatabase};
use carillon_store::VisibleApps;
use carillon_testkit::free_port;

use super::tables::{XxlJob, options};
use crate::conformance::fixture::Fixture;
use crate::services::{Kind, TestDatabase, on};

async fn refused(xxl: &XxlJob) -> String {
    let db = SourceDatabase::connect(&xxl.database.direct_url()).await.unwrap();
    let error = db.read(None).await.unwrap_err();
    error.to_string()
}

#[test]
fn tables_that_are_none_or_half_upgraded_are_named() {
    on(Kind::Mariadb, async |_: &TestDatabase| {
        let xxl = XxlJob::new(Shape::V23).await;
        xxl.sql("ALTER TABLE xxl_job_info DROP COLUMN misfire_strategy").await;
        let text = refused(&xxl).await;
        assert!(text.contains("no column misfire_strategy: an upgrade to 2.3 was left in the middle"), "{text}");
        xxl.sql("DROP TABLE xxl_job_group").await;
        let text = refused(&xxl).await;
        assert!(text.contains("table xxl_job_group not found"), "{text}");
    });
}

#[test]
fn an_address_that_cannot_be_one_says_what_would_be_right() {
    on(Kind::Mariadb, async |db: &TestDatabase| {
        for address in ["postgres://u@127.0.0.1/xxl_job", "mysql://u@127.0.0.1", "xxl_job"] {
            let Err(Error::Input(text)) = SourceDatabase::connect(address).await else { panic!("{address}") };
            assert!(text.contains("write mysql://user:password@host:3306/xxl_job"), "{text}");
        }
        let (head, _) =
            db.direct_url().split_once("://").map(|(head, rest)| (head.to_owned(), rest.to_owned())).unwrap();
        let rest = db.direct_url().split_once('@').unwrap().1.to_owned();
        let Err(Error::Source(text)) = SourceDatabase::connect(&format!("{head}://nobody:wrong@{rest}")).await else {
            panic!("taken")
        };
        assert!(text.contains("needs SELECT on the tables of xxl-job"), "{text}");
    });
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    on(Kind::Sqlite, async |_: &TestDatabase| {
        let port = free_port();
        let address = format!("mysql://carillon:secret-of-xxl@127.0.0.1:{port}/xxl_job");
        let Err(error) = SourceDatabase::connect_within(&address, Duration::from_millis(200)).await else {
            panic!("answered")
        };
        let text = error.to_string();
        assert!(text.contains(&format!("no answer from 127.0.0.1:{port}")), "{text}");
        assert!(!text.contains("secret-of-xxl"), "{text}");
    });
}

#[test]
fn a_wrong_zone_is_told_by_what_was_planned_and_nothing_is_written() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.group(1, "orders", "").await;
        // Noon in Shanghai.
        xxl.job(1, &[("schedule_conf", "'0 0 12 * * ?'"), ("trigger_next_time", "1760068800000")]).await;
        let make = async |zone: &str| {
            let options = ImportOptions { zone: zone.into(), ..options() };
            ImportPlan::make(&xxl.read().await, &fixture.store, &options).await
        };
        let Err(Error::Input(text)) = make("Europe/Berlin").await else { panic!("taken") };
        assert!(
            text.starts_with("--zone: 0 of 1 running cron jobs are planned by Europe/Berlin, 1 by Asia/Shanghai"),
            "{text}"
        );
        let Err(Error::Input(text)) = make("Mars/Phobos").await else { panic!("taken") };
        assert_eq!(text, "--zone: `Mars/Phobos` is no time zone");
        assert!(make("PRC").await.is_ok());
        let apps = fixture.store.apps().list(&VisibleApps::All).await.unwrap();
        assert_eq!(apps.len(), 1, "a plan writes nothing");
        assert_eq!(fixture.store.imports().next_job_id().await.unwrap(), 1);
    });
}
