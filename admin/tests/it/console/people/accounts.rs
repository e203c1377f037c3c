//! Signing in, sessions, and how guessing is slowed down.

use std::sync::Arc;

use carillon_accounts::people;
use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::ManualClock;
use carillon_store::{Actor, Grants, Role};

use crate::console::client::{Console, ConsoleClient, START};
use crate::console::run;
use crate::services::{Kind, TestDatabase};

const WRONG: &str = "Name or password is wrong.";

// covers: S4
#[test]
fn a_wrong_name_and_a_wrong_password_get_the_same_answer() {
    run(async {
        let console = Console::start().await;
        let wrong = random_secret();
        let (known, unknown) =
            (console.visitor().sign_in(FIRST_ADMIN, &wrong).await, console.visitor().sign_in("nobody", &wrong).await);
        assert_eq!((known.status, unknown.status), (401, 401));
        assert!(known.body.contains(WRONG));
        let page = |body: &str| body.replace("nobody", FIRST_ADMIN);
        let without_time = |body: &str| {
            body.split("data-now=")
                .map(|part| part.split_once('>').map_or(part, |it| it.1).to_owned())
                .collect::<String>()
        };
        assert_eq!(without_time(&page(&unknown.body)), without_time(&known.body));
        assert!(known.body.contains("value=\"admin\""), "the name that was typed stays");
        assert!(!known.body.contains(&wrong), "the password does not");
    });
}

// covers: S5, S6
#[test]
fn the_cookie_says_nothing_and_only_its_hash_is_stored() {
    run(async {
        let console = Console::start().await;
        let visitor = console.visitor();
        let answer = visitor.sign_in(FIRST_ADMIN, &console.password).await;
        let cookie = answer.header("set-cookie").to_owned();
        for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        assert!(!cookie.contains("Secure"), "plain HTTP");
        let value = visitor.cookies.lock().unwrap()["carillon_session"].clone();
        assert_eq!(value.len(), 43, "256 bits");
        let file = std::fs::read(console.config.data_dir.join("carillon.db")).unwrap_or_default();
        let log = std::fs::read(console.config.data_dir.join("carillon.db-wal")).unwrap_or_default();
        let found = [file, log].iter().any(|bytes| bytes.windows(43).any(|it| it == value.as_bytes()));
        assert!(!found, "the id of the session is in the database");
    });
}

#[test]
fn it_goes_back_to_the_page_asked_for_and_nowhere_else() {
    run(async {
        let console = Console::start().await;
        for (next, to) in [("/jobs?text=x", "/jobs?text=x"), ("//evil.example", "/"), ("https://evil.example", "/")] {
            let fields = [("name", FIRST_ADMIN), ("password", &console.password), ("next", next)];
            let answer = console.visitor().post("/login", Some(&console.url), &fields).await;
            assert_eq!((answer.status, answer.location()), (303, to));
        }
    });
}

// covers: S4
#[test]
fn the_sixth_try_waits_also_with_the_right_password_and_on_every_node() {
    run(async {
        let database = TestDatabase::new(Kind::Postgres).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        let clock = Arc::new(ManualClock::new(START));
        let first = Console::on(config.clone(), clock.clone()).await;
        let second = Console::on(config, clock.clone()).await;
        for node in [&first, &second, &first, &second, &first] {
            assert_eq!(node.visitor().sign_in(FIRST_ADMIN, "wrong wrong").await.status, 401);
        }
        for node in [&first, &second] {
            let refused = node.visitor().sign_in(FIRST_ADMIN, &first.password).await;
            assert_eq!((refused.status, refused.header("retry-after")), (429, "10"));
            assert!(refused.body.contains("Too many failed attempts. Try again in 10 s."));
        }

        clock.advance(std::time::Duration::from_secs(11));
        assert_eq!(second.visitor().sign_in(FIRST_ADMIN, "wrong wrong").await.status, 401);
        let refused = first.visitor().sign_in(FIRST_ADMIN, &first.password).await;
        assert_eq!(refused.header("retry-after"), "20", "the wait grows");

        clock.advance(std::time::Duration::from_secs(21));
        first.admin().await;
        assert_eq!(second.visitor().sign_in(FIRST_ADMIN, "wrong wrong").await.status, 401, "the count began anew");
    });
}

// covers: S4
#[test]
fn many_at_once_do_not_slip_through() {
    run(async {
        let console = Console::start().await;
        let visitors: Vec<ConsoleClient> = (0..12).map(|_| console.visitor()).collect();
        let tries = visitors.iter().map(|visitor| visitor.sign_in(FIRST_ADMIN, "wrong wrong"));
        let answers = futures_util::future::join_all(tries).await;
        let tried = answers.iter().filter(|answer| answer.status == 401).count();
        assert_eq!(tried, 5);
    });
}

// covers: S5
#[test]
fn a_session_ends_when_nothing_is_done_and_a_refresh_is_nothing() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for _ in 0..3 {
            console.advance_minutes(20);
            assert_eq!(admin.get("/jobs").await.status, 200);
        }
        console.advance_minutes(20);
        assert_eq!(admin.refresh("/jobs").await.status, 200);
        console.advance_minutes(11);
        let answer = admin.get("/jobs").await;
        assert_eq!((answer.status, answer.location()), (303, "/login?next=%2Fjobs"));
    });
}

#[test]
fn a_session_ends_after_twelve_hours_whatever_is_done() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for _ in 0..35 {
            console.advance_minutes(20);
            assert_eq!(admin.get("/jobs").await.status, 200);
        }
        console.advance_minutes(20);
        assert_eq!(admin.get("/jobs").await.status, 303);
    });
}

#[test]
fn signing_in_again_and_out_end_the_old_session() {
    run(async {
        let console = Console::start().await;
        let (admin, old) = (console.admin().await, console.visitor());
        old.with_cookies_of(&admin);
        admin.sign_in(FIRST_ADMIN, &console.password).await;
        assert_eq!(old.get("/jobs").await.status, 303, "a new id at each sign-in");
        old.with_cookies_of(&admin);
        let answer = admin.submit("/logout", &[]).await;
        assert_eq!((answer.status, answer.location()), (303, "/login"));
        assert!(!admin.cookies.lock().unwrap().contains_key("carillon_session"));
        assert_eq!(old.get("/jobs").await.status, 303, "the row is gone, not only the cookie");
    });
}

#[test]
fn a_new_password_ends_all_sessions_of_its_owner_only() {
    run(async {
        let console = Console::start().await;
        let password = random_secret();
        people::add(&console.store, "ada", &password, &Grants::for_all(Role::Admin), 1, &Actor::engine())
            .await
            .unwrap();
        let (admin, ada) = (console.admin().await, console.visitor());
        ada.sign_in("ada", &password).await;
        assert_eq!(ada.get("/jobs").await.status, 200);
        people::set_password(&console.store, "ada", &random_secret(), 2, &Actor::engine()).await.unwrap();
        assert_eq!(ada.get("/jobs").await.status, 303);
        assert_eq!(admin.get("/jobs").await.status, 200);
    });
}

#[test]
fn accounts_refuse_what_is_easy_to_guess_and_names_that_exist() {
    run(async {
        let console = Console::start().await;
        let refused = async |name: &str, password: &str| {
            people::add(&console.store, name, password, &Grants::for_all(Role::Admin), 1, &Actor::engine())
                .await
                .unwrap_err()
                .to_string()
        };
        assert!(refused("ada", "short").await.contains("choose 10 to 128"));
        assert!(refused("ada", "qwertyuiop").await.contains("easy to guess"));
        assert!(refused(" ada", &random_secret()).await.contains("space"));
        assert!(refused(FIRST_ADMIN, &random_secret()).await.contains("taken already"));
        let missing =
            people::set_password(&console.store, "ada", &random_secret(), 1, &Actor::engine()).await.unwrap_err();
        assert!(missing.to_string().contains("does not exist"));
    });
}
