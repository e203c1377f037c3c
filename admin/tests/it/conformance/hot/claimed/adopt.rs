//! What a holder finds: orphans of others, new fires, and what waits under its own epoch.

use carillon_scheduler::{Cause, RunState};
use carillon_store::Actor;
use carillon_store::Job;
use carillon_store::run::trigger::NewTrigger;

use crate::conformance::fixture::{Fixture, NOW, Row, after};
use crate::conformance::hot::rows::{claim, holder};

/// A run of that epoch, due at that second.
async fn under(fixture: &Fixture, job: &Job, epoch: i64, second: i64, state: RunState) -> i64 {
    let row = Row { fire_no: after(second), state: state.code(), ..Row::default() };
    let id = fixture.run(job, row).await;
    fixture.sql(&format!("UPDATE run SET epoch = {epoch} WHERE id = {id}")).await;
    id
}

databases! {
    async fn what_waits_under_a_lower_epoch_is_adopted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let other = loop {
            let other = fixture.ticking("elsewhere").await;
            if other.shard != job.shard { break other; }
        };
        let claimed = RunState::Claimed;
        let ours = [
            under(&fixture, &job, 0, 3, claimed).await,
            under(&fixture, &job, 4, 1, claimed).await,
            under(&fixture, &job, 5, 2, claimed).await,
        ];
        under(&fixture, &job, 0, 6, claimed).await;
        under(&fixture, &job, 6, 4, claimed).await;
        for (second, state) in (10..).zip([RunState::Sending, RunState::Running, RunState::Unknown, RunState::Cancelled]) {
            under(&fixture, &job, 4, second - 20, state).await;
        }
        under(&fixture, &other, 4, 1, claimed).await;
        let holder = holder(job.shard, 5);
        assert_eq!(fixture.store.runs().adopt(&holder, None, after(5), 1_000).await.unwrap().len(), 2);
        for id in [ours[0], ours[1]] {
            let row = fixture.row(id).await;
            assert_eq!((row.epoch, row.owner.as_deref(), row.state()), (5, Some("a"), claimed));
        }
        let waiting = fixture.store.runs().waiting(job.shard, 5, after(5), 10).await.unwrap();
        assert_eq!(waiting.iter().map(|run| run.run_id).collect::<Vec<_>>(), [ours[1], ours[2], ours[0]], "earliest first");
        let first = fixture.store.runs().waiting(job.shard, 5, after(5), 1).await.unwrap();
        assert_eq!(first, waiting[..1]);
        assert_eq!(fixture.store.runs().adopt(&holder, None, after(5), 1_000).await.unwrap().len(), 0, "once");
        assert_eq!(fixture.store.runs().adopt(&holder, None, after(6), 1_000).await.unwrap().len(), 1, "in its time");
    }

    // covers: 003-23
    async fn what_a_killed_holder_has_claimed_is_found_by_the_next(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let before = fixture.take(job.shard).await;
        let claims = [claim(&job, &[(1, after(1)), (2, after(2))])];
        fixture.store.runs().claim(&holder(job.shard, before), &claims, NOW).await.unwrap();
        // It dies here, before anything of it is in a ring.
        let epoch = fixture.take(job.shard).await;
        assert_eq!(fixture.store.runs().adopt(&holder(job.shard, epoch), None, after(5), 1_000).await.unwrap().len(), 2);
        let waiting = fixture.store.runs().waiting(job.shard, epoch, after(5), 10).await.unwrap();
        assert_eq!(waiting.iter().map(|run| (run.run_id, run.due_at)).collect::<Vec<_>>(), [(1, after(1)), (2, after(2))]);
        let run = &waiting[1];
        assert_eq!((run.job_id, run.shard, run.epoch, run.cause), (job.id, job.shard, epoch, Cause::Schedule));
        assert_eq!((run.fire_no, run.part, run.parts, run.attempt, run.scheduled_at), (after(2), 0, 1, 1, after(2)));
        assert_eq!(run.bound_to, None);
    }

    async fn a_run_that_is_bound_says_to_whom(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let fire = NewTrigger { parts: None, job: job.id.into(), cause: Cause::Manual, params: None, address: Some("http://x:1/".into()), idempotency_key: None, traceparent: None, priority: None, rerun_of: None, is_only_rerun: false };
        let fired = fixture.store.runs().insert_triggered(&fire, NOW, &Actor::engine()).await.unwrap().unwrap();
        let epoch = fixture.take(job.shard).await;
        fixture.store.runs().adopt(&holder(job.shard, epoch), None, after(5), 1_000).await.unwrap();
        let waiting = fixture.store.runs().waiting(job.shard, epoch, after(5), 10).await.unwrap();
        assert_eq!((waiting.len(), waiting[0].run_id, waiting[0].bound_to.as_deref()), (1, fired.run_id, Some("http://x:1/")));
        // The part of a broadcast has its address in its own row.
        fixture.sql(&format!("UPDATE run SET address = 'http://y:1/' WHERE id = {}", fired.run_id)).await;
        let waiting = fixture.store.runs().waiting(job.shard, epoch, after(5), 10).await.unwrap();
        assert_eq!(waiting[0].bound_to.as_deref(), Some("http://y:1/"));
    }

    // covers: F24
    async fn no_more_is_adopted_than_there_is_room_for(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        for second in 1..=5 {
            under(&fixture, &job, 0, second, RunState::Claimed).await;
        }
        let holder = holder(job.shard, 5);
        let adopt = async |most| fixture.store.runs().adopt(&holder, None, after(9), most).await.unwrap().len();
        assert_eq!([adopt(0).await, adopt(2).await, adopt(9).await, adopt(9).await], [0, 2, 3, 0]);
    }

    // covers: F23
    async fn a_bounded_look_finds_the_new_runs_that_are_due_since_then(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let claimed = RunState::Claimed;
        under(&fixture, &job, 0, 1, claimed).await;
        let new = under(&fixture, &job, 0, 3, claimed).await;
        under(&fixture, &job, 4, 2, claimed).await;
        let holder = holder(job.shard, 5);
        let adopted = fixture.store.runs().adopt(&holder, Some(after(2)), after(5), 9).await.unwrap();
        assert_eq!(adopted, [new]);
        assert_eq!(fixture.store.runs().adopt(&holder, None, after(5), 9).await.unwrap().len(), 2);
    }

    // covers: F18
    async fn a_run_that_cannot_be_read_does_not_hide_the_others(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let (strange, plain) = (
            under(&fixture, &job, 5, 1, RunState::Claimed).await,
            under(&fixture, &job, 5, 2, RunState::Claimed).await,
        );
        fixture.sql(&format!("UPDATE run SET cause = 77 WHERE id = {strange}")).await;
        let found = fixture.store.runs().waiting_with_ids(job.shard, 5, &[strange, plain]).await.unwrap();
        assert_eq!(found.runs.iter().map(|run| run.run_id).collect::<Vec<_>>(), [plain]);
        assert_eq!(found.unreadable, [(strange, "a stored value cannot be read: cause 77".to_owned())]);
    }
}
