//! Pauses of apps in the console.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::ScheduleDraft;

use super::client::{Console, START};
use super::run;

#[test]
fn a_pause_is_made_seen_on_every_page_and_ended() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/pauses").await.body.contains("Nothing is paused"));
        let refused = admin.submit("/pauses", &[("app", ""), ("note", "deployment"), ("until", "tomorrow")]).await;
        assert_eq!(refused.status, 422);
        assert_eq!(refused.error("app"), Some("Choose an app."));
        assert!(refused.error("until").is_some_and(|text| text.contains("is no time")), "{}", refused.body);
        assert!(refused.body.contains("value=\"deployment\""), "what was typed is kept");
        let made = admin.submit("/pauses", &[("app", "all"), ("note", "deployment <b>")]).await;
        assert_eq!((made.status, made.location()), (303, "/pauses"));
        console.engine.services.pause_refresher.step().await;
        let page = admin.get("/jobs").await.body;
        assert!(page.contains("All apps are paused") && page.contains("deployment &#60;b&#62;"), "{page}");
        let pause = console.store.apps().pauses_from(0).await.unwrap().remove(0);
        let ended = admin.submit(&format!("/pauses/{}/end", pause.id), &[]).await;
        assert_eq!(ended.status, 303);
        let again = admin.submit(&format!("/pauses/{}/end", pause.id), &[]).await;
        assert_eq!(again.status, 303);
        console.engine.services.pause_refresher.step().await;
        assert!(!admin.get("/jobs").await.body.contains("All apps are paused"));
    });
}

#[test]
fn a_maintenance_window_of_the_week_is_made_and_deleted() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/pauses").await.body.contains("data-testid=\"no-windows\""));
        assert_eq!(admin.get("/pauses/windows/new").await.status, 200);
        let submit = async |fields: &[(&str, &str)]| admin.submit("/pauses/windows", fields).await;
        let refused = submit(&[("app", ""), ("note", "patches"), ("rule", "weekly"), ("minutes", "x")]).await;
        assert_eq!(refused.status, 422);
        assert_eq!(refused.error("app"), Some("Choose an app."));
        assert_eq!(refused.error("weekdays"), Some("Choose at least one day."));
        assert!(refused.error("minutes").is_some() && refused.body.contains("value=\"patches\""), "{}", refused.body);
        let window = [("app", "all"), ("note", "patches <b>"), ("timezone", "UTC"), ("minutes", "90")];
        let wrong = submit(&[&window[..], &[("rule", "cron"), ("expression", "nonsense")]].concat()).await;
        assert!(wrong.status == 422 && wrong.error("expression").is_some(), "{}", wrong.body);
        let weekly = [("rule", "weekly"), ("weekdays", "SUN"), ("weekdays", "THU"), ("start", "09:00")];
        let made = submit(&[&window[..], &weekly].concat()).await;
        assert_eq!((made.status, made.location()), (303, "/pauses"));
        let page = admin.get("/pauses").await.body;
        assert!(page.contains("Thu, Sun 09:00") && page.contains("UTC, for 90 minutes"), "{page}");
        // 2025-10-09 is a Thursday: ten minutes later it is in force.
        console.clock.set(START + 10 * 60_000);
        console.engine.services.pause_refresher.step().await;
        assert!(admin.get("/jobs").await.body.contains("All apps are paused"));
        let id = console.store.apps().maintenance_windows().await.unwrap().remove(0).id;
        assert!(admin.get("/pauses").await.body.contains(&format!("action=\"/pauses/windows/{id}/end\"")));
        assert_eq!(admin.submit(&format!("/pauses/windows/{id}/end"), &[]).await.status, 303);
        console.engine.services.pause_refresher.step().await;
        assert!(!admin.get("/jobs").await.body.contains("All apps are paused"));
        let deleted = admin.submit(&format!("/pauses/windows/{id}/delete"), &[]).await;
        assert_eq!((deleted.status, deleted.location()), (303, "/pauses"));
        assert!(admin.get("/pauses").await.body.contains("data-testid=\"no-windows\""));
    });
}

// covers: B17
#[test]
fn the_jobs_of_a_paused_app_say_so_and_show_no_fire_that_will_be_cancelled() {
    run(async {
        let console = Console::start().await;
        let hourly = ScheduleDraft::cron("0 0 * * * ?", "UTC");
        let job = console.job(|job| job.schedule = hourly.clone()).await;
        let admin = console.admin().await;
        let (job, app) = (format!("/jobs/{}", job.id), job.app_id.to_string());
        let state = "data-cell=\"state\"><span class=\"state\" data-tone=\"waiting\"";
        assert!(!admin.get("/jobs").await.body.contains(state));
        admin.submit("/pauses", &[("app", &app), ("note", "work"), ("from", ""), ("until", "")]).await;
        let (list, page) = (admin.get("/jobs").await.body, admin.get(&job).await.body);
        assert!(list.contains(state) && list.contains("app paused"), "{list}");
        assert!(
            !page.contains("data-testid=\"fire\"") && page.contains("cancelled until the pause is ended"),
            "{page}"
        );
        let pause = console.store.apps().pauses_from(START).await.unwrap().remove(0).id;
        admin.submit(&format!("/pauses/{pause}/end"), &[]).await;
        let page = admin.get("/pauses").await.body;
        assert!(page.contains("The pause is ended.") && !page.contains("data-testid=\"paused\""), "{page}");
        assert!(admin.get(&job).await.body.contains("data-testid=\"fire\""));

        // 2025-10-09 08:53:20 is now.
        admin.submit("/pauses", &[("app", &app), ("note", "work"), ("until", "2025-10-09T11:30")]).await;
        let page = admin.get(&job).await.body;
        assert!(page.contains("fires before that are cancelled") && !page.contains("2025-10-09 11:00:00"), "{page}");
        assert!(page.contains("2025-10-09 12:00:00"), "{page}");
    });
}

#[test]
fn a_job_that_is_paused_until_noon_shows_only_the_fires_after_it() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|job| job.schedule = ScheduleDraft::cron("0 0 * * * ?", "UTC")).await;
        let admin = console.admin().await;
        let path = format!("/jobs/{}", job.id);
        admin.submit(&format!("{path}/disable"), &[("next", path.as_str()), ("until", "2025-10-09T12:00")]).await;
        let page = admin.get(&path).await.body;
        assert!(page.contains("The job is paused until 2025-10-09 12:00:00 UTC."), "{page}");
        let fires = page.split("data-testid=\"fire\"").nth(1).unwrap();
        assert!(fires.contains("2025-10-09 13:00:00") || fires.contains("2025-10-09 12:00:00"), "{fires}");
        assert!(!page.contains("Thu 2025-10-09 09:00:00") && !page.contains("Thu 2025-10-09 11:00:00"));
    });
}
