//! Runs that are due later: asked for, moved and cancelled without script.

use carillon_scheduler::RunState;
use carillon_store::ScheduledFilter;

use super::client::Console;
use super::run;

#[test]
fn a_run_is_given_a_time_moved_and_cancelled() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|job| job.params = "usual".into()).await;
        let admin = console.admin().await;
        let page = admin.get("/jobs/1/run").await;
        assert!(page.body.contains("name=\"at\"") && page.body.contains("name=\"delay\""));
        let fields = [("key", "a"), ("params", "special"), ("delay", "1h 30m")];
        let asked = admin.submit("/jobs/1/run", &fields).await;
        assert_eq!(asked.status, 303, "{}", asked.body);
        let id = asked.location().strip_prefix("/runs/").unwrap().to_owned();
        assert_eq!(admin.get(asked.location()).await.location(), "/jobs/1/scheduled");
        let scheduled = console.store.delayed().get(id.parse().unwrap()).await.unwrap().unwrap();
        assert_eq!((scheduled.job_id, scheduled.params.as_deref()), (job.id, Some("special")));
        assert_eq!(scheduled.due_at, scheduled.created_at + 5_400_000);
        for path in ["/jobs/1", "/jobs/1/scheduled"] {
            let page = admin.get(path).await.body;
            assert!(page.contains("data-testid=\"scheduled\"") && page.contains(&format!("/runs/{id}/move")), "{path}");
        }
        let form = format!("/runs/{id}/move");
        assert_eq!(admin.submit(&form, &[("at", "")]).await.error("at"), Some("Choose the time."));
        let far = admin.submit(&form, &[("at", "2090-01-01T00:00:00Z")]).await;
        assert_eq!(far.error("at"), Some("must be at most five years ahead"));
        let later = scheduled.due_at + 60_000;
        let text = chrono::DateTime::from_timestamp_millis(later).unwrap().to_rfc3339();
        assert_eq!(admin.submit(&form, &[("at", &text)]).await.location(), "/jobs/1/scheduled");
        let moved = console.store.delayed().get(scheduled.id).await.unwrap().unwrap();
        assert_eq!(moved.due_at, later);
        admin.submit(&format!("/runs/{id}/cancel"), &[]).await;
        let run = console.store.delayed().run_of(scheduled.id).await.unwrap().unwrap();
        assert_eq!(console.store.runs().get(run).await.unwrap().unwrap().state, RunState::Cancelled);
        assert_eq!(admin.get(&format!("/runs/{id}")).await.location(), format!("/runs/{run}"));
        assert_eq!(admin.submit(&form, &[("at", &text)]).await.location(), format!("/runs/{run}"));
        // The button of a page that is older than the run ends no run.
        let now = admin.submit("/jobs/1/run", &[("key", "b")]).await.location().to_owned();
        assert_eq!(admin.submit(&format!("{now}/cancel"), &[]).await.location(), now);
        let told = admin.get(&now).await.body;
        assert!(told.contains("the run is about to be sent; only a run that is scheduled can be moved or called off"));
        let open: i64 = now.trim_start_matches("/runs/").parse().unwrap();
        assert!(console.store.runs().get(open).await.unwrap().unwrap().state.is_open());
        assert!(!admin.get("/jobs/1").await.body.contains("data-testid=\"scheduled\""));
    });
}

#[test]
fn a_time_and_a_delay_are_not_taken_together() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        let of_the_job = ScheduledFilter { job_id: job.id, limit: 10, ..ScheduledFilter::default() };
        let both = [("key", "a"), ("at", "2090-01-01T00:00"), ("delay", "5m")];
        let answer = admin.submit("/jobs/1/run", &both).await;
        assert_eq!((answer.status, answer.error("delay")), (422, Some("Choose a time or a delay, not both.")));
        for (field, value) in [("delay", "soon"), ("delay", "200000000"), ("at", "2090-01-01T00:00")] {
            let answer = admin.submit("/jobs/1/run", &[("key", "a"), (field, value)]).await;
            assert!(answer.status == 422 && answer.error(field).is_some(), "{field} {value}");
        }
        assert!(console.store.delayed().list(&of_the_job).await.unwrap().items.is_empty());
    });
}
