//! The first administrator, by the one-time secret.

use std::sync::Arc;

use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::{FirstAdmin, ensure_first_admin};
use carillon_scheduler::ManualClock;

use crate::console::client::{Console, ConsoleClient, START};
use crate::console::run;
use crate::services::{Kind, TestDatabase};

async fn empty(database: &TestDatabase) -> (Console, String) {
    let console = Console::on(database.config(), Arc::new(ManualClock::new(START))).await;
    let secret = secret(&console, START).await;
    (console, secret)
}

/// A restart prints a new one.
async fn secret(console: &Console, now: i64) -> String {
    match ensure_first_admin(&console.store, None, now).await.unwrap() {
        FirstAdmin::Awaited(secret) => secret.secret,
        _ => panic!("there is an administrator"),
    }
}

async fn set_up(
    visitor: &ConsoleClient,
    url: &str,
    secret: &str,
    password: &str,
    repeated: &str,
) -> crate::console::client::Answer {
    let fields = [("secret", secret), ("name", "ada"), ("password", password), ("repeated", repeated)];
    visitor.post("/setup", Some(url), &fields).await
}

// covers: S1
#[test]
fn nothing_but_setting_up_is_possible_and_that_once() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let (console, secret) = empty(&database).await;
        let visitor = console.visitor();
        for path in ["/", "/jobs", "/login", "/apps"] {
            let answer = visitor.get(path).await;
            assert_eq!((answer.status, answer.location()), (303, "/setup"), "{path}");
        }
        let answer = visitor.sign_in("admin", "admin").await;
        assert_eq!((answer.status, answer.location()), (303, "/setup"));
        assert_eq!(visitor.get("/setup").await.status, 200);

        let password = random_secret();
        let answer = set_up(&visitor, &console.url, &secret, &password, &password).await;
        assert_eq!((answer.status, answer.location()), (303, "/"));
        assert!(visitor.get("/").await.body.contains("Welcome"));
        assert_eq!(visitor.get("/setup").await.status, 410);
        let again = set_up(&console.visitor(), &console.url, &secret, &password, &password).await;
        assert_eq!(again.status, 410);
        assert_eq!(console.visitor().sign_in("ada", &password).await.status, 303);
    });
}

#[test]
fn an_error_stands_beside_its_field() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let (console, secret) = empty(&database).await;
        let visitor = console.visitor();
        let password = random_secret();
        let wrong = set_up(&visitor, &console.url, "guess", &password, &password).await;
        assert_eq!(wrong.status, 422);
        assert!(wrong.error("secret").unwrap().contains("not the set-up secret"));
        let short = set_up(&visitor, &console.url, &secret, "short", "short").await;
        assert!(short.error("password").unwrap().contains("choose 10 to 128"));
        assert_eq!(short.error("secret"), None);
        let differ = set_up(&visitor, &console.url, &secret, &password, &random_secret()).await;
        assert_eq!(differ.error("password"), Some("The two passwords differ."));
        assert!(differ.body.contains(&secret) && !differ.body.contains(&password));
        let foreign = set_up(&visitor, "http://evil.example", &secret, &password, &password).await;
        assert_eq!(foreign.status, 403);
    });
}

// covers: S1
#[test]
fn the_secret_ends_after_half_an_hour_or_with_the_next_one() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let (console, old) = empty(&database).await;
        let visitor = console.visitor();
        let password = random_secret();
        console.advance_minutes(30);
        let late = set_up(&visitor, &console.url, &old, &password, &password).await;
        assert!(late.error("secret").unwrap().contains("expired"));
        let new = secret(&console, START + 30 * 60_000).await;
        let replaced = set_up(&visitor, &console.url, &old, &password, &password).await;
        assert!(replaced.error("secret").unwrap().contains("not the set-up secret"));
        assert_eq!(set_up(&visitor, &console.url, &new, &password, &password).await.status, 303);
    });
}
