use carillon_scheduler::ScheduleDraft;
use carillon_store::Actor;

use super::client::{Console, START};
use super::run;

/// 2025-10-09, the day of the tests, is a Thursday.
async fn with_job(console: &Console) {
    let calendar = serde_json::from_value(serde_json::json!({"name": "bank", "days": ["2025-10-13"]})).unwrap();
    console.engine.calendars().create(calendar, &Actor::engine()).await.unwrap();
    let mut draft = carillon_scheduler::JobDraft::new("orders", "Settle", "settle");
    draft.schedule = ScheduleDraft::cron("0 0 3 * * ?", "UTC");
    draft.schedule.calendars = vec!["bank".into()];
    console.engine.jobs().create(draft, None, &Actor::engine()).await.unwrap();
}

#[test]
fn a_calendar_is_made_changed_and_deleted_by_its_form() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/calendars").await.body.contains("There are no calendars"));
        assert!(admin.get("/jobs/new").await.body.contains("<a href=\"/calendars\">Calendars</a>"));
        let days = "2025-12-24 to 2025-12-26\r\n2026-01-01";
        let fields = [("name", "bank"), ("title", "Bank holidays"), ("weekdays", "SAT"), ("days", days)];
        let shown = admin.submit("/calendars", &[&fields[..], &[("step", "preview")]].concat()).await;
        assert_eq!(shown.status, 200);
        assert!(shown.body.contains("of the next 365 days are excluded"), "{}", shown.body);
        assert!(shown.body.contains("Sat 2025-10-11"), "{}", shown.body);
        assert_eq!(console.store.calendars().names().await.unwrap().len(), 0, "a preview saves nothing");
        assert_eq!(admin.submit("/calendars", &fields).await.location(), "/calendars");
        let made = console.store.calendars().get("bank").await.unwrap().unwrap();
        assert_eq!((made.version, made.calendar.days.len(), made.calendar.weekdays.len()), (1, 4, 1));

        let page = admin.get("/calendars/bank/edit").await;
        assert!(page.body.contains("2025-12-24 to 2025-12-26\n2026-01-01</textarea>"), "{}", page.body);
        assert!(!page.body.contains("id=\"name\""), "a calendar keeps its name");
        let version = page.hidden("version");
        let changed = [("version", version.as_str()), ("title", ""), ("days", "2026-01-01"), ("name", "other")];
        assert_eq!(admin.submit("/calendars/bank/edit", &changed).await.status, 303);
        let stale = admin.submit("/calendars/bank/edit", &[("version", version.as_str()), ("days", "")]).await;
        assert_eq!(stale.status, 422);
        assert!(stale.body.contains("Another user has changed this calendar"), "{}", stale.body);
        let made = console.store.calendars().get("bank").await.unwrap().unwrap();
        assert_eq!((made.version, made.calendar.days.len(), made.calendar.weekdays.len()), (2, 1, 0));

        assert!(admin.get("/calendars/bank/delete").await.body.contains("No job uses it"));
        assert_eq!(admin.submit("/calendars/bank/delete", &[]).await.location(), "/calendars");
        assert_eq!(admin.get("/calendars/bank/edit").await.status, 404);
    });
}

#[test]
fn a_change_names_the_jobs_and_the_days_that_it_affects() {
    run(async {
        let console = Console::start().await;
        with_job(&console).await;
        let admin = console.admin().await;
        let fields = [("version", "1"), ("days", "2025-10-14"), ("step", "preview")];
        let page = admin.submit("/calendars/bank/edit", &fields).await.body;
        assert!(page.contains("newly excluded: Tue 2025-10-14; fires again: Mon 2025-10-13"), "{page}");
        let page = admin.get("/calendars/bank/edit").await.body;
        assert!(page.contains("no change"), "{page}");
        assert_eq!(console.store.jobs().get(1).await.unwrap().unwrap().revision, 1, "a preview changes no job");
        admin.submit("/calendars/bank/edit", &fields[..2]).await;
        let job = console.store.jobs().get(1).await.unwrap().unwrap();
        assert_eq!((job.revision, job.next_fire_at > Some(START)), (2, true), "the job is planned anew");
    });
}

#[test]
fn a_calendar_in_use_stays_and_its_jobs_are_named() {
    run(async {
        let console = Console::start().await;
        with_job(&console).await;
        let admin = console.admin().await;
        for answer in [admin.get("/calendars/bank/delete").await, admin.submit("/calendars/bank/delete", &[]).await] {
            assert!(answer.body.contains("1 job uses it") && answer.body.contains(">Settle</a>"), "{}", answer.body);
            assert!(!answer.body.contains("Delete the calendar</button>"), "there is nothing to press");
        }
        assert!(console.store.calendars().get("bank").await.unwrap().is_some());
    });
}

#[test]
fn wrong_days_are_named_and_nothing_typed_is_lost() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let answer = admin.submit("/calendars", &[("name", "a/b"), ("days", "24.12.2025"), ("weekdays", "XYZ")]).await;
        assert_eq!(answer.status, 422);
        assert!(answer.error("days").unwrap().contains("24.12.2025"), "{:?}", answer.error("days"));
        assert!(answer.error("weekdays").is_some() && answer.body.contains("value=\"a/b\""));
        let answer = admin.submit("/calendars", &[("name", "a/b")]).await;
        assert!(answer.error("name").unwrap().contains("must not contain"), "{:?}", answer.error("name"));
        admin.submit("/calendars", &[("name", "bank")]).await;
        let again = admin.submit("/calendars", &[("name", "bank")]).await;
        assert_eq!(again.error("name"), Some("There is a calendar of this name already."));
    });
}
