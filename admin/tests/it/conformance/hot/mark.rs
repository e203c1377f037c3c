//! The second committed write.

use carillon_scheduler::RunState::{Cancelled, Claimed, Running, Sending, Succeeded};
use carillon_store::run::mark::MarkRequest;
use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW, after};

pub fn mark(run_id: i64) -> MarkRequest<'static> {
    MarkRequest {
        run_id,
        epoch: 1,
        address: "http://x:1/",
        boot_id: None,
        journal_id: None,
        candidates_id: 0x1234_5678_9abc_def0,
        route_code: 4,
        revision: 1,
        app_id: 1,
    }
}

databases! {
    async fn a_mark_notes_who_sends_what_to_whom(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed; 3]).await;
        let long = format!("http://{}/", "x".repeat(247));
        let marks = [
            MarkRequest { address: &long, ..mark(ids[1]) },
            MarkRequest { boot_id: Some("boot-7"), ..mark(ids[0]) },
        ];
        let won = fixture.store.runs().mark(&marks, i64::MIN, "a", NOW).await.unwrap();
        assert_eq!(won, [ids[0], ids[1]].into_iter().collect());
        let row = fixture.row(ids[0]).await;
        assert_eq!((row.state(), row.mark_token, row.marked_at), (Sending, Some(i64::MIN), Some(NOW)));
        assert_eq!((row.sends, row.owner.as_deref()), (1, Some("a")));
        assert_eq!((row.candidates_id, row.route_code), (Some(0x1234_5678_9abc_def0), Some(4)));
        assert_eq!((row.address.as_deref(), row.boot_id.as_deref()), (Some("http://x:1/"), Some("boot-7")));
        let row = fixture.row(ids[1]).await;
        assert_eq!((row.state(), row.address, row.boot_id), (Sending, Some(long), None));
        assert_eq!(fixture.row(ids[2]).await.state(), Claimed);
        assert_eq!(fixture.store.runs().mark(&[], 5, "a", NOW).await.unwrap(), Default::default());
    }

    // covers: 001-26
    async fn only_what_is_claimed_under_the_own_epoch_is_won(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Sending, Running, Cancelled, Succeeded, Claimed, Claimed]).await;
        fixture.sql(&format!("UPDATE run SET epoch = 2 WHERE id = {}", ids[5])).await;
        let before = fixture.rows_where("1 = 1").await;
        let all = || ids.iter().chain([&9_999_999]).map(|id| mark(*id)).collect::<Vec<_>>();
        let won = fixture.store.runs().mark(&all(), 5, "a", NOW).await.unwrap();
        assert_eq!(won, [ids[0], ids[6]].into_iter().collect());
        let after = fixture.rows_where("1 = 1").await;
        for (before, after) in before.iter().zip(&after).filter(|(row, _)| !won.contains(&row.id)) {
            assert_eq!(before, after);
        }
        // Another node's mark of the same runs wins nothing.
        assert_eq!(fixture.store.runs().mark(&all(), 6, "b", NOW).await.unwrap(), Default::default());
        assert_eq!(fixture.rows_where("1 = 1").await, after);
    }

    // covers: 004-6
    async fn of_fifty_marks_of_one_run_one_wins(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed; 4]).await;
        let racing = (1..=50).map(|token| {
            let (store, ids) = (fixture.store.clone(), ids.clone());
            tokio::spawn(async move {
                let marks: Vec<_> = ids.into_iter().map(mark).collect();
                (token, store.runs().mark(&marks, token, "a", NOW).await.unwrap())
            })
        });
        let mut won = 0;
        for result in join_all(racing).await {
            let (token, ids) = result.unwrap();
            won += ids.len();
            for id in ids {
                assert_eq!(fixture.row(id).await.mark_token, Some(token));
            }
        }
        assert_eq!(won, ids.len());
        assert!(fixture.rows_where("1 = 1").await.iter().all(|row| row.sends == 1));
    }

    async fn a_mark_whose_answer_was_lost_is_found_by_its_token(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed; 3]).await;
        let marks: Vec<_> = ids.iter().map(|id| mark(*id)).collect();
        fixture.store.runs().mark(&marks[..2], 77, "a", NOW).await.unwrap();
        // One of them has been resolved by another node since: it must not be sent any more.
        fixture.sql(&format!("UPDATE run SET state = 3 WHERE id = {}", ids[1])).await;
        let won = fixture.store.runs().mark(&marks, 77, "a", NOW).await.unwrap();
        assert_eq!(won, [ids[0], ids[2]].into_iter().collect());
        assert!(fixture.rows_where("1 = 1").await.iter().all(|row| row.sends == 1));
    }

    async fn a_batch_of_five_hundred_is_one_mark(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let values: Vec<String> = (1..=500)
            .map(|id| format!("({id}, {}, 1, 0, 0, {}, 0, 1, 1, 1, 1, 0, 1, 0)", job.id, after(id)))
            .collect();
        fixture.sql(&format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
             VALUES {}", values.join(","))).await;
        let marks: Vec<_> = (1..=500).rev().map(mark).collect();
        assert_eq!(fixture.store.runs().mark(&marks, 1, "a", NOW).await.unwrap().len(), 500);
        assert_eq!(fixture.count("run", "state = 1 AND mark_token = 1 AND sends = 1").await, 500);
    }

    async fn a_run_is_cancelled_only_while_it_is_claimed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Sending, Succeeded, Claimed]).await;
        assert_eq!(fixture.store.runs().cancel(&ids[..3], carillon_scheduler::RunReason::Misfire, NOW).await.unwrap(), 1);
        let row = fixture.row(ids[0]).await;
        assert_eq!((row.state(), row.reason.as_deref(), row.finished_at), (Cancelled, Some("misfire"), Some(NOW)));
        assert_eq!(fixture.row(ids[1]).await.state(), Sending);
        assert_eq!(fixture.row(ids[3]).await.state(), Claimed);
        // A mark that comes later finds it gone.
        assert_eq!(fixture.store.runs().mark(&[mark(ids[0]), mark(ids[3])], 1, "a", NOW).await.unwrap(), [ids[3]].into_iter().collect());
    }
}
