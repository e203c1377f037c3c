//! `carillon audit`, on the real binary, beside a process that has the database open.

use carillon_scheduler::{Clock as _, JobDraft, ScheduleDraft, SystemClock};
use carillon_store::{Database, Definition, Store};
use sea_orm::ConnectionTrait as _;
use tempfile::tempdir;

use super::on;
use crate::conformance::fixture::actor;
use crate::program::ended;
use crate::services::runtime;

#[test]
fn every_difference_is_told_with_its_reason_and_only_the_unexplained_fails() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("carillon.db");
    let audit = |arguments: &[&str]| ended(on(folder.path(), &[&["audit"], arguments].concat()));
    runtime().block_on(async {
        let store = Store::open(&Database::Sqlite { path: path.clone() }).await.unwrap();
        store.migrate().await.unwrap();
        store.leases().ensure_shards(Some(1)).await.unwrap();
        let made_at = SystemClock::new().now() - 120_000;
        let app = store.apps().create("orders", "Orders", made_at, &actor()).await.unwrap();
        let mut draft = JobDraft::new("orders", "Settle", "settle");
        draft.schedule = ScheduleDraft::fixed_rate(10);
        let definition = Definition::check(&app, &draft, made_at).unwrap();
        let job = store.jobs().create(vec![definition], made_at, &actor(), None).await.unwrap().remove(0);

        let (code, out, err) = audit(&["--since", "1h"]);
        assert_eq!(code, Some(0), "{err}");
        assert!(
            out.contains("job 1 `Settle`: ") && out.contains(" missing, ") && out.contains("not planned yet"),
            "{out}"
        );
        assert!(out.contains("1 job since ") && out.contains(" 0 instants unexplained"), "{out}");

        // Its cursor has moved without a record.
        let database = sea_orm::Database::connect(format!("sqlite://{}", path.display())).await.unwrap();
        let later = format!("UPDATE job_clock SET next_fire_at = {} WHERE job_id = {}", made_at + 600_000, job.id);
        database.execute_unprepared(&later).await.unwrap();
        let (code, out, err) = audit(&["--job", "1", "--json"]);
        assert_eq!(code, Some(1), "{err}");
        assert!(err.contains("instants differ from their schedule"), "{err}");
        let line: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert_eq!((&line["reason"], &line["explained"]), (&"unexplained".into(), &false.into()));
        assert!(line["count"].as_i64().unwrap() >= 11, "{line}");

        // A workflow of which nothing runs.
        for stalled in [
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) \
             VALUES (50, 1, 1, 0, 1, 50, 0, 1, 1, 1, 1, 2, 1, 0, 32)",
            "INSERT INTO workflow_run (run_id, job_id, version) VALUES (50, 1, 1)",
        ] {
            database.execute_unprepared(stalled).await.unwrap();
        }
        let (code, out, err) = audit(&["--job", "1"]);
        let line = "run 50 of job 1: the workflow is on its way, but nothing of it runs or is to follow, and no person holds it";
        assert!(out.lines().any(|it| it == line) && out.contains("; 1 fault of workflows and items"), "{out}");
        assert_eq!(code, Some(1), "{err}");
        // And items of which nothing runs.
        for stalled in [
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) \
             VALUES (60, 1, 1, 0, 1, 60, 0, 1, 1, 1, 1, 2, 1, 0, 40)",
            "INSERT INTO map_run (run_id, items, bytes, reduces, released, deliveries, in_flight, failed) VALUES (60, 3, 3, FALSE, 2, 1, 1, 0)",
        ] {
            database.execute_unprepared(stalled).await.unwrap();
        }
        let (_, out, _) = audit(&["--job", "1"]);
        let line = "run 60 of job 1: its items are on their way, but nothing of them runs or is to follow";
        assert!(out.lines().any(|it| it == line) && out.contains("; 2 faults of workflows and items"), "{out}");
        let (_, out, _) = audit(&["--json"]);
        let items: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!((&items["found"], &items["run_id"]), (&"stalled_items".into(), &60.into()));
        database.execute_unprepared("DELETE FROM map_run WHERE run_id = 60").await.unwrap();
        let (_, out, _) = audit(&["--json"]);
        let line: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!((&line["found"], &line["run_id"], &line["node"]), (&"stalled".into(), &50.into(), &().into()));
    });
    let (code, _, err) = audit(&["--job", "9"]);
    assert!(code == Some(2) && err.contains("there is no job 9"), "{err}");
    let (code, _, err) = audit(&["--since", "soon"]);
    assert!(code == Some(2) && err.contains("no span of time"), "{err}");
}
