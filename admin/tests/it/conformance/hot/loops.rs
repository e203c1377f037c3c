//! Leases of loops: one executor at a time, and each grant under an epoch of its own.

use std::time::Duration;

use carillon_scheduler::{Durability, JobDraft};
use carillon_store::lease::loops::{Grant, LoopEnd, LoopHolder, LoopLease, Report};
use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW, actor, after, draft, each};
use crate::services::{Kind, TestDatabase};

const LONG: i64 = 600_000;

impl Fixture {
    /// The lease of a loop that an executor is to have.
    async fn free_loop(&self, job_id: i64) -> LoopLease {
        let row = format!("({job_id}, {}, TRUE, 0, 0, '', '', TRUE, 0, 0, 0, '', '')", job_id % 4);
        self.sql(&format!(
            "INSERT INTO loop_lease (job_id, shard, is_wanted, epoch, app_id, address, boot_id, is_stopped, expires_at, granted_at, reported_at, counters, report) \
             VALUES {row}"
        ))
        .await;
        self.loop_lease(job_id).await
    }

    async fn loop_lease(&self, job_id: i64) -> LoopLease {
        self.store.loops().get(job_id).await.unwrap().unwrap()
    }

    fn grant(&self, lease: &LoopLease, boot_id: &str) -> Grant {
        Grant {
            lease: lease.clone(),
            app_id: self.app.id,
            address: format!("http://{boot_id}:9999/"),
            boot_id: boot_id.to_owned(),
            counters: format!(r#"{{"before":"{boot_id}"}}"#),
        }
    }

    fn holder<'a>(&self, boot_id: &'a str) -> LoopHolder<'a> {
        LoopHolder { app_id: self.app.id, boot_id }
    }
}

fn report(job_id: i64, epoch: i64, text: &str) -> Report {
    Report { job_id, epoch, text: text.to_owned() }
}

/// Repeats a call until a lease is over: on SQLite the clock that is given says so, elsewhere the database's own passes by itself.
async fn once_over<T: Default + PartialEq>(db: &TestDatabase, ttl: i64, call: impl AsyncFn(i64) -> T) -> T {
    let now = if db.kind() == Kind::Sqlite { NOW + ttl + 1 } else { NOW };
    let over = async {
        loop {
            let answer = call(now).await;
            if answer != T::default() {
                return answer;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), over).await.unwrap()
}

databases! {
    async fn of_many_nodes_one_grants_a_loop(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let lease = fixture.free_loop(5).await;
        let racing = (0..20).map(|number| {
            let (store, grant) = (fixture.store.clone(), fixture.grant(&lease, &format!("boot-{number}")));
            tokio::spawn(async move { store.loops().grant(&[grant], NOW, LONG).await.unwrap() })
        });
        let granted = join_all(racing).await.into_iter().filter_map(Result::ok).flatten().count();
        assert_eq!(granted, 1);
        let lease = fixture.loop_lease(5).await;
        assert_eq!((lease.epoch, lease.is_granted(), lease.granted_at), (1, true, NOW));
        // Also with what it is now it is not free.
        assert_eq!(fixture.store.loops().grant(&[fixture.grant(&lease, "another")], NOW, LONG).await.unwrap(), [0i64; 0]);
        assert_eq!(fixture.store.loops().free(&[0, 1, 2, 3], NOW).await.unwrap(), [0i64; 0]);
        let end = LoopEnd { job_id: 5, app_id: fixture.app.id, epoch: 1, expires_at: lease.expires_at, is_wanted: true, boot_id: lease.boot_id, is_stopped: false };
        assert_eq!(fixture.store.loops().ends(&[1]).await.unwrap(), [end]);
        assert_eq!(fixture.store.loops().ends(&[0, 2, 3]).await.unwrap(), []);
    }

    async fn an_executor_renews_its_own_loops_with_one_statement(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        let mut grants = vec![];
        for (job_id, boot) in [(5, "a"), (6, "a"), (7, "b"), (8, "a")] {
            grants.push(fixture.grant(&fixture.free_loop(job_id).await, boot));
        }
        assert_eq!(loops.grant(&grants, NOW, LONG).await.unwrap(), [5, 6, 7, 8]);
        let sent = [report(5, 1, "five é"), report(6, 2, "six"), report(7, 1, "seven"), report(9, 1, "nine"), report(8, 1, "eight")];
        let mut renewed = loops.renew(fixture.holder("a"), &sent, NOW + 1, LONG).await.unwrap();
        renewed.sort_unstable();
        assert_eq!(renewed, [5, 8], "of another epoch, of another executor, of none");
        let kept = [fixture.loop_lease(5).await, fixture.loop_lease(6).await, fixture.loop_lease(7).await];
        assert_eq!(kept.clone().map(|it| it.report), ["five é", "", ""]);
        assert_eq!(kept.map(|it| it.reported_at), [NOW + 1, 0, 0]);
        for holder in [LoopHolder { app_id: fixture.app.id + 1, boot_id: "a" }, fixture.holder("")] {
            assert_eq!(loops.renew(holder, &sent, NOW, LONG).await.unwrap(), [0i64; 0]);
        }
        assert_eq!(loops.at_address(fixture.app.id, "http://a:9999/").await.unwrap(), [5, 6, 8]);
        assert_eq!(loops.of_app(fixture.app.id).await.unwrap(), [5, 6, 7, 8]);
    }

    async fn a_lease_that_is_over_goes_to_another_executor_and_is_not_renewed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (loops, ttl) = (fixture.store.loops(), 300);
        let lease = fixture.free_loop(5).await;
        loops.grant(&[fixture.grant(&lease, "a")], NOW, ttl).await.unwrap();
        let free = once_over(db, ttl, async |now| loops.free(&[1], now).await.unwrap()).await;
        assert_eq!(free, [5]);
        let later = if db.kind() == Kind::Sqlite { NOW + ttl + 1 } else { NOW };
        assert_eq!(loops.renew(fixture.holder("a"), &[report(5, 1, "late")], later, LONG).await.unwrap(), [0i64; 0]);
        assert_eq!(fixture.loop_lease(5).await.report, "");
        let stale = fixture.grant(&lease, "b");
        assert_eq!(loops.grant(&[stale], later, LONG).await.unwrap(), [0i64; 0], "of an epoch that is over");
        let again = fixture.grant(&fixture.loop_lease(5).await, "b");
        assert_eq!(loops.grant(&[again], later, LONG).await.unwrap(), [5]);
        let lease = fixture.loop_lease(5).await;
        assert_eq!((lease.epoch, &*lease.boot_id, &*lease.address), (2, "b", "http://b:9999/"));
        assert_eq!(lease.counters, r#"{"before":"b"}"#);
        loops.release(fixture.holder("a"), &[report(5, 1, "later still")], later).await.unwrap();
        assert_eq!(fixture.loop_lease(5).await, lease, "what was a's is b's now");
    }

    async fn a_loop_that_is_given_back_is_free_at_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        loops.grant(&[fixture.grant(&fixture.free_loop(5).await, "a")], NOW, LONG).await.unwrap();
        loops.release(fixture.holder("a"), &[report(5, 1, "the end")], NOW + 7).await.unwrap();
        let lease = fixture.loop_lease(5).await;
        assert_eq!((lease.epoch, lease.expires_at, lease.is_granted()), (1, 0, false));
        assert_eq!((&*lease.report, &*lease.address, lease.reported_at), ("the end", "http://a:9999/", NOW + 7));
        assert_eq!(loops.renew(fixture.holder("a"), &[report(5, 1, "")], NOW, LONG).await.unwrap(), [0i64; 0]);
        assert_eq!(loops.grant(&[fixture.grant(&lease, "b")], NOW, LONG).await.unwrap(), [5]);
        assert_eq!(fixture.loop_lease(5).await.report, "", "reports are of one grant");
    }

    async fn a_stopped_loop_is_free_when_its_executor_confirms_or_its_lease_is_over(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        let grants = [fixture.grant(&fixture.free_loop(5).await, "a"), fixture.grant(&fixture.free_loop(9).await, "a")];
        loops.grant(&grants, NOW, LONG).await.unwrap();
        loops.renew(fixture.holder("a"), &[report(5, 1, "so far")], NOW, LONG).await.unwrap();
        let stopped = loops.stop(&[(5, 1)]).await.unwrap();
        let [lease] = &stopped[..] else { panic!("{stopped:?}") };
        assert_eq!((lease.epoch, lease.is_granted(), &*lease.report), (2, false, "so far"));
        assert!(lease.expires_at > 0, "it may go on until then");
        assert_eq!(loops.stop(&[(5, 1)]).await.unwrap(), stopped, "it is stopped once");
        assert_eq!(loops.renew(fixture.holder("a"), &[report(5, 1, "")], NOW, LONG).await.unwrap(), [0i64; 0]);
        assert_eq!(loops.grant(&[fixture.grant(lease, "b")], NOW, LONG).await.unwrap(), [0i64; 0]);
        // Another stop than the one that is confirmed, and a loop that was not stopped.
        loops.confirm_stop(5, 1, "", NOW).await.unwrap();
        loops.confirm_stop(9, 1, "", NOW).await.unwrap();
        assert_eq!(loops.free(&[0, 1, 2, 3], NOW).await.unwrap(), [0i64; 0]);
        loops.confirm_stop(5, 2, "the end", NOW).await.unwrap();
        assert_eq!(loops.free(&[0, 1, 2, 3], NOW).await.unwrap(), [5]);
        let lease = fixture.loop_lease(5).await;
        assert_eq!(&*lease.report, "the end");
        assert_eq!(loops.grant(&[fixture.grant(&lease, "b")], NOW, LONG).await.unwrap(), [5]);
        assert_eq!(fixture.loop_lease(5).await.epoch, 3);
    }

    async fn a_grant_that_was_not_taken_is_free_at_once_unless_it_was_reported(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        let mut grants = vec![];
        for job_id in [5, 6, 7] {
            grants.push(fixture.grant(&fixture.free_loop(job_id).await, "a"));
        }
        loops.grant(&grants, NOW, LONG).await.unwrap();
        loops.renew(fixture.holder("a"), &[report(6, 1, "it has begun")], NOW + 1, LONG).await.unwrap();
        loops.give_up(&[(5, 1), (6, 1), (7, 2)]).await.unwrap();
        assert_eq!(loops.free(&[0, 1, 2, 3], NOW).await.unwrap(), [5], "not one that fires, nor another grant");
        let lease = fixture.loop_lease(5).await;
        assert_eq!((lease.epoch, lease.is_granted()), (2, false));
        assert_eq!(loops.renew(fixture.holder("a"), &[report(5, 1, "late")], NOW, LONG).await.unwrap(), [0i64; 0]);
        assert_eq!(loops.grant(&[fixture.grant(&lease, "b")], NOW, LONG).await.unwrap(), [5]);
        assert_eq!((fixture.loop_lease(5).await.epoch, fixture.loop_lease(6).await.epoch), (3, 1));
    }

    async fn a_grant_that_a_change_has_prevented_is_not_answered(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        loops.grant(&[fixture.grant(&fixture.free_loop(5).await, "a")], NOW, LONG).await.unwrap();
        loops.release(fixture.holder("a"), &[report(5, 1, "")], NOW).await.unwrap();
        let lease = fixture.loop_lease(5).await;
        let other = fixture.grant(&fixture.free_loop(6).await, "a");
        fixture.sql("UPDATE loop_lease SET epoch = epoch + 1, is_stopped = TRUE WHERE job_id = 5").await;
        assert_eq!(loops.grant(&[fixture.grant(&lease, "a"), other], NOW, LONG).await.unwrap(), [6]);
    }

    async fn a_step_back_of_the_clock_makes_leases_no_longer(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        let grants = [fixture.grant(&fixture.free_loop(5).await, "a"), fixture.grant(&fixture.free_loop(6).await, "a")];
        loops.grant(&grants, NOW, LONG).await.unwrap();
        fixture.sql("UPDATE loop_lease SET expires_at = 1000 WHERE job_id = 6").await;
        loops.end_at_the_latest(2_000, 5_000).await.unwrap();
        assert_eq!((fixture.loop_lease(5).await.expires_at, fixture.loop_lease(6).await.expires_at), (7_000, 1_000));
    }

    async fn an_unwanted_loop_is_not_granted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        let lease = fixture.free_loop(5).await;
        fixture.sql("UPDATE loop_lease SET is_wanted = FALSE").await;
        assert_eq!(loops.free(&[1], NOW).await.unwrap(), [0i64; 0]);
        assert_eq!(loops.ends(&[1]).await.unwrap(), []);
        assert_eq!(loops.grant(&[fixture.grant(&lease, "a")], NOW, LONG).await.unwrap(), [0i64; 0]);
    }

    async fn a_loop_goes_with_its_job_and_with_the_number_of_shards(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&draft("tick")).await;
        fixture.free_loop(job.id).await;
        fixture.store.leases().set_shards(7, NOW, &actor()).await.unwrap();
        assert_eq!(i64::from(fixture.loop_lease(job.id).await.shard), job.id % 7);
        fixture.store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.store.loops().get(job.id).await.unwrap(), None);
    }

    async fn a_restored_database_grants_under_epochs_that_were_never_used(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let loops = fixture.store.loops();
        loops.grant(&[fixture.grant(&fixture.free_loop(5).await, "a")], NOW, LONG).await.unwrap();
        fixture.store.leases().resync(NOW, &actor()).await.unwrap();
        let lease = fixture.loop_lease(5).await;
        assert!(lease.epoch > 1_000_000 && !lease.is_granted(), "{lease:?}");
        assert!(lease.expires_at > 0, "its executor may go on until then");
    }
}

databases! {
    async fn a_best_effort_job_has_a_lease_in_the_place_of_a_cursor(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let draft = JobDraft { durability: Durability::BestEffort, ..each("* * * * * ?") };
        let job = fixture.create(&draft).await;
        assert_eq!((job.next_fire_at, fixture.count("job_clock", "1 = 1").await), (None, 0));
        let lease = fixture.loop_lease(job.id).await;
        assert_eq!((lease.shard, lease.is_wanted, lease.epoch), (job.shard, true, 0));
        fixture.store.loops().grant(&[fixture.grant(&lease, "a")], NOW, LONG).await.unwrap();
        let jobs = fixture.store.jobs();
        let paused = jobs.set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let lease = fixture.loop_lease(job.id).await;
        assert_eq!((lease.is_wanted, lease.epoch, lease.is_granted()), (false, 2, false));
        assert!(lease.expires_at > 0, "its executor may go on until then");
        assert_eq!(jobs.get(job.id).await.unwrap(), Some(paused));
        let enabled = jobs.set_enabled(job.id, true, NOW + 1, &actor()).await.unwrap();
        assert_eq!((enabled.next_fire_at, fixture.count("job_clock", "1 = 1").await), (None, 0));
        assert_eq!((fixture.loop_lease(job.id).await.is_wanted, fixture.loop_lease(job.id).await.epoch), (true, 3));
        // As a durable job it fires by its records from now on, and back.
        let durable = JobDraft { durability: Durability::Durable, ..enabled.draft.clone() };
        let changed = jobs.update(job.id, &fixture.definition(&durable), None, NOW + 2, &actor()).await.unwrap();
        assert_eq!(changed.next_fire_at, Some(after(1)));
        assert!(!fixture.loop_lease(job.id).await.is_wanted);
        let back = jobs.update(job.id, &fixture.definition(&draft), None, NOW + 3, &actor()).await.unwrap();
        assert_eq!((back.next_fire_at, fixture.count("job_clock", "1 = 1").await), (None, 0));
        assert!(fixture.loop_lease(job.id).await.is_wanted);
        assert_eq!(fixture.store.runs().scheduled_jobs(0, 10).await.unwrap().len(), 0, "the audit expects no records");
    }
}
