//! Delayed triggers: recorded by requests, released by the holder of their shard.

use std::collections::HashSet;

use carillon_scheduler::{Cause, Millis, RunState};
use carillon_store::run::trigger::delayed::change::TargetTrigger;
use carillon_store::run::trigger::delayed::insert::{DelayedRequest, NewDelayed, RecordedTriggers};
use carillon_store::run::trigger::delayed::release::{DueTrigger, Released};
use carillon_store::{Error, Job, ScheduledFilter};
use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW, actor, after};
use crate::conformance::hot::rows::holder;

fn item(due_at: Millis) -> NewDelayed {
    NewDelayed { due_at, expires_at: None, params: None, parts: None, priority: None, address: None }
}

fn request(job: &Job, items: Vec<NewDelayed>) -> DelayedRequest {
    DelayedRequest {
        job: job.id.into(),
        items,
        idempotency_key: None,
        digest: String::new(),
        traceparent: None,
        is_list: false,
    }
}

impl Fixture {
    async fn record(&self, request: &DelayedRequest) -> RecordedTriggers {
        self.store.delayed().insert(request, NOW, &actor()).await.unwrap().unwrap()
    }

    /// The ids of triggers at these times.
    async fn delayed_at(&self, job: &Job, times: &[Millis]) -> Vec<i64> {
        self.record(&request(job, times.iter().map(|at| item(*at)).collect())).await.ids
    }

    async fn due_triggers(&self, shard: i32, until: Millis) -> Vec<DueTrigger> {
        self.store.delayed().due(shard, Millis::MIN, until, 100).await.unwrap()
    }

    async fn release(&self, shard: i32, epoch: i64, due: &[DueTrigger], now: Millis) -> Released {
        self.store.delayed().release(&holder(shard, epoch), due, now).await.unwrap()
    }

    async fn triggers(&self) -> i64 {
        self.count("delayed_trigger", "1 = 1").await
    }
}

databases! {
    async fn a_trigger_waits_outside_of_the_runs_and_becomes_one(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let shard = jobs[0].shard;
        let epoch = fixture.take(shard).await;
        let given = NewDelayed { params: Some("x".repeat(60_000)), address: Some("http://x:1/".into()), ..item(after(5)) };
        let first = fixture.record(&request(&jobs[0], vec![given, item(after(70))])).await;
        assert!(first.is_new && first.shard == shard && first.ids.len() == 2);
        // A sequence of their own: a million of them leaves no gap in the numbers of runs, and a script keeps them exact.
        assert!(first.ids.iter().all(|id| (1 << 52..1 << 53).contains(id)), "{first:?}");
        let other = fixture.delayed_at(&jobs[1], &[after(4)]).await;
        assert_eq!(fixture.count("run", "1 = 1").await, 0, "what waits is no run");
        let due = fixture.due_triggers(shard, after(10)).await;
        assert_eq!(due.iter().map(|due| due.id).collect::<Vec<_>>(), [other[0], first.ids[0]], "the earliest first");
        let released = fixture.release(shard, epoch, &due, NOW).await;
        assert_eq!((released.runs.len(), released.expired), (2, 0));
        let row = fixture.row(released.runs[1]).await;
        assert_eq!((row.state(), row.epoch, row.owner.as_deref(), row.sends), (RunState::Claimed, epoch, Some("a"), 0));
        assert_eq!((row.cause, row.fire_no, row.part, row.parts, row.attempt), (Cause::Delayed.code(), first.ids[0], 0, 1, 1));
        assert_eq!((row.scheduled_at, row.due_at, row.app_id, row.job_id), (after(5), after(5), jobs[0].app_id, jobs[0].id));
        assert_eq!(fixture.count("run_input", &format!("run_id = {} AND LENGTH(params) = 60000", row.id)).await, 1);
        assert_eq!((fixture.count("run_input", "1 = 1").await, fixture.triggers().await), (1, 1));
        let found = fixture.store.runs().waiting_with_ids(shard, epoch, &released.runs).await.unwrap().runs;
        assert_eq!(found.iter().map(|run| run.bound_to.as_deref()).collect::<Vec<_>>(), [None, Some("http://x:1/")]);
        assert_eq!(fixture.store.delayed().run_of(first.ids[0]).await.unwrap(), Some(row.id));
        // The same batch again, as after a COMMIT whose answer was lost.
        assert_eq!(fixture.release(shard, epoch, &due, NOW).await, Released { gone: 2, ..Released::default() });
        assert_eq!(fixture.count("run", "1 = 1").await, 2);
    }

    async fn a_release_under_another_epoch_writes_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let stale = fixture.take(job.shard).await;
        fixture.take(job.shard).await;
        fixture.delayed_at(&job, &[after(1)]).await;
        let due = fixture.due_triggers(job.shard, after(1)).await;
        for epoch in [stale, stale + 2, 0] {
            let refused = fixture.store.delayed().release(&holder(job.shard, epoch), &due, NOW).await;
            assert!(matches!(refused, Err(Error::Fenced(shard)) if shard == job.shard), "{refused:?}");
        }
        assert_eq!((fixture.count("run", "1 = 1").await, fixture.triggers().await), (0, 1));
    }

    async fn a_key_that_is_repeated_finds_what_it_has_recorded(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let epoch = fixture.take(job.shard).await;
        let keyed = |is_list, times: &[Millis]| DelayedRequest {
            idempotency_key: Some("order-4711".into()), is_list, ..request(&job, times.iter().map(|at| item(*at)).collect())
        };
        let racing = (0..20).map(|_| {
            let (store, request) = (fixture.store.clone(), keyed(false, &[after(5)]));
            tokio::spawn(async move { store.delayed().insert(&request, NOW, &actor()).await.unwrap().unwrap() })
        });
        let made: Vec<RecordedTriggers> = join_all(racing).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(made.iter().filter(|made| made.is_new).count(), 1);
        assert_eq!(made.iter().map(|made| made.ids[0]).collect::<HashSet<_>>().len(), 1);
        // It is found whatever became of it.
        fixture.release(job.shard, epoch, &fixture.due_triggers(job.shard, after(5)).await, NOW).await;
        let again = fixture.record(&keyed(false, &[after(50)])).await;
        assert_eq!(again, RecordedTriggers { is_new: false, ..made[0].clone() });
        // The key lives with its trigger, and for its days after that.
        assert_eq!(fixture.count("idempotency", &format!("created_at = {}", after(5))).await, 1);
        let other = DelayedRequest { digest: "other".into(), ..keyed(false, &[after(50)]) };
        let refused = fixture.store.delayed().insert(&other, NOW, &actor()).await.unwrap_err();
        assert_eq!(refused.to_string(), "this idempotency key was sent before with another request");
        // A list has keys of its own, and its order.
        let list = fixture.record(&keyed(true, &[after(9), after(8), after(7)])).await;
        assert!(list.is_new && list.ids.len() == 3);
        assert_eq!(fixture.count("idempotency", "items = 3").await, 1, "one row for a request");
        let again = fixture.record(&keyed(true, &[after(1)])).await;
        assert_eq!(again, RecordedTriggers { is_new: false, ..list });
        assert_eq!((fixture.triggers().await, fixture.count("run", "1 = 1").await), (3, 1));
    }

    async fn a_request_leaves_one_entry_in_the_audit(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let before = fixture.count("audit", "1 = 1").await;
        let items = (0..1_000).map(|place| item(after(place))).collect();
        let made = fixture.record(&DelayedRequest { is_list: true, ..request(&job, items) }).await;
        assert_eq!((made.ids.len() as i64, fixture.triggers().await), (1_000, 1_000));
        assert_eq!(fixture.count("audit", "1 = 1").await, before + 1);
        assert_eq!(fixture.count("audit", "action = 'run' AND object = 'job' AND detail LIKE '%\"count\":1000%'").await, 1);
        let missing = DelayedRequest { job: (job.id + 99).into(), ..request(&job, vec![item(after(1))]) };
        assert_eq!(fixture.store.delayed().insert(&missing, NOW, &actor()).await.unwrap(), None);
    }

    async fn a_trigger_is_moved_until_its_time_has_come(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let epoch = fixture.take(job.shard).await;
        let expiring = NewDelayed { expires_at: Some(after(8)), ..item(after(5)) };
        let id = fixture.record(&request(&job, vec![expiring])).await.ids[0];
        let stale = fixture.due_triggers(job.shard, after(5)).await;
        let elsewhere = TargetTrigger::of_app(id, job.app_id + 1);
        assert_eq!(fixture.store.delayed().move_to(elsewhere, after(60), NOW, &actor()).await.unwrap(), None);
        assert_eq!(fixture.store.delayed().cancel(elsewhere, NOW, &actor()).await.unwrap(), None);
        let moved = fixture.store.delayed().move_to(id, after(60), NOW, &actor()).await.unwrap();
        assert_eq!(moved, Some(job.shard));
        let none = Released { gone: 1, ..Released::default() };
        assert_eq!(fixture.release(job.shard, epoch, &stale, NOW).await, none, "it is elsewhere by now");
        let due = fixture.due_triggers(job.shard, after(60)).await;
        assert_eq!(due, [DueTrigger { id, job_id: job.id, due_at: after(60), expires_at: after(63) }]);
        fixture.release(job.shard, epoch, &due, NOW).await;
        assert_eq!(fixture.store.delayed().move_to(id, after(90), NOW, &actor()).await.unwrap(), None);
        assert_eq!(fixture.store.delayed().move_to(id + 99, after(90), NOW, &actor()).await.unwrap(), None);
        assert_eq!(fixture.count("audit", "action = 'update' AND object = 'run'").await, 1);
    }

    async fn a_cancelled_trigger_is_a_cancelled_run(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let given = NewDelayed { params: Some("x".into()), ..item(after(5)) };
        let id = fixture.record(&request(&job, vec![given])).await.ids[0];
        let run_id = fixture.store.delayed().cancel(id, NOW, &actor()).await.unwrap().unwrap();
        let row = fixture.row(run_id).await;
        assert_eq!((row.state(), row.fire_no, row.finished_at, row.epoch), (RunState::Cancelled, id, Some(NOW), 0));
        assert_eq!((row.scheduled_at, row.due_at), (NOW, NOW), "it is no run of the time that it was planned for");
        assert_eq!(fixture.count("audit", &format!("action = 'kill' AND detail LIKE '%\"due_at\":{}%'", after(5))).await, 1);
        assert_eq!(fixture.count("run", "reason = 'operator'").await, 1);
        assert_eq!(fixture.count("run_input", &format!("run_id = {run_id}")).await, 1);
        assert_eq!((fixture.triggers().await, fixture.store.delayed().cancel(id, NOW, &actor()).await.unwrap()), (0, None));
    }

    async fn of_a_release_and_a_cancellation_at_once_one_wins(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let epoch = fixture.take(job.shard).await;
        for _ in 0..20 {
            let id = fixture.delayed_at(&job, &[after(5)]).await[0];
            let due = fixture.due_triggers(job.shard, after(5)).await;
            let by = actor();
            let holder = holder(job.shard, epoch);
            let (released, cancelled) = tokio::join!(
                fixture.store.delayed().release(&holder, &due, NOW),
                fixture.store.delayed().cancel(id, NOW, &by)
            );
            let (released, cancelled) = (released.unwrap().runs.len(), usize::from(cancelled.unwrap().is_some()));
            assert_eq!(released + cancelled, 1);
            assert_eq!(fixture.count("run", &format!("fire_no = {id}")).await, 1);
            assert_eq!(fixture.triggers().await, 0);
        }
    }

    async fn what_is_reached_after_its_end_is_cancelled(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let epoch = fixture.take(job.shard).await;
        let until = |seconds: Option<i64>| NewDelayed { expires_at: seconds.map(after), ..item(after(5)) };
        fixture.record(&request(&job, vec![until(Some(20)), until(None), until(Some(10))])).await;
        let due = fixture.due_triggers(job.shard, after(5)).await;
        let released = fixture.release(job.shard, epoch, &due, after(15)).await;
        assert_eq!((released.runs.len(), released.expired), (2, 1));
        let ended = fixture.rows_where("reason = 'misfire'").await;
        assert_eq!(ended.iter().map(|row| (row.state(), row.fire_no)).collect::<Vec<_>>(), [(RunState::Cancelled, due[2].id)]);
        assert_eq!(fixture.count("run", "state = 0").await, 2);
        // They were due at second 5. How long they may wait for an executor counts from now on, and the end goes on to the run.
        let found = fixture.store.runs().waiting_with_ids(job.shard, epoch, &released.runs).await.unwrap().runs;
        let times: Vec<_> = found.iter().map(|run| (run.scheduled_at, run.due_at, run.expires_at)).collect();
        assert_eq!(times, [(after(5), after(15), Some(after(20))), (after(5), after(15), None)]);
    }

    async fn triggers_of_a_deleted_job_become_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let (shard, epoch) = (jobs[0].shard, fixture.take(jobs[0].shard).await);
        let given = NewDelayed { params: Some("x".into()), ..item(after(5)) };
        fixture.record(&request(&jobs[0], vec![given.clone(), given.clone()])).await;
        fixture.record(&request(&jobs[1], vec![given])).await;
        let due = fixture.due_triggers(shard, after(5)).await;
        fixture.store.jobs().delete(jobs[0].id, NOW, &actor()).await.unwrap();
        assert_eq!((fixture.triggers().await, fixture.count("run_input", "1 = 1").await), (1, 1));
        assert_eq!(fixture.count("audit", "action = 'delete' AND detail LIKE '%\"delayed\":2%'").await, 1);
        // A release that has found them before; and rows that were left.
        assert_eq!(fixture.release(shard, epoch, &due, NOW).await.runs.len(), 1);
        let row = format!("({shard}, {}, 900001, {}, 0, 1)", after(6), jobs[0].id);
        let columns = "shard, due_at, id, job_id, expires_at, created_at";
        fixture.sql(&format!("INSERT INTO delayed_trigger ({columns}) VALUES {row}")).await;
        let orphan = fixture.due_triggers(shard, after(6)).await;
        assert_eq!(fixture.release(shard, epoch, &orphan, NOW).await, Released { gone: 1, ..Released::default() });
        assert_eq!((fixture.triggers().await, fixture.count("run", "1 = 1").await), (0, 1));
        fixture.sql(&format!("INSERT INTO delayed_trigger ({columns}) VALUES {row}")).await;
        assert_eq!(fixture.store.delayed().discard_orphans().await.unwrap(), 1);
        assert_eq!(fixture.triggers().await, 0);
    }

    async fn of_a_request_and_a_deletion_at_once_nothing_is_left_behind(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for _ in 0..5 {
            let job = fixture.ticking("tick").await;
            let requests = (0..6).map(|_| {
                let (store, request) = (fixture.store.clone(), request(&job, vec![item(after(5))]));
                tokio::spawn(async move { store.delayed().insert(&request, NOW, &actor()).await.unwrap() })
            });
            let store = fixture.store.clone();
            let deletion = tokio::spawn(async move { store.jobs().delete(job.id, NOW, &actor()).await.unwrap() });
            join_all(requests).await.into_iter().for_each(|done| drop(done.unwrap()));
            deletion.await.unwrap();
        }
        assert_eq!(fixture.triggers().await, 0);
    }

    async fn triggers_are_listed_by_job_and_time(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (job, other) = (fixture.ticking("one").await, fixture.ticking("two").await);
        let ids = fixture.delayed_at(&job, &[after(30), after(10), after(20), after(20)]).await;
        fixture.delayed_at(&other, &[after(15)]).await;
        let filter = ScheduledFilter { job_id: job.id, limit: 3, ..ScheduledFilter::default() };
        let page = fixture.store.delayed().list(&filter).await.unwrap();
        let found: Vec<i64> = page.items.iter().map(|run| run.id).collect();
        assert_eq!(found, [ids[1], ids[2], ids[3]]);
        let rest = fixture.store.delayed().list(&ScheduledFilter { after: page.next, ..filter.clone() }).await.unwrap();
        assert_eq!((rest.items.iter().map(|run| run.id).collect::<Vec<_>>(), rest.next), (vec![ids[0]], None));
        let between = ScheduledFilter { from: Some(after(20)), to: Some(after(30)), ..filter };
        assert_eq!(fixture.store.delayed().list(&between).await.unwrap().items.len(), 2);
        // The whole parameters are read of one run alone.
        let long = NewDelayed { params: Some("é".repeat(60_000)), ..item(after(5)) };
        let long = fixture.record(&request(&other, vec![long])).await.ids[0];
        let page = fixture.store.delayed().list(&ScheduledFilter { job_id: other.id, limit: 1, ..ScheduledFilter::default() }).await;
        assert_eq!(page.unwrap().items[0].params, Some("é".repeat(200)));
        let whole = fixture.store.delayed().get(long).await.unwrap().unwrap().params;
        assert_eq!(whole, Some("é".repeat(60_000)));
        let run = fixture.store.delayed().get(ids[0]).await.unwrap().unwrap();
        assert_eq!((run.job.as_str(), run.app.as_str(), run.due_at, run.created_at), ("one", "billing", after(30), NOW));
        assert_eq!(fixture.store.apps().app_of_run(ids[0]).await.unwrap(), Some(fixture.app.id));
    }

    async fn triggers_follow_another_number_of_shards(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let shards = i64::from(fixture.store.leases().shard_count().await.unwrap());
        let mut job = fixture.ticking("tick").await;
        while job.id % shards == job.id % 7 {
            job = fixture.ticking("tick").await;
        }
        fixture.delayed_at(&job, &[after(5), after(500), after(5_000)]).await;
        fixture.store.leases().set_shards(7, NOW, &actor()).await.unwrap();
        let shard = fixture.store.jobs().get(job.id).await.unwrap().unwrap().shard;
        assert_eq!(i64::from(shard), job.id % 7);
        assert_ne!(shard, job.shard);
        assert_eq!(fixture.count("delayed_trigger", &format!("shard = {shard}")).await, 3);
        // A shard that does not exist is read by no scan.
        fixture.sql("UPDATE delayed_trigger SET shard = 900").await;
        let alarm = fixture.store.runs().repair_misplaced(&mut Default::default(), NOW).await.unwrap();
        assert!(alarm.is_some());
        assert_eq!(fixture.count("delayed_trigger", &format!("shard = {shard}")).await, 3);
    }
}
