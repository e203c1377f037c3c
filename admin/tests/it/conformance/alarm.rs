use carillon_scheduler::{AlarmKind, RunState};
use carillon_store::alarm::alarms::{Alarm, AlarmFilter};
use carillon_store::{JobFilter, RunFilter};

use super::fixture::{Fixture, Row, after, draft};

fn filter() -> AlarmFilter {
    AlarmFilter { limit: 100, ..AlarmFilter::default() }
}

async fn raise(fixture: &Fixture, kind: AlarmKind, job_id: Option<i64>, second: i64) {
    let alarm = Alarm { kind, job_id, run_id: None, text: format!("at {second}\0") };
    let raised = fixture.store.alarms().raise_alone(alarm, after(second)).await.unwrap();
    assert_eq!(raised.text, format!("at {second}\u{2400}"));
}

databases! {
    // covers: G9
    async fn an_alarm_of_an_unknown_kind_keeps_no_other_from_the_rules(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        raise(&fixture, AlarmKind::Lost, Some(1), 5).await;
        raise(&fixture, AlarmKind::Failed, Some(2), 6).await;
        fixture.sql("UPDATE alarm SET kind = 'future' WHERE job_id = 1").await;
        let waiting = fixture.store.alerts().unrouted_alarms().await.unwrap();
        assert_eq!(waiting.iter().map(|event| event.job_id).collect::<Vec<_>>(), [Some(2)]);
        assert_eq!(fixture.count("alarm", "unrouted_at > 0").await, 1, "it does not come again");
        assert_eq!(fixture.store.take_unreadable().len(), 1, "and it is said once");
    }

    // covers: G9
    async fn a_list_leaves_out_the_row_that_cannot_be_read(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for second in [5, 6, 7] {
            raise(&fixture, AlarmKind::Lost, Some(second), second).await;
        }
        fixture.sql("UPDATE alarm SET kind = 'future' WHERE job_id = 6").await;
        let page = async |after| {
            let page = fixture.store.alarms().list(&AlarmFilter { limit: 2, after, ..filter() }).await.unwrap();
            (page.items.into_iter().map(|row| row.alarm.job_id).collect::<Vec<_>>(), page.next)
        };
        let (first, next) = page(None).await;
        assert_eq!(first, [Some(7)]);
        assert_eq!(page(next).await, (vec![Some(5)], None), "the list goes on behind it");

        let jobs = [fixture.create(&draft("known")).await, fixture.create(&draft("unknown")).await];
        let known = fixture.run(&jobs[0], Row { fire_no: after(1), ..Row::default() }).await;
        let unknown = fixture.run(&jobs[0], Row { fire_no: after(2), ..Row::default() }).await;
        fixture.sql(&format!("UPDATE run SET state = 77 WHERE id = {unknown}")).await;
        fixture.sql(&format!("UPDATE job SET route = 'future' WHERE id = {}", jobs[1].id)).await;
        let runs = fixture.store.runs().list(&RunFilter { limit: 9, ..RunFilter::default() }).await.unwrap().items;
        assert_eq!(runs.iter().map(|run| run.id).collect::<Vec<_>>(), [known]);
        let counts = fixture.store.runs().count_by_state(&RunFilter::default()).await.unwrap().0;
        assert_eq!(counts, [(RunState::Claimed, 1)]);
        let found = fixture.store.jobs().list(&JobFilter { limit: 9, ..JobFilter::default() }).await.unwrap().items;
        assert_eq!(found.iter().map(|job| job.id).collect::<Vec<_>>(), [jobs[0].id]);
        assert!(fixture.store.jobs().get(jobs[1].id).await.is_err(), "asked for by itself, it is no missing one");
        assert_eq!(fixture.store.take_unreadable().len(), 3);
    }

    async fn alarms_come_newest_first_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for (kind, job_id, second) in [
            (AlarmKind::Lost, Some(1), 5), (AlarmKind::Clock, None, 9), (AlarmKind::Failed, Some(2), 7), (AlarmKind::Gap, Some(1), 7),
        ] {
            raise(&fixture, kind, job_id, second).await;
        }
        let found = async |filter: AlarmFilter| {
            let page = fixture.store.alarms().list(&filter).await.unwrap();
            let told: Vec<_> = page.items.iter().map(|row| (row.alarm.kind, row.alarm.job_id)).collect();
            (told, page.next)
        };
        let (first, next) = found(AlarmFilter { limit: 2, ..filter() }).await;
        assert_eq!(first, [(AlarmKind::Clock, None), (AlarmKind::Gap, Some(1))]);
        let (second, next) = found(AlarmFilter { after: next, ..filter() }).await;
        assert_eq!((second, next), (vec![(AlarmKind::Failed, Some(2)), (AlarmKind::Lost, Some(1))], None));
        assert_eq!(found(AlarmFilter { job_id: Some(1), kinds: vec![AlarmKind::Lost], ..filter() }).await.0.len(), 1);
        assert_eq!(found(AlarmFilter { from: Some(after(7)), to: Some(after(9)), ..filter() }).await.0.len(), 2);
    }
}
