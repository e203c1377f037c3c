//! The fields of an HTTP job: saved, shown again, and each fault at its field.

use carillon_scheduler::job::http::BasicAuth;
use carillon_scheduler::{BlockStrategy, HttpAuth, HttpDraft, HttpMethod};

use super::client::Console;
use super::forms::but;
use super::run;

// covers: 001-44
#[test]
fn a_request_is_saved_shown_again_and_kept_by_the_next_edit() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        let fields = [
            ("runs", "http"),
            ("http_method", "PUT"),
            ("http_url", "https://api.example.com/{{scheduled_at|%F}}"),
            ("http_headers", "X-Key: {{secret.KEY}}\r\nAccept: a:b\r\n"),
            ("http_body", "{\"run\": {{run_id}}}"),
            ("http_expect_status", "200-299, 404"),
            ("http_expect_body", "{\"path\": \"/ok\", \"eq\": true}"),
            ("http_expect_pattern", "rows: [0-9]+"),
            ("http_timeout_seconds", "1m"),
            ("http_callback_seconds", "1h"),
            ("http_auth", "basic"),
            ("http_secret", "KEY"),
            ("http_user", "ada"),
            ("http_idempotent", "yes"),
        ];
        let save = async |fields: &[(&str, &str)]| admin.submit("/jobs/1/edit", &but(fields)).await;
        let saved = save(&[&fields[..], &[("revision", "1")]].concat()).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
        let stored = async || console.store.jobs().get(job.id).await.unwrap().unwrap().draft;
        let first = stored().await;
        let request = first.http.clone().unwrap();
        assert_eq!((request.callback_seconds, request.expect.pattern.as_str()), (Some(3_600), "rows: [0-9]+"));
        assert_eq!((request.method, request.timeout_seconds, first.handler.as_str()), (HttpMethod::Put, 60, ""));
        assert_eq!(request.headers["Accept"], "a:b");
        let auth = BasicAuth { user: "ada".into(), password: "KEY".into() };
        assert_eq!((request.auth, request.idempotent), (Some(HttpAuth::Basic(auth)), true));
        let form = admin.get("/jobs/1/edit").await.body;
        for shown in [
            "id=\"runs-http\" value=\"http\" checked",
            "value=\"ada\"",
            "Accept: a:b\nX-Key: {{secret.KEY}}</textarea>",
        ] {
            assert!(form.contains(shown), "{shown}: {form}");
        }
        let page = admin.get("/jobs/1").await.body;
        for shown in
            ["<code>PUT https://api.example.com/", "200-299, 404", "&#34;eq&#34;:true", "User and password: ada, KEY"]
        {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        for hidden in ["Block strategy", "<dt>Time-out</dt>"] {
            assert!(!page.contains(hidden), "{hidden}: {page}");
        }
        console.job(|draft| draft.name = "Settle more".into()).await;
        let found = admin.get("/search?text=settle").await.body;
        assert!(found.contains("<code>PUT https://api.example.com</code>"), "{found}");
        let again = save(&[&fields[..], &[("revision", "2"), ("name", "other")]].concat()).await;
        assert_eq!(again.status, 303, "{}", again.body);
        assert_eq!(stored().await.http, first.http);
    });
}

// covers: 001-44
#[test]
fn what_the_form_of_a_request_does_not_show_is_reset() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let fields = [
            ("revision", "1"),
            ("runs", "http"),
            ("http_url", "http://a/"),
            ("parts", "3"),
            ("params", ""),
            ("block", "cover_early"),
            ("timeout_seconds", "30"),
        ];
        let saved = admin.submit("/jobs/1/edit", &but(&fields)).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
        let draft = console.store.jobs().get(1).await.unwrap().unwrap().draft;
        assert_eq!((draft.block, draft.timeout_seconds, draft.parts.count()), (BlockStrategy::default(), 0, 3));
    });
}

// covers: 001-44
#[test]
fn a_body_that_is_not_changed_keeps_its_line_ends() {
    run(async {
        let console = Console::start().await;
        let request = HttpDraft { body: "a\r\nb".into(), ..HttpDraft::new("http://a/") };
        console.job(|draft| (draft.handler, draft.http) = (String::new(), Some(request))).await;
        let admin = console.admin().await;
        let fields = [("runs", "http"), ("http_url", "http://b/")];
        for (revision, sent, body) in [("1", "a\r\nb", "a\r\nb"), ("2", "a\r\nc", "a\nc")] {
            let changed = [("revision", revision), ("http_body", sent)];
            let saved = admin.submit("/jobs/1/edit", &but(&[&fields[..], &changed].concat())).await;
            assert_eq!(saved.status, 303, "{}", saved.body);
            assert_eq!(console.store.jobs().get(1).await.unwrap().unwrap().draft.http.unwrap().body, body);
        }
    });
}

// covers: 001-44
#[test]
fn an_http_job_is_run_once_without_a_choice_of_executors() {
    run(async {
        let console = Console::start().await;
        console.job(|draft| (draft.handler, draft.http) = (String::new(), Some(HttpDraft::new("http://a/")))).await;
        console.job(|draft| draft.name = "Another".into()).await;
        let admin = console.admin().await;
        let pages = [admin.get("/jobs/1/run").await.body, admin.get("/jobs/2/run").await.body];
        assert_eq!(pages.map(|page| page.contains("id=\"address\"")), [false, true]);
        let run = admin.submit("/jobs/1/run", &[("key", "k"), ("parts", "1")]).await;
        assert_eq!(run.status, 303, "{}", run.body);
        let kill = admin.get(&format!("{}/kill", run.location())).await.body;
        assert!(kill.contains("the node that sent its request ends it"), "{kill}");
    });
}

// covers: 001-44
#[test]
fn each_fault_of_a_request_is_at_its_field() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let fields = [
            ("revision", "1"),
            ("runs", "http"),
            ("http_method", "GET"),
            ("http_url", "ftp://a/"),
            ("http_headers", "no header\nHost: b"),
            ("http_body", "x"),
            ("http_expect_status", "99"),
            ("http_timeout_seconds", "2h"),
            ("http_auth", "bearer"),
        ];
        let refused = admin.submit("/jobs/1/edit", &but(&fields)).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        for field in ["url", "headers", "body", "expect_status", "timeout_seconds", "auth"] {
            assert!(refused.error(&format!("http_{field}")).is_some(), "{field}: {}", refused.body);
        }
    });
}
