use carillon_scheduler::AlarmKind;
use carillon_store::alarm::alarms::{Alarm, AlarmFilter};

use super::fixture::{Fixture, after};

fn filter() -> AlarmFilter {
    AlarmFilter { limit: 100, ..AlarmFilter::default() }
}

async fn raise(fixture: &Fixture, kind: AlarmKind, job_id: Option<i64>, second: i64) {
    let alarm = Alarm { kind, job_id, run_id: None, text: format!("at {second}\0") };
    let raised = fixture.store.raise_alone(alarm, after(second)).await.unwrap();
    assert_eq!(raised.text, format!("at {second}\u{2400}"));
}

databases! {
    // covers: G9
    async fn an_alarm_of_an_unknown_kind_keeps_no_other_from_the_rules(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        raise(&fixture, AlarmKind::Lost, Some(1), 5).await;
        raise(&fixture, AlarmKind::Failed, Some(2), 6).await;
        fixture.sql("UPDATE alarm SET kind = 'future' WHERE job_id = 1").await;
        let waiting = fixture.store.unrouted_alarms().await.unwrap();
        assert_eq!(waiting.iter().map(|event| event.job_id).collect::<Vec<_>>(), [Some(2)]);
        assert_eq!(fixture.count("alarm", "unrouted_at > 0").await, 1, "it does not come again");
        assert_eq!(fixture.store.take_unreadable().len(), 1, "and it is said once");
    }

    async fn alarms_come_newest_first_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for (kind, job_id, second) in [
            (AlarmKind::Lost, Some(1), 5), (AlarmKind::Clock, None, 9), (AlarmKind::Failed, Some(2), 7), (AlarmKind::Gap, Some(1), 7),
        ] {
            raise(&fixture, kind, job_id, second).await;
        }
        let found = async |filter: AlarmFilter| {
            let page = fixture.store.alarms(&filter).await.unwrap();
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
