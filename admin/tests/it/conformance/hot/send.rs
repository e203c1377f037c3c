//! The ways on from a mark: back, to another address, and into parts.

use carillon_scheduler::Cause;
use carillon_scheduler::RunState::{Cancelled, Claimed, Running, Sending, Succeeded};
use carillon_store::Actor;
use carillon_store::Job;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::expand::Expansion;
use carillon_store::run::trigger::NewTrigger;
use carillon_store::run::unmark::Unsent;

use super::mark::mark;
use super::rows::holder;
use crate::conformance::fixture::{Fixture, NOW, Row, actor, after};

/// A fire by hand.
pub fn fire(job: &Job) -> NewTrigger {
    NewTrigger {
        parts: None,
        job: job.id.into(),
        cause: Cause::Manual,
        params: None,
        priority: None,
        address: None,
        idempotency_key: None,
        traceparent: None,
        rerun_of: None,
        is_only_rerun: false,
    }
}

/// The same, adopted.
pub async fn waiting(fixture: &Fixture, job: &Job, params: Option<&str>) -> ClaimedRun {
    let fire = NewTrigger { params: params.map(Into::into), ..fire(job) };
    waiting_fire(fixture, job, &fire).await
}

pub async fn waiting_fire(fixture: &Fixture, job: &Job, fire: &NewTrigger) -> ClaimedRun {
    fixture.store.runs().insert_triggered(fire, NOW, &Actor::engine()).await.unwrap().unwrap();
    let epoch = fixture.take(job.shard).await;
    fixture.store.runs().adopt(&holder(job.shard, epoch), None, after(5), 1_000).await.unwrap();
    let mut found = fixture.store.runs().waiting(job.shard, epoch, after(5), 10).await.unwrap();
    found.pop().unwrap()
}

databases! {
    async fn what_was_not_written_goes_back(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed; 5]).await;
        let marks: Vec<_> = ids.iter().map(|id| mark(*id)).collect();
        fixture.store.runs().mark(&marks, -9_007_199_254_740_993, "a", NOW).await.unwrap();
        let token = -9_007_199_254_740_993;
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {}", ids[3])).await;
        let unsent = |index: usize, token, bound| Unsent { run_id: ids[index], token, bound };
        let back = [unsent(3, token, true), unsent(0, token, false), unsent(1, token, true), unsent(2, token + 1, true)];
        assert_eq!(fixture.store.runs().unmark(&back, NOW).await.unwrap().done, 2);
        for (id, address) in [(ids[0], None), (ids[1], Some("http://x:1/"))] {
            let row = fixture.row(id).await;
            assert_eq!((row.state(), row.sends, row.mark_token, row.marked_at, row.boot_id), (Claimed, 0, None, None, None));
            assert_eq!(row.address.as_deref(), address);
        }
        assert_eq!(fixture.row(ids[2]).await.state(), Sending, "another token");
        assert_eq!(fixture.row(ids[3]).await.state(), Running, "accepted meanwhile");
        assert_eq!(fixture.store.runs().unmark(&back, NOW).await.unwrap().done, 0, "once");
        assert_eq!(fixture.store.runs().mark(&[mark(ids[0])], 3, "b", NOW).await.unwrap().len(), 1, "and may be marked again");
    }

    // covers: I10
    async fn what_goes_back_to_a_disabled_or_deleted_job_is_cancelled(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let mut unsent = vec![];
        for job in &jobs {
            for (id, cause) in [(job.id * 10, 0), (job.id * 10 + 1, 1)] {
                fixture.run(job, Row { id, cause, fire_no: after(id), ..Row::default() }).await;
                fixture.store.runs().mark(&[mark(id)], 5, "a", NOW).await.unwrap();
                unsent.push(Unsent { run_id: id, token: 5, bound: false });
            }
        }
        let settled = Unsent { run_id: 7, ..unsent[0] };
        fixture.run(&jobs[0], Row { id: 7, state: 9, ..Row::default() }).await;
        fixture.store.jobs().set_enabled(jobs[0].id, false, NOW, &actor()).await.unwrap();
        fixture.store.jobs().delete(jobs[1].id, NOW, &actor()).await.unwrap();
        unsent.push(settled);
        assert_eq!(fixture.store.runs().unmark(&unsent, NOW + 1).await.unwrap().done, 4);
        let mut told = vec![];
        for run in &unsent {
            let row = fixture.row(run.run_id).await;
            told.push((row.state(), row.sends, row.reason.unwrap_or_default(), row.finished_at));
        }
        let cancelled = |reason: &str| (Cancelled, 0, reason.to_owned(), Some(NOW + 1));
        let by_hand = (Claimed, 0, String::new(), None);
        assert_eq!(told[..2], [cancelled("disabled"), by_hand]);
        assert_eq!(told[2..4], [cancelled("deleted"), cancelled("deleted")]);
        assert_eq!(told[4].0, Succeeded);
    }

    async fn the_next_address_is_noted_only_by_the_one_who_marked(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed; 2]).await;
        fixture.store.runs().mark(&[mark(ids[0])], 5, "a", NOW).await.unwrap();
        assert!(fixture.store.runs().redirect_run(ids[0], 5, "http://y:1/", Some("boot"), Some("journal")).await.unwrap());
        assert!(fixture.store.runs().redirect_run(ids[0], 5, "http://y:1/", Some("boot"), Some("journal")).await.unwrap(), "twice is once");
        let row = fixture.row(ids[0]).await;
        assert_eq!((row.address.as_deref(), row.boot_id.as_deref(), row.sends), (Some("http://y:1/"), Some("boot"), 1));
        assert!(!fixture.store.runs().redirect_run(ids[0], 6, "http://z:1/", None, None).await.unwrap());
        assert!(!fixture.store.runs().redirect_run(ids[1], 5, "http://z:1/", None, None).await.unwrap());
        fixture.sql(&format!("UPDATE run SET state = 3 WHERE id = {}", ids[0])).await;
        assert!(!fixture.store.runs().redirect_run(ids[0], 5, "http://z:1/", None, None).await.unwrap());
        assert_eq!(fixture.row(ids[0]).await.address.as_deref(), Some("http://y:1/"));
    }

    async fn a_broadcast_gets_one_part_for_each_executor(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let run = waiting(&fixture, &job, Some("by hand")).await;
        let addresses = ["http://x:1/", "http://y:1/", "http://z:1/"].map(String::from);
        let broadcast = Expansion::Broadcast(addresses.to_vec());
        let stale = ClaimedRun { epoch: run.epoch - 1, ..run.clone() };
        assert_eq!(fixture.store.runs().expand(&stale, &broadcast, "a").await.unwrap(), [], "another epoch");
        assert_eq!(fixture.store.runs().expand(&run, &Expansion::Broadcast(vec![]), "a").await.unwrap(), [], "nobody is there");
        let parts = fixture.store.runs().expand(&run, &broadcast, "a").await.unwrap();
        let rows = fixture.rows_where("1 = 1").await;
        assert_eq!((parts.len(), rows.len()), (3, 3));
        for ((part, row), (index, address)) in parts.iter().zip(&rows).zip((0..).zip(&addresses)) {
            assert_eq!((part.run_id, part.part, part.parts, part.bound_to.as_ref()), (row.id, index, 3, Some(address)));
            assert_eq!((row.part, row.parts, row.address.as_ref(), row.state()), (index, 3, Some(address), Claimed));
            assert_eq!((row.fire_no, row.attempt, row.due_at, row.epoch), (run.fire_no, 1, run.due_at, run.epoch));
            assert_eq!((row.cause, row.app_id, row.shard, row.owner.as_deref()), (1, job.app_id, job.shard, Some("a")));
        }
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let given = fixture.store.jobs().given_params(&ids).await.unwrap();
        assert_eq!(given.len(), 3);
        assert!(given.iter().all(|(_, given)| given.text == "by hand" && !given.is_of_part));
        // Found again by a scan exactly as they are known here.
        let mut found = fixture.store.runs().waiting(job.shard, run.epoch, after(5), 10).await.unwrap();
        found.sort_by_key(|run| run.part);
        assert_eq!(found, parts);
        assert_eq!(fixture.store.runs().expand(&run, &broadcast, "a").await.unwrap(), [], "once");
        assert_eq!(fixture.count("run", "1 = 1").await, 3);
    }

    async fn a_broadcast_without_parameters_of_its_own_has_none_in_its_parts(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let run = waiting(&fixture, &job, None).await;
        let broadcast = Expansion::Broadcast(["http://x:1/", "http://y:1/"].map(String::from).to_vec());
        assert_eq!(fixture.store.runs().expand(&run, &broadcast, "a").await.unwrap().len(), 2);
        assert_eq!(fixture.count("run_input", "1 = 1").await, 0);
    }
}
