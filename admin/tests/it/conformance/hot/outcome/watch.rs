//! Running runs that need a look, and runs in a wrong shard.

use carillon_scheduler::RunState;
use carillon_scheduler::RunState::{Claimed, Running};
use carillon_store::app::executors::{Executor, ExecutorSettings};
use carillon_store::run::cancel::KillRequest;
use carillon_store::run::open::checked::PageCursor;
use carillon_store::run::open::running::MonitorQuery;

use crate::conformance::fixture::{Fixture, NOW};

fn at(address: &str, boot_id: Option<&str>, expires_at: i64) -> Executor {
    Executor {
        app: "billing".into(),
        address: address.into(),
        boot_id: boot_id.map(Into::into),
        capabilities: None,
        journal_id: None,
        token_id: None,
        registered_at: 1,
        seen_at: 1,
        expires_at,
        announced: ExecutorSettings::default(),
        set: ExecutorSettings::default(),
        manual_since: None,
        draining_since: None,
    }
}

databases! {
    // covers: I6
    async fn runs_are_watched_by_lease_by_boot_and_by_time(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking_with("tick", |draft| draft.timeout_seconds = 604_800).await;
        for executor in [at("live", Some("b1"), NOW + 9_000), at("over", Some("b1"), NOW - 40_000), at("new", Some("b2"), NOW + 9_000), at("stock", None, NOW + 9_000)] {
            fixture.store.apps().register_executor(&executor).await.unwrap();
        }
        let ids = fixture.runs_in(&job, &[Running; 7]).await;
        for (id, address, boot, sent_at) in [
            (ids[0], "live", "'b1'", NOW), (ids[1], "over", "'b1'", NOW), (ids[2], "new", "'b1'", NOW), (ids[3], "stock", "NULL", NOW),
            (ids[4], "gone", "NULL", NOW), (ids[5], "live", "'b1'", NOW - 604_900_000), (ids[6], "stock", "'b1'", NOW),
        ] {
            fixture.sql(&format!("UPDATE run SET address = '{address}', boot_id = {boot}, sent_at = {sent_at} WHERE id = {id}")).await;
        }
        let look = MonitorQuery { shard: job.shard, silent_since: NOW - 30_000, over_since: NOW - 60_000, held_over_since: NOW };
        let (found, next) = fixture.store.runs().watched(look, 0).await.unwrap();
        let told: Vec<_> = found.iter().map(|run| run.run_id).collect();
        assert_eq!((told, next), (vec![ids[1], ids[2], ids[4], ids[5]], None));
        assert!(found[2].registered.is_none() && found[1].has_restarted() && !found[0].has_restarted());
        assert_eq!(found[3].ends_by(), Some(NOW - 604_900_000 + 604_800_000));
        assert_eq!(found[0].app.as_deref(), Some("billing"));
        assert_eq!(fixture.store.runs().watched(look, ids[4]).await.unwrap().0.len(), 1);
        let earlier = fixture.store.runs().runs_of_earlier_boots("new", "b2").await.unwrap();
        assert_eq!(earlier.iter().map(|run| run.run_id).collect::<Vec<_>>(), [ids[2]]);
        fixture.store.runs().note_boot(ids[2], "b2").await.unwrap();
        assert_eq!(fixture.store.runs().runs_of_earlier_boots("new", "b2").await.unwrap().len(), 0);
        assert_eq!(fixture.store.runs().watched(look, 0).await.unwrap().0.len(), 3);
        let beside = async |run: usize| fixture.store.runs().last_end_beside(&found[run], &[]).await.unwrap();
        assert_eq!(beside(3).await, None);
        fixture.sql(&format!("UPDATE run SET state = 9, finished_at = {} WHERE id = {}", NOW - 5, ids[0])).await;
        assert_eq!(beside(3).await, Some(NOW - 5), "it was there at the same time");
    }

    async fn a_workflow_is_over_its_time_without_the_grace_of_an_executor(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking_with("tick", |draft| draft.timeout_seconds = 100).await;
        let ids = fixture.runs_in(&job, &[Running; 3]).await;
        fixture.store.apps().register_executor(&at("live", None, NOW + 9_000)).await.unwrap();
        for (id, follow, sent_at) in [(ids[0], 32, NOW - 100_001), (ids[1], 32, NOW - 99_000), (ids[2], 0, NOW - 150_000)] {
            fixture.sql(&format!("UPDATE run SET address = 'live', follow = {follow}, sent_at = {sent_at} WHERE id = {id}")).await;
        }
        let look = MonitorQuery { shard: job.shard, silent_since: NOW, over_since: NOW - 60_000, held_over_since: NOW };
        let (found, _) = fixture.store.runs().watched(look, 0).await.unwrap();
        assert_eq!(found.iter().map(|run| (run.run_id, run.is_held)).collect::<Vec<_>>(), [(ids[0], true)]);
    }

    // covers: D2
    async fn runs_of_a_job_at_an_address_are_told_apart_by_when_they_were_sent(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running; 4]).await;
        for (place, id) in ids.iter().enumerate() {
            let address = if place == 3 { "b" } else { "a" };
            fixture.sql(&format!("UPDATE run SET address = '{address}', sent_at = {} WHERE id = {id}", NOW + place as i64)).await;
        }
        let runs = fixture.store.runs().runs_to_check(&ids).await.unwrap();
        let run = |place: usize| &runs[&ids[place]].run;
        let mut beside = vec![];
        for place in 0..4 {
            let it = fixture.store.runs().running_beside(run(place)).await.unwrap();
            beside.push((it.earlier, it.later));
        }
        assert_eq!(beside, [(false, true), (true, true), (true, false), (false, false)]);
        let runs = fixture.store.runs();
        let result = async |place: usize, failures_count: bool| {
            runs.last_result_after(run(place), &[], failures_count).await.unwrap()
        };
        assert_eq!(result(0, true).await, None);
        fixture.sql(&format!("UPDATE run SET state = 9 WHERE id = {}", ids[1])).await;
        assert_eq!(result(0, false).await, Some(NOW + 1));
        assert_eq!(result(2, false).await, None, "it was sent before");
        assert_eq!(result(3, false).await, None, "it was sent elsewhere");
    }

    // covers: D1
    async fn results_of_later_runs_are_found_by_their_instants_and_told_from_the_word_of_a_person(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running; 2]).await;
        for (place, id) in ids.iter().enumerate() {
            fixture.sql(&format!("UPDATE run SET address = 'a', sent_at = {} WHERE id = {id}", NOW + place as i64)).await;
        }
        let (far, fire_no) = (ids[0] + 1_000_000, NOW + 60_000);
        fixture.sql(&format!("UPDATE run SET id = {far}, fire_no = {fire_no} WHERE id = {}", ids[1])).await;
        let found = fixture.store.runs().runs_to_check(&ids).await.unwrap();
        let run = &found[&ids[0]].run;
        let result = async |instants: &[i64], failures_count: bool| {
            fixture.store.runs().last_result_after(run, instants, failures_count).await.unwrap()
        };
        let end = async |state: RunState, reason: &str| {
            let state = state.code();
            fixture.sql(&format!("UPDATE run SET state = {state}, reason = '{reason}', result_code = 500 WHERE id = {far}")).await;
        };
        end(RunState::Succeeded, "result").await;
        assert_eq!(result(&[], false).await, None, "a million ids away");
        assert_eq!(result(&[fire_no], false).await, Some(NOW + 1));
        end(RunState::Succeeded, "operator").await;
        assert_eq!(result(&[fire_no], true).await, None, "a person has said so");
        end(RunState::Failed, "result").await;
        assert_eq!((result(&[fire_no], false).await, result(&[fire_no], true).await), (None, Some(NOW + 1)));
    }

    async fn long_running_runs_are_found_page_by_page_and_read_again(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking_with("tick", |draft| draft.block = carillon_scheduler::BlockStrategy::CoverEarly).await;
        let ids = fixture.runs_in(&job, &[Running; 5]).await;
        // As if two holders had marked them; those of the first come first.
        for (place, id) in [2, 0, 4, 1, 3].into_iter().zip(&ids) {
            fixture.sql(&format!("UPDATE run SET epoch = {}, due_at = {}, sent_at = {}, address = 'a', boot_id = {} WHERE id = {id}",
                place / 3, NOW + place, NOW + 7, if place == 4 { "'b'" } else { "NULL" })).await;
        }
        let ordered = [ids[1], ids[3], ids[0], ids[4], ids[2]];
        let page = async |behind: PageCursor| fixture.store.runs().long_running(job.shard, behind).await.unwrap();
        let (all, next) = page(PageCursor::default()).await;
        assert_eq!((all.iter().map(|run| run.run_id).collect::<Vec<_>>(), next), (ordered.to_vec(), PageCursor::default()));
        assert!(all[4].is_own && !all[3].is_own && all[0].sent_at == NOW + 7 && all[0].job_id == job.id);
        let behind = PageCursor { epoch: 0, due_at: NOW + 2, run_id: ids[0] };
        assert_eq!(page(behind).await.0.iter().map(|run| run.run_id).collect::<Vec<_>>(), ordered[3..]);
        fixture.sql(&format!("UPDATE run SET state = 9 WHERE id = {}", ids[1])).await;
        let found = fixture.store.runs().runs_to_check(&ids).await.unwrap();
        assert_eq!((found.len(), found.contains_key(&ids[1])), (4, false));
        let it = &found[&ids[0]];
        assert_eq!((it.run.address.as_deref(), it.run.sent_at, it.block), (Some("a"), NOW + 7, Some((carillon_scheduler::BlockStrategy::CoverEarly, 0))));
        assert!(it.run.registered.is_none());
    }

    async fn kills_are_wished_agreed_to_and_unconfirmed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let id = fixture.runs_in(&job, &[Running]).await[0];
        let store = &fixture.store;
        let found = async |before: i64| (
            store.runs().unacknowledged_kills(job.shard, before).await.unwrap().len(),
            store.runs().unconfirmed_kills(job.shard, before).await.unwrap().len(),
        );
        store.runs().record_kill_agreed(id, NOW).await.unwrap();
        assert_eq!(found(NOW + 100).await, (0, 0), "nobody has wished it");
        assert_eq!(store.runs().request_kill(id, NOW, None).await.unwrap(), Some(KillRequest::Noted));
        assert_eq!((found(NOW).await, found(NOW + 1).await), ((0, 0), (1, 0)));
        store.runs().record_kill_agreed(id, NOW + 50).await.unwrap();
        assert_eq!((found(NOW + 50).await, found(NOW + 51).await), ((0, 0), (0, 1)));
    }

    // covers: I12
    async fn runs_that_wait_for_nothing_are_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Running, Claimed, Claimed]).await;
        fixture.sql(&format!("UPDATE run SET reason = 'overlap' WHERE id = {}", ids[2])).await;
        let threshold = job.draft.misfire_threshold_seconds * 1000;
        let overdue = async |after: i64| {
            let found = fixture.store.runs().count_overdue_runs(job.shard, NOW + threshold + after, 0).await;
            found.unwrap()
        };
        assert_eq!((overdue(0).await, overdue(1).await), (None, Some((ids[0], 1))));
        assert_eq!(overdue(60_000).await, Some((ids[0], 2)));
    }

    async fn a_run_that_its_job_lets_wait_for_long_is_not_taken_for_forgotten(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let patient = fixture.ticking_with("patient", |draft| draft.misfire_threshold_seconds = 600).await;
        let id = fixture.runs_in(&patient, &[Claimed]).await[0];
        let overdue = async |before: i64, since: i64| fixture.store.runs().count_overdue_runs(patient.shard, before, since).await.unwrap();
        assert_eq!(overdue(NOW + 600_000, 0).await, None);
        assert_eq!(overdue(NOW + 600_001, 0).await, Some((id, 1)));
        // None could be sent until a second after its time.
        assert_eq!(overdue(NOW + 601_000, NOW + 1_000).await, None);
        assert_eq!(overdue(NOW + 601_001, NOW + 1_000).await, Some((id, 1)));
    }
}
