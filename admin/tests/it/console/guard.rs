//! Nothing changes but by a form of the session's own; every answer carries the policy.

use super::client::{Answer, Console, ConsoleClient};
use super::run;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::AuditAction;
use carillon_store::audit::list::AuditFilter;

/// Every address that changes something, with fields that it would accept.
const CHANGES: &[(&str, &[(&str, &str)])] = &[
    ("/jobs", &[("app", "orders"), ("name", "new"), ("handler", "h"), ("kind", "none")]),
    ("/jobs/1/edit", &[("app", "orders"), ("name", "new"), ("handler", "h"), ("kind", "none"), ("revision", "1")]),
    ("/jobs/1/enable", &[]),
    ("/jobs/1/disable", &[]),
    ("/jobs/1/delete", &[]),
    ("/jobs/1/run", &[("key", "k")]),
    ("/runs/1/kill", &[]),
    ("/apps", &[("name", "another")]),
    ("/apps/1/executor", &[("address", "http://10.0.0.1:9999/"), ("weight", "7")]),
    ("/users", &[("name", "ada")]),
    ("/users/1/reset", &[]),
    ("/account/sessions/end", &[]),
    ("/logout", &[]),
];

/// The rows that a change would touch.
async fn rows(console: &Console) -> String {
    let jobs = console.store.jobs().list(&Default::default()).await.unwrap().items;
    let apps = console.store.apps().list(&carillon_store::VisibleApps::All).await.unwrap();
    let audit = console.store.audit().list(&AuditFilter { limit: 100, ..AuditFilter::default() }).await.unwrap();
    let runs = console.store.runs().newest_run().await.unwrap();
    // A refusal leaves an entry, and changes nothing.
    let changes = audit.items.iter().filter(|entry| entry.action != "deny").count();
    format!("{jobs:?} {apps:?} {changes} {runs}")
}

async fn unchanged(console: &Console, admin: &ConsoleClient, before: &str, what: &str, answer: Answer, status: u16) {
    assert_eq!(answer.status, status, "{what}");
    assert_eq!(rows(console).await, before, "{what}");
    assert_eq!(admin.get("/jobs").await.status, 200, "{what}: the session lives");
}

// covers: S7
#[test]
fn a_change_needs_its_origin_and_the_token_of_the_session() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let (admin, other) = (console.admin().await, console.admin().await);
        let (token, foreign) = (admin.csrf().await, other.csrf().await);
        let own = Some(console.url.as_str());
        let before = rows(&console).await;
        for (path, fields) in CHANGES {
            let with = |token: &str| -> Vec<(String, String)> {
                let fields = fields.iter().map(|(name, value)| (name.to_string(), value.to_string()));
                fields.chain([("csrf".to_owned(), token.to_owned())]).collect()
            };
            for (why, origin, token) in [
                ("no origin", None, token.as_str()),
                ("another origin", Some("http://evil.example"), &token),
                ("an opaque origin", Some("null"), &token),
                ("no token", own, ""),
                ("a token of another session", own, &foreign),
                ("a token that was cut", own, &token[4..]),
            ] {
                let fields = with(token);
                let fields: Vec<_> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
                let answer = admin.post(path, origin, &fields).await;
                unchanged(&console, &admin, &before, &format!("{path}: {why}"), answer, 403).await;
            }
        }
    });
}

// covers: S37, V10
#[test]
fn what_the_guard_refuses_is_in_the_audit() {
    run(async {
        let console = Console::with(|config| config.admin_second_factor = true).await;
        let (admin, stranger) = (console.admin().await, console.visitor());
        let newest = async || {
            let filter = AuditFilter { actions: vec![AuditAction::Deny], limit: 10, ..AuditFilter::default() };
            let entries = console.store.audit().list(&filter).await.unwrap().items;
            let entry = &entries[0];
            let detail: serde_json::Value = serde_json::from_str(&entry.detail).unwrap();
            (entries.len(), entry.actor.clone(), entry.source.clone(), detail["reason"].as_str().unwrap().to_owned())
        };
        let foreign = "not from a page of this console";
        assert_eq!(admin.post("/jobs", Some("http://evil.example"), &[]).await.status, 403);
        assert_eq!(newest().await, (1, FIRST_ADMIN.to_owned(), "127.0.0.1".to_owned(), foreign.to_owned()));
        assert_eq!(stranger.post("/jobs", None, &[]).await.status, 403);
        assert_eq!(newest().await, (2, "unknown".to_owned(), "127.0.0.1".to_owned(), foreign.to_owned()));
        let refused = admin.submit("/apps", &[("name", "billing")]).await;
        assert_eq!(refused.status, 403);
        assert!(refused.body.contains("Set up your second factor first"), "{}", refused.body);
        assert_eq!(newest().await, (3, FIRST_ADMIN.to_owned(), "127.0.0.1".to_owned(), "not allowed".to_owned()));
    });
}

// covers: V1
#[test]
fn what_a_stranger_sends_is_neither_read_nor_echoed_beyond_a_small_form() {
    run(async {
        let console = Console::start().await;
        let (stranger, own) = (console.visitor(), Some(console.url.as_str()));
        let small = stranger.post("/jobs", own, &[("params", &"x".repeat(10_000))]).await;
        assert!(small.status == 401 && small.body.contains("What you filled in is kept"), "{}", small.body);
        // The characters take nine bytes each; what they would take in the form of signing in is too much.
        for (character, count) in [("x", 900_000), ("\u{fffd}", 1_700), ("+", 5_000)] {
            let answer = stranger.post("/jobs", own, &[("params", &character.repeat(count))]).await;
            assert!(
                answer.status == 401 && answer.body.contains("Nothing was changed"),
                "{character} {}",
                answer.status
            );
            assert!(answer.body.len() < 32_000, "{character} {}", answer.body.len());
        }
        let long = [("name", "x"), ("password", "y"), ("kept_for", "/jobs"), ("kept", &*"x".repeat(20_000))];
        for path in ["/login", "/login?kept", "/login/code?kept"] {
            assert_eq!(stranger.post(path, own, &long).await.status, 413, "{path}");
        }
        let admin = console.admin().await;
        let saved = admin.submit("/jobs", &[("params", &"x".repeat(100_000))]).await;
        assert!(saved.status != 413, "with a session forms are as long as before: {}", saved.status);
    });
}

// covers: S7
#[test]
fn a_get_changes_nothing() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let before = rows(&console).await;
        for (path, _) in CHANGES {
            let query = format!("{path}?csrf={}", admin.csrf().await);
            let status = admin.get(&query).await.status;
            assert!([200, 404, 405].contains(&status), "{path}: {status}");
            assert_eq!(rows(&console).await, before, "{path}");
            assert_eq!(admin.get("/jobs").await.status, 200, "{path}");
        }
    });
}

// covers: S10
#[test]
fn a_visitor_without_a_session_gets_no_page() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let stranger = console.visitor();
        let before = rows(&console).await;
        for path in ["/", "/jobs", "/jobs/1", "/runs/1/log", "/nothing/here", "/jobs?text=a%20b"] {
            let answer = stranger.get(path).await;
            assert_eq!(answer.status, 303, "{path}");
            assert!(answer.location().starts_with("/login"), "{path}: {}", answer.location());
        }
        assert_eq!(stranger.get("/jobs?text=a%20b").await.location(), "/login?next=%2Fjobs%3Ftext%3Da%2520b");
        for (path, fields) in CHANGES.iter().filter(|(path, _)| *path != "/logout") {
            let answer = stranger.post(path, Some(&console.url), fields).await;
            assert_eq!(answer.status, 401, "{path}");
            assert!(answer.body.contains("You are signed out"), "{path}: {}", answer.body);
        }
        assert_eq!(rows(&console).await, before);
    });
}

// covers: S29
#[test]
fn every_answer_carries_the_policy() {
    run(async {
        let console = Console::start().await;
        let (stranger, admin) = (console.visitor(), console.admin().await);
        let answers = [
            stranger.get("/").await,
            stranger.get("/login").await,
            stranger.get("/assets/console.css").await,
            stranger.get("/assets/../Cargo.toml").await,
            stranger.post("/login", None, &[]).await,
            admin.get("/jobs").await,
            admin.get("/jobs/77").await,
            admin.get("/no/such/page").await,
            admin.submit("/jobs/77/delete", &[]).await,
        ];
        for answer in answers {
            let policy = answer.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
            assert!(!policy.contains("unsafe"));
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            assert_eq!(answer.header("referrer-policy"), "same-origin");
            assert!(!answer.header("cache-control").is_empty());
        }
    });
}

// covers: S29
#[test]
fn answers_of_the_api_the_executors_path_and_health_carry_the_headers_too() {
    run(async {
        let console = Console::start().await;
        let client = reqwest::Client::new();
        let get = |path: &str| client.get(format!("{}{path}", console.url));
        let post = |path: &str| client.post(format!("{}{path}", console.url)).body("[]");
        let too_long = "x".repeat(17 << 10);
        for (call, status) in [
            (get("/healthz"), 200),
            (get("/readyz"), 200),
            (get("/metrics"), 401),
            (get("/api/v1/openapi.json"), 200),
            (get("/api/v1/jobs"), 401),
            (get("/api/v1/nothing"), 401),
            (post("/api/v1/jobs"), 401),
            (post("/api/registry"), 200),
            (post("/api/callback"), 200),
            (get("/api/callback"), 200),
            (get("/healthz").header("x-long", &too_long), 431),
            (post("/login").header("content-encoding", "gzip"), 415),
        ] {
            let answer = call.send().await.unwrap();
            let place = format!("{} {}", answer.status(), answer.url());
            assert_eq!(answer.status().as_u16(), status, "{place}");
            let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap());
            assert_eq!(header("x-content-type-options"), "nosniff", "{place}");
            assert_eq!(header("x-frame-options"), "DENY", "{place}");
            assert!(header("content-security-policy").starts_with("default-src 'none'"), "{place}");
            assert!(!header("cache-control").is_empty(), "{place}");
            assert_eq!(header("strict-transport-security"), "", "{place}: plain HTTP");
        }
    });
}

// covers: S36
#[test]
fn errors_are_pages_with_a_request_id_and_no_inner_life() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for (path, status, text) in [
            ("/jobs/77", 404, "There is no such job"),
            ("/runs/77", 404, "There is no such run"),
            ("/no/such/page", 404, "There is no such page"),
            ("/jobs/1/enable", 405, "does not accept this method"),
            ("/jobs?after=x", 400, "cannot be understood"),
        ] {
            let answer = admin.get(path).await;
            assert_eq!(answer.status, status, "{path}");
            assert!(answer.body.contains(text), "{path}: {}", answer.body);
            assert!(answer.body.contains("Request <code>"));
            assert_eq!(answer.header("x-request-id").len(), 16);
        }
    });
}

#[test]
fn assets_are_kept_for_good_under_their_hash() {
    run(async {
        let console = Console::start().await;
        let visitor = console.visitor();
        let page = visitor.get("/login").await.body;
        let address = page.split("href=\"/assets/console.css").nth(1).unwrap().split('"').next().unwrap();
        let answer = visitor.get(&format!("/assets/console.css{address}")).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "text/css; charset=utf-8"));
        assert!(answer.header("cache-control").contains("immutable"));
        assert_eq!(visitor.get("/assets/README.md").await.status, 404);
    });
}
