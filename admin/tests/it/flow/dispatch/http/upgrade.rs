//! Nodes of different versions: a request is saved when all of them can send it.

use carillon_engine::manage::Error;
use carillon_scheduler::{HttpDraft, JobDraft};
use sea_orm::{ConnectionTrait as _, Database};

use super::{allow_loopback, job, with_database};
use crate::conformance::fixture::actor;
use crate::flow::node::START;
use crate::services::Kind;

// covers: 001-44
#[test]
fn a_request_is_saved_when_each_live_node_can_send_it() {
    with_database(Kind::Sqlite, allow_loopback, async |node, db| {
        let raw = Database::connect(db.direct_url()).await.unwrap();
        let before = job(node, "http://127.0.0.1:9/", |_, _| {}).await;
        let old =
            "INSERT INTO node (id, address, version, seen_at) VALUES ('old', 'http://10.0.0.9/', '0.1.0, tzdata 2019c'";
        raw.execute_unprepared(&format!("{old}, {START})")).await.unwrap();
        let changed = JobDraft { http: Some(HttpDraft::new("http://127.0.0.1:8/")), ..before.draft.clone() };
        let update = async |draft: &JobDraft| node.engine.jobs().update(before.id, draft, None, &actor()).await;
        let Err(Error::Invalid(faults)) = update(&changed).await else { panic!("it was saved") };
        let fault = "http: cannot be saved while http://10.0.0.9/ is of an earlier version, which cannot send it";
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [fault]);
        // What is there already can be changed otherwise.
        let described = JobDraft { description: "described".into(), ..before.draft.clone() };
        update(&described).await.unwrap();
        raw.execute_unprepared("UPDATE node SET features = 'http2' WHERE id = 'old'").await.unwrap();
        update(&changed).await.unwrap();
    });
}
