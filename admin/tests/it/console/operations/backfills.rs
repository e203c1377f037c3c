use carillon_scheduler::ScheduleDraft;

use super::client::Console;
use super::run;
use crate::conformance::fixture::actor;

#[test]
fn a_backfill_is_tried_started_followed_and_cancelled() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = ScheduleDraft::cron("0 0 * * * ?", "UTC")).await;
        let admin = console.admin().await;
        let page = admin.get("/jobs/1/backfill").await;
        assert!(page.body.contains("There is no backfill of this job yet.") && !page.body.contains("value=\"start\""));
        let range = [("from", "2025-10-08T00:00"), ("to", "2025-10-08T12:00:00"), ("max_concurrent", "2")];
        let dry = admin.submit("/jobs/1/backfill", &[&range[..], &[("step", "dry")]].concat()).await;
        assert_eq!(dry.status, 200);
        for text in ["<strong>12 instants</strong>", "2025-10-08 00:00:00 UTC", "2025-10-08 11:00:00 UTC"] {
            assert!(dry.body.contains(text), "{text}: {}", dry.body);
        }
        assert!(
            console.store.backfills().list(1, None, 10).await.unwrap().items.is_empty(),
            "a dry run starts nothing"
        );

        let shown = dry.hidden("shown");
        let start = [("step", "start"), ("shown", shown.as_str())];
        let other = [("from", "2025-10-07T00:00"), ("to", "2025-10-08T12:00:00"), ("max_concurrent", "2")];
        let again = admin.submit("/jobs/1/backfill", &[&other[..], &start].concat()).await;
        assert!(again.body.contains("<strong>36 instants</strong>"), "another range is tried first");
        assert!(console.store.backfills().list(1, None, 10).await.unwrap().items.is_empty());
        let started = admin.submit("/jobs/1/backfill", &[&range[..], &start].concat()).await;
        assert_eq!((started.status, started.location()), (303, "/jobs/1/backfill"));
        let made = console.store.backfills().list(1, None, 10).await.unwrap().items.remove(0);
        assert_eq!((made.instants, made.max_concurrent), (12, 2));

        let page = admin.get("/jobs/1/backfill").await.body;
        assert!(page.contains("0 of 12") && page.contains("data-state=\"running\""), "{page}");
        let path = format!("/backfills/{}/cancel", made.id);
        assert!(page.contains(&path));
        assert_eq!(admin.submit(&path, &[]).await.location(), "/jobs/1/backfill");
        let page = admin.get("/jobs/1/backfill").await.body;
        assert!(page.contains("data-state=\"cancelled\"") && !page.contains(&path), "{page}");
        assert_eq!(admin.submit("/backfills/77/cancel", &[]).await.status, 404);
    });
}

// covers: R052
#[test]
fn a_range_in_a_repeated_hour_is_kept_and_other_instants_are_shown_again() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = ScheduleDraft::cron("0 0/15 * * * ?", "UTC")).await;
        let admin = console.admin().await;
        admin.submit("/preferences", &[("zone", "Europe/Berlin"), ("next", "/account")]).await;
        // 02:30 and 03:00 in Berlin, after the clocks were put back.
        let page = admin.get("/jobs/1/backfill?from=2024-10-27T01:30:00Z&to=2024-10-27T02:00:00Z").await;
        assert!(page.body.contains("value=\"2024-10-27T02:30:00\""), "{}", page.body);
        let [from_was, zone] = ["from_was", "times_in"].map(|name| page.hidden(name));
        let range = [
            ("from", "2024-10-27T02:30"),
            ("from_was", &from_was),
            ("to", "2024-10-27T03:00"),
            ("times_in", &zone),
            ("max_concurrent", "1"),
        ];
        let dry = admin.submit("/jobs/1/backfill", &[&range[..], &[("step", "dry")]].concat()).await;
        assert!(dry.body.contains("<strong>2 instants</strong>"), "{}", dry.body);
        let [shown, instants] = ["shown", "instants"].map(|name| dry.hidden(name));
        let start = [&range[..], &[("step", "start"), ("shown", &shown), ("instants", &instants)]].concat();
        let job = console.store.jobs().get(1).await.unwrap().unwrap();
        let mut draft = job.draft;
        draft.schedule = ScheduleDraft::cron("0 0/10 * * * ?", "UTC");
        console.engine.jobs().update(1, &draft, None, &actor()).await.unwrap();
        let again = admin.submit("/jobs/1/backfill", &start).await;
        assert!(again.body.contains("<strong>3 instants</strong>"), "{}", again.body);
        assert!(again.body.contains("The instants have changed since the dry run."));
        assert!(console.store.backfills().list(1, None, 10).await.unwrap().items.is_empty());
        let instants = again.hidden("instants");
        let start = [&range[..], &[("step", "start"), ("shown", &shown), ("instants", &instants)]].concat();
        assert_eq!(admin.submit("/jobs/1/backfill", &start).await.status, 303);
    });
}

#[test]
fn what_is_wrong_with_a_range_is_named() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = ScheduleDraft::cron("0 0 * * * ?", "UTC")).await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let wrong = async |job: i64, from: &str, to: &str, concurrent: &str| {
            let fields = [("from", from), ("to", to), ("max_concurrent", concurrent), ("step", "start")];
            let answer = admin.submit(&format!("/jobs/{job}/backfill"), &fields).await;
            assert_eq!(answer.status, 422, "{}", answer.body);
            answer
        };
        let day = ["2025-10-07T00:00", "2025-10-08T00:00"];
        assert_eq!(wrong(1, "", day[1], "1").await.error("from"), Some("Choose the day and the time."));
        assert!(wrong(1, "yesterday", day[1], "1").await.error("from").unwrap().contains("is no time"));
        assert!(wrong(1, day[0], "2030-01-01T00:00", "1").await.error("to").unwrap().contains("future"));
        assert!(wrong(1, day[1], day[0], "1").await.error("to").unwrap().contains("later than"));
        assert!(wrong(1, day[0], day[1], "0").await.error("max_concurrent").unwrap().contains("1 to 100"));
        assert!(wrong(2, day[0], day[1], "1").await.body.contains("the job has no schedule"));
    });
}
