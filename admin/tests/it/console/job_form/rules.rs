//! Every kind of schedule and every rule: in the form, on the job's page, in the forecast, and the calendars.

use super::client::Console;
use super::forms::but;
use super::run;

#[test]
fn every_kind_of_schedule_is_made_edited_and_kept() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let calendar = serde_json::from_str(r#"{"name": "bank", "weekdays": ["SUN"]}"#).unwrap();
        let by = carillon_store::Actor::engine();
        console.store.calendars().create(&calendar, 0, &by).await.unwrap();
        let common = [
            ("start_at", "2030-01-31T18:30"),
            ("end_at", "2040-01-31T18:30:15"),
            ("max_fires", "7"),
            ("spread_seconds", "600"),
            ("calendars", "bank"),
            ("on_excluded", "next_working_day"),
            ("misfire", "fire_within"),
            ("misfire_window_seconds", "120"),
            ("misfire_limit", "9"),
            ("overlap", "wait"),
            ("overlap_queue", "3"),
            ("route_labels", "zone=eu"),
        ];
        let kinds: [(&str, &[(&str, &str)]); 5] = [
            ("unix_cron", &[("expression", "0 3 * * *")]),
            ("fixed_delay", &[("seconds", "45")]),
            ("fixed_rate", &[("seconds", "45")]),
            ("once", &[("at", "2035-06-01T12:00")]),
            (
                "daily",
                &[
                    ("every_seconds", "600"),
                    ("from", "22:00"),
                    ("to", "02:00"),
                    ("weekdays", "FRI"),
                    ("weekdays", "SAT"),
                ],
            ),
        ];
        for (index, (kind, own)) in kinds.into_iter().enumerate() {
            let mut fields = but(&common);
            fields.retain(|(name, _)| !["kind", "misfire"].contains(name) && !own.iter().any(|(own, _)| own == name));
            fields.extend([("kind", kind), ("misfire", "fire_within")]);
            fields.extend(own);
            let answer = admin.submit("/jobs", &fields).await;
            assert_eq!(answer.status, 303, "{kind}: {}", answer.body);
            let id = index as i64 + 1;
            let job = console.store.jobs().get(id).await.unwrap().unwrap();
            let json = serde_json::to_value(&job.draft).unwrap();
            assert_eq!(json["schedule"]["kind"], kind);
            assert_eq!(json["schedule"]["start_at"], "2030-01-31T18:30:00Z");
            assert_eq!(json["schedule"]["calendars"], serde_json::json!(["bank"]));
            assert_eq!(
                (&json["overlap"], &json["overlap_queue"], &json["misfire_window_seconds"], &json["route_labels"]),
                (&"wait".into(), &3.into(), &120.into(), &"zone=eu".into())
            );
            // The form comes back with all of it, and saving it changes nothing but the revision.
            let page = admin.get(&format!("/jobs/{id}/edit")).await;
            assert!(page.body.contains("value=\"2030-01-31T18:30:00\""), "{}", page.body);
            assert!(page.body.contains("value=\"bank\" checked"), "{}", page.body);
            fields.push(("revision", "1"));
            assert_eq!(admin.submit(&format!("/jobs/{id}/edit"), &fields).await.status, 303);
            let again = console.store.jobs().get(id).await.unwrap().unwrap();
            assert_eq!((again.draft, again.revision, again.spread_offset), (job.draft, 2, job.spread_offset));
            let shown = admin.get(&format!("/jobs/{id}")).await.body;
            assert!(
                shown.contains("7 by its schedule, 7 of them left")
                    && shown.contains("over 10 minutes; this job fires "),
                "{shown}"
            );
        }
    });
}

#[test]
fn the_error_of_a_limit_stands_beside_its_field() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for (changes, field, text) in [
            (&[("max_fires", "many")][..], "max_fires", "`many` is not a whole number"),
            (&[("spread_seconds", "1")], "spread_seconds", "86"),
            (&[("start_at", "soon")], "start_at", "`soon` is no time"),
            (&[("calendars", "bank")], "calendars", "bank"),
            (&[("kind", "once"), ("at", "")], "at", "Choose the day"),
            (
                &[("kind", "daily"), ("every_seconds", "60"), ("from", "8 h"), ("to", "10:00"), ("weekdays", "MON")],
                "from",
                "8 h",
            ),
            (&[("overlap", "wait"), ("overlap_queue", "0")], "overlap_queue", "1 to 1000"),
        ] {
            let answer = admin.submit("/jobs", &but(changes)).await;
            let found = answer.error(field).unwrap_or_default();
            assert!(answer.status == 422 && found.contains(text), "{field}: {found}");
        }
    });
}

#[test]
fn a_preview_is_given_for_what_stands_in_the_form() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let look = async |query: &str| admin.get(&format!("/jobs/preview?{query}")).await.body;
        let daily =
            look("kind=daily&every_seconds=3600&from=08:00&to=10:00&weekdays=MON&weekdays=TUE&timezone=UTC").await;
        assert_eq!(daily.matches("data-testid=\"fire\"").count(), 5, "{daily}");
        assert!(!daily.contains("Wed ") && daily.contains("Mon "), "{daily}");
        let spread = look("kind=cron&expression=0+0+*+*+*+?&timezone=UTC&spread_seconds=60").await;
        assert!(spread.contains("is where the least happens"), "{spread}");
        let wrong = look("kind=cron&expression=0+0+*+*+*+?&timezone=UTC&max_fires=many").await;
        assert!(wrong.contains("data-field=\"max_fires\""), "{wrong}");
        let once = look("kind=once&at=2035-06-01T12:00").await;
        assert!(once.contains("After that the job does not fire any more."), "{once}");
        assert!(look("kind=once&at=").await.contains("appear here"));
        let clocks = look("kind=cron&expression=0+30+2+*+*+?&timezone=America/New_York").await;
        assert!(clocks.contains("02:30 does not exist on"), "{clocks}");
    });
}

#[test]
fn forecast_and_calendars_are_shown() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/forecast").await.body.contains("No fires in this time span"));
        assert!(admin.get("/calendars").await.body.contains("There are no calendars"));
        let calendar = r#"{"name": "bank & more", "weekdays": ["SUN"], "days": ["2099-12-25", "1999-12-25"]}"#;
        let by = carillon_store::Actor::engine();
        console.store.calendars().create(&serde_json::from_str(calendar).unwrap(), 0, &by).await.unwrap();
        let shown = admin.get("/calendars").await.body;
        assert!(
            shown.contains("bank &#38; more") && shown.contains("Fri 2099-12-25") && shown.contains("(1 past)"),
            "{shown}"
        );
        assert_eq!(admin.submit("/jobs", &but(&[("kind", "fixed_rate"), ("seconds", "60")])).await.status, 303);
        let shown = admin.get("/forecast?hours=1").await.body;
        assert!(shown.contains("<path d=\"M0 100") && shown.contains("orders"), "{shown}");
        assert_eq!(shown.matches("data-label=\"Second\"").count(), 20);
    });
}
