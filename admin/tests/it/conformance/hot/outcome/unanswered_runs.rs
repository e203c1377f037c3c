//! Runs that were sent and of which nothing was heard.

use carillon_scheduler::RunState::{Claimed, Running, Sending, Succeeded};
use carillon_store::run::open::unanswered::ResendPermit;

use crate::conformance::fixture::{Fixture, NOW};
use crate::conformance::hot::mark::mark;

databases! {
    async fn what_is_in_doubt_is_told_with_whom_to_ask(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Running, Succeeded]).await;
        fixture.store.runs().mark(&[mark(ids[0])], 5, "a", NOW).await.unwrap();
        let doubt = fixture.store.runs().unanswered_run(ids[0]).await.unwrap().unwrap();
        let row = fixture.row(ids[0]).await;
        assert_eq!((doubt.run.run_id, doubt.run.job_id, doubt.run.fire_no), (row.id, job.id, row.fire_no));
        assert_eq!((doubt.run.scheduled_at, doubt.run.due_at), (row.scheduled_at, row.due_at));
        assert_eq!((doubt.app.as_deref(), doubt.address.as_deref()), (Some("billing"), Some("http://x:1/")));
        assert_eq!((doubt.marked_at, doubt.sends), (NOW, 1));
        for id in [ids[1], ids[2], 9_999_999] {
            assert!(fixture.store.runs().unanswered_run(id).await.unwrap().is_none(), "{id}");
        }
    }

    // covers: H10
    async fn only_one_may_send_again_what_is_in_doubt(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Claimed]).await;
        fixture.store.runs().mark(&[mark(ids[0]), mark(ids[1])], 5, "a", NOW).await.unwrap();
        let doubt = fixture.store.runs().unanswered_run(ids[0]).await.unwrap().unwrap();
        assert_eq!(fixture.store.runs().mark_resend(&doubt, None, 6, "b", NOW + 10_000).await.unwrap(), ResendPermit::Marked { revision: 1 });
        assert_eq!(fixture.store.runs().mark_resend(&doubt, None, 7, "c", NOW + 10_000).await.unwrap(), ResendPermit::Other, "it was asked about meanwhile");
        let row = fixture.row(ids[0]).await;
        assert_eq!((row.state(), row.sends, row.mark_token), (Sending, 2, Some(6)));
        assert_eq!((row.marked_at, row.owner.as_deref()), (Some(NOW + 10_000), Some("b")));
        // What has been heard of meanwhile is not sent again.
        let heard = fixture.store.runs().unanswered_run(ids[1]).await.unwrap().unwrap();
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE id = {}", ids[1])).await;
        assert_eq!(fixture.store.runs().mark_resend(&heard, None, 8, "b", NOW + 10_000).await.unwrap(), ResendPermit::Other);
        assert_eq!(fixture.row(ids[1]).await.sends, 1);
    }

    // covers: H27
    async fn a_disabled_jobs_run_is_not_sent_again(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Claimed]).await;
        fixture.store.runs().mark(&[mark(ids[0]), mark(ids[1])], 5, "a", NOW).await.unwrap();
        fixture.sql(&format!("UPDATE run SET cause = 1 WHERE id = {}", ids[1])).await;
        let doubt = fixture.store.runs().unanswered_run(ids[0]).await.unwrap().unwrap();
        let by_hand = fixture.store.runs().unanswered_run(ids[1]).await.unwrap().unwrap();
        fixture.sql(&format!("UPDATE job SET enabled = FALSE WHERE id = {}", job.id)).await;
        assert_eq!(fixture.store.runs().mark_resend(&doubt, None, 6, "b", NOW + 10_000).await.unwrap(), ResendPermit::Disabled);
        assert_eq!(fixture.row(ids[0]).await.sends, 1);
        // A fire by hand asks for no schedule.
        assert_eq!(fixture.store.runs().mark_resend(&by_hand, None, 6, "b", NOW + 10_000).await.unwrap(), ResendPermit::Marked { revision: 1 });
        fixture.sql("DELETE FROM job").await;
        let by_hand = fixture.store.runs().unanswered_run(ids[1]).await.unwrap().unwrap();
        for doubt in [doubt, by_hand] {
            assert_eq!(fixture.store.runs().mark_resend(&doubt, None, 6, "b", NOW + 20_000).await.unwrap(), ResendPermit::Disabled);
        }
    }
}
