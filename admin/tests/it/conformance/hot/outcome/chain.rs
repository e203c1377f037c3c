//! Fixed delays, whose cursor hangs on the end of a run, and fires that are counted.

use carillon_scheduler::RunState::{Cancelled, Claimed, Failed, Running, Succeeded};
use carillon_scheduler::ScheduleDraft;
use carillon_store::Job;
use carillon_store::run::open::overlapping::Verdicts;
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use crate::conformance::fixture::{Fixture, NOW, actor, after};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, success};
use crate::conformance::hot::rows::{claim, holder};

impl Fixture {
    async fn delayed(&self, retries: i32) -> Job {
        let change = |draft: &mut carillon_scheduler::JobDraft| {
            draft.schedule = ScheduleDraft::fixed_delay(7);
            draft.retries = retries;
        };
        self.ticking_with("delayed", change).await
    }

    /// Its only instant is claimed; the run's id.
    async fn claimed_link(&self, job: &Job) -> i64 {
        let epoch = self.take(job.shard).await;
        let mut claim = claim(job, &[(self.free_id(), job.next_fire_at.unwrap())]);
        claim.next_fire_at = None;
        let changed = self.store.runs().claim(&holder(job.shard, epoch), &[claim], NOW).await;
        assert!(changed.unwrap().is_empty());
        let rows = self.rows_where(&format!("job_id = {} AND (follow & 1) <> 0", job.id)).await;
        assert_eq!((rows.len(), self.cursor(job).await), (1, None), "the chain hangs on the run");
        rows[0].id
    }

    fn free_id(&self) -> i64 {
        1 << 40
    }

    async fn cursor(&self, job: &Job) -> Option<i64> {
        let cursors = self.cursors().await;
        cursors.iter().find(|(id, _)| *id == job.id).map(|(_, at)| *at)
    }

    async fn stalled_fixed_delays(&self, job: &Job) -> Vec<i64> {
        let (broken, next) = self.store.runs().stalled_fixed_delays(job.shard, 0).await.unwrap();
        assert_eq!(next, 0, "one page has them all");
        broken
    }

    /// Jobs with a fixed delay and a cursor, in the shard of another.
    async fn delayed_like(&self, job: &Job, ids: std::ops::Range<i64>) {
        let columns = "app_id, shard, name, handler, schedule_kind, schedule_text, anchor_at, catch_up, misfire, misfire_threshold_ms, \
             route, block, timeout_seconds, retries, enabled, revision, created_at, updated_at";
        let list: Vec<String> = ids.clone().map(|id| format!("({id})")).collect();
        for list in list.chunks(500) {
            let text = format!(
                "INSERT INTO job (id, {columns}) SELECT n.id, {} FROM job AS j, (SELECT {}) AS n WHERE j.id = {}",
                columns
                    .split(", ")
                    .map(|column| format!("j.{}", column.trim()))
                    .collect::<Vec<_>>()
                    .join(", ")
                    .replace("j.name", "CONCAT('n', n.id)"),
                list.join(" AS id UNION ALL SELECT "),
                job.id
            );
            self.sql(&text).await;
        }
        self.sql(&format!(
            "INSERT INTO job_clock (shard, next_fire_at, job_id, revision, delayed_job) SELECT shard, {}, id, 1, id FROM job WHERE id >= {}",
            after(9),
            ids.start
        ))
        .await;
    }

    async fn run_it(&self, run_id: i64) {
        self.sql(&format!("UPDATE run SET state = 2 WHERE id = {run_id}")).await;
    }
}

/// 7 s after the settling, on a whole second.
fn chained() -> Option<i64> {
    Some((FOLLOW_UP.now + 7_000 + 999) / 1_000 * 1_000)
}

databases! {
    // covers: 001-13
    async fn a_success_sets_the_cursor_of_its_chain_even_among_others(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.delayed(0).await;
        let other = fixture.ticking("other").await;
        let others = fixture.runs_in(&other, &[Running; 3]).await;
        let link = fixture.claimed_link(&job).await;
        fixture.run_it(link).await;
        let mut findings: Vec<_> = others.iter().map(|id| success(*id)).collect();
        findings.push(success(link));
        let settled = fixture.settle(&findings).await;
        assert_eq!((settled.changed.len(), settled.to_scan), (4, vec![job.shard]));
        assert_eq!(fixture.cursor(&job).await, chained());
        assert_eq!(fixture.row(link).await.state(), Succeeded);
        assert_eq!(fixture.settle(&[success(link)]).await.to_scan, Vec::<i32>::new(), "a repeated result does nothing");
    }

    async fn a_failure_with_a_further_attempt_is_not_the_end(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.delayed(1).await;
        let link = fixture.claimed_link(&job).await;
        fixture.run_it(link).await;
        fixture.settle(&[failure(link)]).await;
        assert_eq!((fixture.row(link).await.state(), fixture.cursor(&job).await), (Failed, None));
        let retry = fixture.rows_where(&format!("job_id = {} AND attempt = 2 AND (follow & 1) <> 0", job.id)).await.remove(0);
        assert_eq!(retry.state(), Claimed);
        fixture.run_it(retry.id).await;
        fixture.settle(&[failure(retry.id)]).await;
        assert_eq!(fixture.cursor(&job).await, chained());
    }

    async fn a_cancelled_link_and_a_broken_chain_are_mended(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.delayed(0).await;
        let link = fixture.claimed_link(&job).await;
        assert_eq!(fixture.stalled_fixed_delays(&job).await, Vec::<i64>::new());
        assert!(!fixture.store.runs().restart_fixed_delay(job.id, NOW).await.unwrap(), "its link is on its way");
        fixture.store.runs().cancel(&[link], carillon_scheduler::RunReason::Operator, FOLLOW_UP.now).await.unwrap();
        assert_eq!((fixture.row(link).await.state(), fixture.cursor(&job).await), (Cancelled, chained()));
        fixture.sql("DELETE FROM job_clock").await;
        assert_eq!(fixture.stalled_fixed_delays(&job).await, [job.id]);
        assert!(fixture.store.runs().restart_fixed_delay(job.id, FOLLOW_UP.now).await.unwrap());
        assert_eq!(fixture.cursor(&job).await, chained());
        assert!(!fixture.store.runs().restart_fixed_delay(job.id, NOW).await.unwrap());
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.stalled_fixed_delays(&job).await, Vec::<i64>::new());
    }

    // covers: F9
    async fn broken_chains_are_looked_for_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.delayed(0).await;
        let first = 1 << 30;
        fixture.delayed_like(&job, first..first + 1_200).await;
        fixture.sql(&format!("DELETE FROM job_clock WHERE job_id IN ({}, {})", job.id, first + 1_199)).await;
        // As a program that does not know the column writes it.
        fixture.sql(&format!("UPDATE job_clock SET delayed_job = NULL WHERE job_id = {}", first + 7)).await;
        let (mut found, mut place) = (vec![], 0);
        for is_last in [false, false, true] {
            let (broken, next) = fixture.store.runs().stalled_fixed_delays(job.shard, place).await.unwrap();
            assert!(next == 0 || next > place);
            assert_eq!(next == 0, is_last);
            found.push(broken);
            place = next;
        }
        assert_eq!(found, [vec![job.id], vec![], vec![first + 1_199]]);
        assert!(!fixture.store.runs().restart_fixed_delay(first + 7, NOW).await.unwrap(), "it has a cursor");
    }

    async fn counted_fires_are_taken_off_with_the_claim_or_not_at_all(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking_with("counted", |draft| draft.schedule.max_fires = Some(3)).await;
        assert_eq!((job.fires_left, job.next_fire_at), (Some(3), Some(after(1))));
        let epoch = fixture.take(job.shard).await;
        let holder = holder(job.shard, epoch);
        let mut first = claim(&job, &[(1 << 40, after(1)), ((1 << 40) + 1, after(2))]);
        first.counted = true;
        fixture.store.runs().claim(&holder, &[first.clone()], NOW).await.unwrap();
        assert_eq!(fixture.store.jobs().fires_left(&[job.id]).await.unwrap()[&job.id], 1);
        // The same plan once more: its cursor has gone on, so nothing is taken off and nothing recorded.
        let changed = fixture.store.runs().claim(&holder, &[first], NOW).await.unwrap();
        assert!(changed.contains(&job.id));
        assert_eq!(fixture.store.jobs().fires_left(&[job.id]).await.unwrap()[&job.id], 1);
        assert_eq!(fixture.count("run", "1 = 1").await, 2);
        let disabled = fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        assert_eq!(disabled.fires_left, Some(1), "a pause gives nothing back");
    }

    async fn open_and_waiting_runs_of_a_job_are_seen_with_their_reasons(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (job, other) = (fixture.ticking("one").await, fixture.ticking("other").await);
        let ids = fixture.runs_in(&job, &[Claimed, Running, Succeeded, Claimed]).await;
        fixture.runs_in(&other, &[Running]).await;
        let wait = Verdicts { wait: vec![ids[3], ids[1]], ..Verdicts::default() };
        fixture.store.runs().write_overlaps(&wait, NOW).await.unwrap();
        let mut seen = fixture.store.runs().open_runs_of(job.shard, &[job.id]).await.unwrap();
        seen.sort_by_key(|run| run.run_id);
        let told: Vec<_> = seen.iter().map(|run| (run.run_id, run.state, run.waits)).collect();
        assert_eq!(told, [(ids[0], Claimed, false), (ids[1], Running, false), (ids[3], Claimed, true)], "what runs waits for nothing");
        let resume = Verdicts { resume: vec![ids[3]], ..Verdicts::default() };
        fixture.store.runs().write_overlaps(&resume, NOW).await.unwrap();
        assert_eq!(fixture.row(ids[3]).await.reason, None);
    }

    // covers: F7
    async fn fires_of_many_jobs_that_overlap_end_at_once_and_fixed_delays_go_on(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (job, delayed) = (fixture.ticking("one").await, fixture.delayed(0).await);
        let ids = fixture.runs_in(&job, &[Claimed, Running, Claimed, Claimed]).await;
        let link = fixture.claimed_link(&delayed).await;
        let verdicts = Verdicts { cancel: vec![link, ids[1], ids[0]], wait: vec![ids[2]], resume: vec![ids[3]] };
        let written = fixture.store.runs().write_overlaps(&verdicts, FOLLOW_UP.now).await.unwrap();
        assert_eq!((written.cancelled, written.held_up.len()), (2, 0));
        let mut told = vec![];
        for id in [ids[0], ids[1], ids[2], ids[3], link] {
            let row = fixture.row(id).await;
            told.push((row.state(), row.reason.unwrap_or_default(), row.finished_at.is_some()));
        }
        let cancelled = (Cancelled, "overlap".to_owned(), true);
        let waits = (Claimed, "overlap".to_owned(), false);
        assert_eq!(told[0], cancelled);
        assert_eq!((told[1].0, told[1].2), (Running, false), "what runs is left alone");
        assert_eq!((&told[2], &told[3]), (&waits, &(Claimed, String::new(), false)));
        assert_eq!((&told[4], fixture.cursor(&delayed).await), (&cancelled, chained()));
        assert_eq!(fixture.store.runs().write_overlaps(&verdicts, NOW).await.unwrap().cancelled, 0, "once");
    }

    // covers: F7
    async fn a_row_that_another_session_holds_delays_no_other_verdict(db: &TestDatabase) {
        // SQLite locks its whole file, for one statement.
        if db.kind() == Kind::Sqlite {
            return;
        }
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("one").await;
        let ids = fixture.runs_in(&job, &[Claimed, Claimed]).await;
        let other = fixture.raw.begin().await.unwrap();
        let text = format!("SELECT id FROM run WHERE id = {} FOR UPDATE", ids[0]);
        other.execute_unprepared(&text).await.unwrap();
        let verdicts = Verdicts { cancel: ids.clone(), ..Verdicts::default() };
        let written = fixture.store.runs().write_overlaps(&verdicts, NOW).await.unwrap();
        assert_eq!((written.cancelled, written.held_up), (1, [ids[0]].into_iter().collect()));
        other.rollback().await.unwrap();
        assert_eq!((fixture.row(ids[0]).await.state(), fixture.row(ids[1]).await.state()), (Claimed, Cancelled));
    }
}
