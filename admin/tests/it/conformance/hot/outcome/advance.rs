//! What follows from ends: once, whichever node does it and whenever, also after a crash between the end and what follows.

use carillon_scheduler::RunState::{Running, Succeeded};
use carillon_scheduler::{JobDraft, ScheduleDraft};
use carillon_store::Job;
use carillon_store::run::settle::finding::SettleContext;
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, success};
use crate::conformance::hot::rows::{claim, holder};

/// Behind the instants of the links.
const END: SettleContext = SettleContext { now: FOLLOW_UP.now + 60_000, ..FOLLOW_UP };

impl Fixture {
    /// The end alone: its node dies before what follows.
    async fn end(&self, run_id: i64) {
        let settled = self.store.runs().settle(&[success(run_id)], &END).await.unwrap();
        assert_eq!((settled.changed, settled.followed), (vec![(run_id, Succeeded)], vec![run_id]));
    }

    async fn advance(&self, run_id: i64) -> Vec<i32> {
        let advanced = self.store.runs().advance(&[run_id], END.now).await.unwrap();
        assert_eq!((advanced.held_up, advanced.alarms), (vec![], vec![]));
        advanced.to_scan
    }

    async fn waiting(&self) -> i64 {
        self.count("follow_up", "1 = 1").await
    }

    /// A link of a chain that runs, claimed from the cursor that the job has.
    async fn running_link(&self, job: &Job, id: i64, parts: i32) -> i64 {
        let epoch = self.take(job.shard).await;
        let job = self.store.jobs().get(job.id).await.unwrap().unwrap();
        let mut claim = claim(&job, &[(id, job.next_fire_at.unwrap())]);
        claim.next_fire_at = None;
        assert!(self.store.runs().claim(&holder(job.shard, epoch), &[claim], NOW).await.unwrap().is_empty());
        self.sql(&format!("UPDATE run SET state = 2, parts = {parts} WHERE id = {id}")).await;
        id
    }

    async fn cursors_of(&self, job: &Job) -> usize {
        self.cursors().await.iter().filter(|(id, _)| *id == job.id).count()
    }
}

fn delayed(draft: &mut JobDraft) {
    draft.schedule = ScheduleDraft::fixed_delay(7);
}

databases! {
    // covers: I13
    async fn an_end_waits_for_what_follows_until_some_node_does_it_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let child = fixture.ticking("child").await;
        let parent = fixture.ticking_with("parent", |draft| draft.children = vec![child.id]).await;
        let run = fixture.runs_in(&parent, &[Running]).await[0];
        fixture.sql("UPDATE run SET follow = 2").await;
        fixture.end(run).await;
        assert_eq!((fixture.waiting().await, fixture.count("run", "cause = 3").await), (1, 0));
        let shards = [i64::from(parent.shard)];
        let forgotten = async |before| fixture.store.runs().forgotten_ends(&shards, before, 10).await.unwrap();
        assert_eq!(forgotten(END.now).await, Vec::<i64>::new(), "its own node has some time");
        assert_eq!(forgotten(END.now + 1).await, [run]);
        let elsewhere = [i64::from(parent.shard) + 1];
        let found = fixture.store.runs().forgotten_ends(&elsewhere, END.now + 1, 10).await.unwrap();
        assert_eq!(found, Vec::<i64>::new(), "another node holds the shard");
        // Several at once, of which one finds the child's row free, and one that comes late.
        let list = [run];
        let all = (0..5).map(|_| fixture.store.runs().advance(&list, END.now));
        let all = futures_util::future::join_all(all).await;
        let woken: Vec<i32> = all.into_iter().flat_map(|advanced| advanced.unwrap().to_scan).collect();
        assert_eq!((woken, fixture.advance(run).await), (vec![child.shard], vec![]));
        assert_eq!((fixture.waiting().await, fixture.count("run", "cause = 3").await), (0, 1));
    }

    // covers: I13
    async fn an_end_of_which_a_job_is_locked_waits_and_holds_up_no_other(db: &TestDatabase) {
        // SQLite locks its whole file, for one statement.
        if db.kind() == Kind::Sqlite {
            return;
        }
        let fixture = Fixture::new(db).await;
        let children = [fixture.ticking("one").await, fixture.ticking("two").await];
        let mut runs = vec![];
        for child in &children {
            let parent = fixture.ticking_with("parent", |draft| draft.children = vec![child.id]).await;
            runs.push(fixture.runs_in(&parent, &[Running]).await[0]);
        }
        fixture.sql("UPDATE run SET follow = 2").await;
        for run in &runs {
            fixture.end(*run).await;
        }
        let other = fixture.raw.begin().await.unwrap();
        other.execute_unprepared(&format!("SELECT id FROM job WHERE id = {} FOR UPDATE", children[0].id)).await.unwrap();
        let advanced = fixture.store.runs().advance(&runs, END.now).await.unwrap();
        assert_eq!((advanced.held_up, advanced.to_scan), (vec![runs[0]], vec![children[1].shard]));
        other.rollback().await.unwrap();
        assert_eq!(fixture.advance(runs[0]).await, [children[0].shard]);
    }

    // covers: I13
    async fn a_chain_that_an_edit_has_taken_on_gets_no_second_cursor_from_an_end_before_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking_with("delayed", delayed).await;
        let first = fixture.running_link(&job, 1 << 40, 1).await;
        fixture.end(first).await;
        for enabled in [false, true] {
            fixture.store.jobs().set_enabled(job.id, enabled, NOW, &actor()).await.unwrap();
        }
        assert_eq!((fixture.cursors_of(&job).await, fixture.waiting().await), (1, 0));
        fixture.running_link(&job, 1 << 41, 1).await;
        assert_eq!((fixture.advance(first).await, fixture.cursors_of(&job).await), (vec![], 0), "its link is on its way");
    }

    // covers: I13
    async fn the_ends_of_all_parts_of_a_link_set_one_cursor(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking_with("delayed", delayed).await;
        let first = fixture.running_link(&job, 1 << 40, 2).await;
        let second = first + 1;
        let columns = "job_id, app_id, shard, cause, fire_no, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow";
        let text = format!("INSERT INTO run (id, part, {columns}) SELECT {second}, 1, {columns} FROM run WHERE id = {first}");
        fixture.sql(&text).await;
        fixture.end(first).await;
        assert_eq!((fixture.advance(first).await, fixture.cursors_of(&job).await), (vec![], 0), "a part is open");
        // The end of the first one is looked at again after that of the second, when the next link is on its way.
        let again = format!("INSERT INTO follow_up (id, run_id, kind, job_id, at) VALUES ({}, {first}, 1, {}, {NOW})", first * 8 + 1, job.id);
        fixture.sql(&again).await;
        fixture.end(second).await;
        assert_eq!((fixture.advance(second).await, fixture.cursors_of(&job).await), (vec![job.shard], 1));
        fixture.running_link(&job, 1 << 41, 1).await;
        assert_eq!((fixture.advance(first).await, fixture.cursors_of(&job).await), (vec![], 0));
    }
}
