use carillon_store::backfill::backfills::NewBackfill;
use carillon_store::backfill::release::OpenBackfill;

use super::fixture::{Fixture, NOW, actor, after, each};

databases! {
    async fn two_backfills_of_one_job_at_once_make_each_run_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let mut open = vec![];
        for (from, to) in [(-60, -20), (-40, 0)] {
            let new = NewBackfill {
                job: job.id.into(), from_at: after(from), to_at: after(to), max_concurrent: 7,
                instants: (from..to).map(after).collect(),
            };
            let made = fixture.store.backfills().create(&new, NOW, &actor()).await.unwrap();
            open.push(OpenBackfill { id: made.id, job_id: job.id, shard: job.shard, max_concurrent: 7 });
        }
        assert_eq!(fixture.store.backfills().open_backfills().await.unwrap(), open);
        for _ in 0..20 {
            let (one, other) = tokio::join!(fixture.store.backfills().release(&open[0], NOW), fixture.store.backfills().release(&open[1], NOW));
            let released = one.unwrap().runs.len() + other.unwrap().runs.len();
            assert!(released <= 7, "{released} at once");
            fixture.sql("UPDATE run SET state = 9 WHERE cause = 4").await;
        }
        let mut done = vec![];
        for open in &open {
            done.push(fixture.store.backfills().get(open.id).await.unwrap().unwrap());
        }
        assert!(done.iter().all(|it| it.finished_at == Some(NOW) && it.released + it.skipped == 40), "{done:?}");
        assert_eq!(done[0].released + done[1].released, 60);
        assert_eq!(fixture.count("run", "cause = 4").await, 60);
        let results = async |id: i64| {
            let backfill = fixture.store.backfills().get(id).await.unwrap().unwrap();
            let found = fixture.store.backfills().results(&backfill).await.unwrap();
            (found.on_record, found.succeeded, found.pending)
        };
        assert_eq!(results(open[0].id).await, (40, 40, 0), "the instants of both are counted in both");
        fixture.sql(&format!("UPDATE run SET state = 10 WHERE fire_no = {}", after(-30))).await;
        fixture.sql(&format!("UPDATE run SET state = 2 WHERE fire_no = {}", after(-50))).await;
        assert_eq!((results(open[0].id).await, results(open[1].id).await), ((40, 38, 1), (40, 39, 0)));
        assert_eq!(fixture.store.backfills().open_backfills().await.unwrap(), []);
    }
}
