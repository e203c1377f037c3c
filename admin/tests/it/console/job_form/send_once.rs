//! The request of a form, sent once: its answer is shown, and nothing is saved.

use super::client::Console;
use super::forms::but;
use super::run;

// covers: 001-44
#[test]
fn what_became_of_the_request_is_shown_and_nothing_is_saved() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        let form = admin.get("/jobs/new").await.body;
        assert!(form.contains("value=\"send_once\"") && !form.contains("data-testid=\"sent-once\""), "{form}");
        // Loopback is refused unless the settings name it.
        let fields = [("runs", "http"), ("http_url", "http://127.0.0.1:9/a?b={{run_id}}"), ("step", "send_once")];
        for path in ["/jobs", "/jobs/1/edit"] {
            let answer = admin.submit(path, &but(&fields)).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            assert!(answer.body.contains("data-verdict=\"not-sent\""), "{}", answer.body);
            assert!(answer.body.contains("http://127.0.0.1:9/a?b={{run_id}}"), "the fields stay: {}", answer.body);
        }
        assert_eq!(console.store.jobs().get(job.id).await.unwrap().unwrap(), job);
        assert!(console.store.jobs().get(job.id + 1).await.unwrap().is_none());
        // Faults are shown in place of an answer.
        let wrong = [("runs", "http"), ("http_url", "ftp://a/"), ("step", "send_once")];
        let answer = admin.submit("/jobs", &but(&wrong)).await;
        assert!(
            answer.error("http_url").is_some() && !answer.body.contains("data-testid=\"sent-once\""),
            "{}",
            answer.body
        );
    });
}
