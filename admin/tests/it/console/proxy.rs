//! A console behind a proxy: its address, its cookies, and the addresses of its clients.

use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_admin::config::{Config, Networks, PublicUrl};
use carillon_admin::web::route_table;
use carillon_scheduler::ManualClock;

use super::client::{Console, ConsoleClient, START};
use super::run;
use crate::services::{Kind, TestDatabase};

const PUBLIC: &str = "https://c.example";
const WRONG: &str = "wrong wrong";

/// A node on an empty SQLite file, with these settings.
async fn console(database: &TestDatabase, change: impl FnOnce(&mut Config)) -> Console {
    let mut config = database.config();
    config.admin_password = Some(random_secret());
    change(&mut config);
    Console::on(config, Arc::new(ManualClock::new(START))).await
}

fn public(config: &mut Config) {
    config.public_url = Some(PublicUrl::parse(PUBLIC).unwrap());
}

fn proxied(config: &mut Config) {
    config.trusted_proxies = Networks::parse("trusted-proxies", "127.0.0.0/8").unwrap();
}

/// A browser at this address, behind a proxy.
fn from(console: &Console, forwarded: &str) -> ConsoleClient {
    console.visitor().with("x-forwarded-for", forwarded)
}

async fn sign_in(client: &ConsoleClient, password: &str) -> super::client::Answer {
    client.post("/login", Some(PUBLIC), &[("name", FIRST_ADMIN), ("password", password), ("zone", "UTC")]).await
}

// covers: V8, S6
#[test]
fn behind_tls_cookies_are_sent_by_tls_to_this_host_alone() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, public).await;
        let browser = console.visitor().with("host", "c.example");
        let answer = sign_in(&browser, &console.password).await;
        assert_eq!((answer.status, answer.location()), (303, "/"));
        assert_eq!(answer.header("strict-transport-security"), "max-age=31536000");
        let made: Vec<&str> = answer.headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap()).collect();
        assert_eq!(made.len(), 3, "session, browser, time zone: {made:?}");
        for cookie in made {
            let [prefix, secure, path] = ["__Host-carillon_", "; Secure", "; Path=/"];
            assert!(cookie.starts_with(prefix) && cookie.contains(secure) && cookie.contains(path), "{cookie}");
            assert!(cookie.contains("; HttpOnly; SameSite=Lax") && !cookie.contains("Domain"), "{cookie}");
        }
        assert_eq!(browser.get("/account").await.status, 200);

        // What a script or a sibling domain can plant has no prefix, and opens nothing.
        let session = browser.cookies.lock().unwrap()["__Host-carillon_session"].clone();
        let planted = console.visitor().with("host", "c.example");
        planted.cookies.lock().unwrap().insert("carillon_session".to_owned(), session);
        assert_eq!(planted.get("/account").await.status, 303);

        // A message of a redirect is shown once.
        let csrf = browser.csrf().await;
        let fields = [("csrf", csrf.as_str()), ("zone", "Nowhere/Land"), ("next", "/account")];
        assert_eq!(browser.post("/preferences", Some(PUBLIC), &fields).await.status, 303);
        assert!(browser.get("/account").await.body.contains("is not a time zone"));
        assert!(!browser.get("/account").await.body.contains("is not a time zone"));
        let csrf = browser.csrf().await;
        assert_eq!(browser.post("/logout", Some(PUBLIC), &[("csrf", &csrf)]).await.location(), "/login");
        assert!(!browser.cookies.lock().unwrap().contains_key("__Host-carillon_session"));
    });
}

// covers: V8
#[test]
fn under_another_name_the_console_shows_nothing() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, public).await;
        let rebound = console.visitor().with("host", "evil.example").with("sec-fetch-site", "same-origin");
        for path in ["/", "/login", "/jobs", "/assets/console.css"] {
            let answer = rebound.get(path).await;
            assert_eq!(answer.status, 421, "{path}");
            assert!(answer.body.contains("The address of this console is https://c.example"), "{path}");
        }
        assert_eq!(sign_in(&rebound, &console.password).await.status, 421);
        let claimed = console.visitor().with("host", "evil.example").with("x-forwarded-host", "c.example");
        assert_eq!(claimed.get("/login").await.status, 421, "the peer is no trusted proxy");
        assert_eq!(rebound.get("/healthz").await.status, 200, "probes ask by address");

        let browser = console.visitor().with("host", "C.example");
        let forged = browser.post("/login", Some("http://c.example"), &[("name", "a"), ("password", "b")]).await;
        assert_eq!(forged.status, 403, "an origin without TLS is another one");
        assert_eq!(sign_in(&browser, &console.password).await.status, 303);
        let csrf = browser.csrf().await;
        let page = browser.post("/users", Some(PUBLIC), &[("csrf", &csrf), ("name", "ada"), ("role", "viewer")]).await;
        assert!(page.body.contains("https://c.example/reset?secret="), "{}", page.status);
    });
}

// covers: V8, S24
#[test]
fn a_trusted_proxy_may_name_the_host_that_was_asked_for() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, |config| (public(config), proxied(config)).0).await;
        let named = console.visitor().with("host", "10.0.0.7:8080").with("x-forwarded-host", "c.example");
        assert_eq!(named.get("/login").await.status, 200);
        let other = console.visitor().with("host", "c.example").with("x-forwarded-host", "evil.example");
        assert_eq!(other.get("/login").await.status, 421);
    });
}

// covers: V4, S4, S24, A3
#[test]
fn an_attacker_behind_the_same_proxy_keeps_nobody_out() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, proxied).await;
        // Random names, and addresses of others in front of the own one.
        for number in 0..25 {
            let attacker = from(&console, "198.51.100.7, 198.51.100.66");
            let answer = attacker.sign_in(&format!("name{number}"), WRONG).await;
            assert_eq!(answer.status, if number < 20 { 401 } else { 429 }, "{number}");
        }
        let owner = from(&console, "198.51.100.7");
        assert_eq!(owner.sign_in(FIRST_ADMIN, &console.password).await.status, 303);
        // All addresses of a host count as one.
        for number in 0..25 {
            let attacker = from(&console, &format!("2001:db8:1:2::{number:x}"));
            let answer = attacker.sign_in(&format!("name{number}"), WRONG).await;
            assert_eq!(answer.status, if number < 20 { 401 } else { 429 }, "{number}");
        }
        let neighbour = from(&console, "2001:db8:1:3::7");
        assert_eq!(neighbour.sign_in(FIRST_ADMIN, &console.password).await.status, 303);
    });
}

// covers: V4, S24
#[test]
fn who_is_no_trusted_proxy_cannot_name_another_source() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, |_| ()).await;
        for number in 0..25 {
            let attacker = from(&console, &format!("198.51.100.{number}"));
            let answer = attacker.sign_in(&format!("name{number}"), WRONG).await;
            assert_eq!(answer.status, if number < 20 { 401 } else { 429 }, "{number}");
        }
        // Without the setting all people behind the proxy are one source. Its wait is short and does not grow.
        let owner = console.visitor();
        assert_eq!(owner.sign_in(FIRST_ADMIN, &console.password).await.header("retry-after"), "6");
        console.clock.advance(Duration::from_secs(6));
        assert_eq!(owner.sign_in(FIRST_ADMIN, &console.password).await.status, 303);
    });
}

// covers: V4
#[test]
fn a_browser_that_has_signed_in_before_gets_in_while_its_account_is_attacked() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, |_| ()).await;
        let owner = console.admin().await;
        owner.submit("/logout", &[]).await;
        for _ in 0..30 {
            console.visitor().sign_in(FIRST_ADMIN, WRONG).await;
        }
        assert_eq!(console.visitor().sign_in(FIRST_ADMIN, &console.password).await.status, 429);
        assert_eq!(owner.sign_in(FIRST_ADMIN, &console.password).await.status, 303, "the browser is known");
        // It has attempts of its own, and no more than others.
        owner.submit("/logout", &[]).await;
        let mut statuses = vec![];
        for _ in 0..7 {
            statuses.push(owner.sign_in(FIRST_ADMIN, WRONG).await.status);
        }
        assert_eq!(statuses, [401, 401, 401, 401, 401, 429, 429]);
        // For another account it proves nothing.
        assert_eq!(owner.sign_in("ada", WRONG).await.status, 401, "counted as any other");
    });
}

// covers: R113
#[test]
fn r113_below_a_path_of_its_host_the_console_leads_to_itself() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let below =
            |config: &mut Config| config.public_url = Some(PublicUrl::parse("https://c.example/carillon").unwrap());
        let console = console(&database, below).await;
        let browser = console.visitor().with("host", "c.example");
        // A proxy that passes the path on, and one that takes it off.
        for login in ["/carillon/login", "/login"] {
            let fields = [("name", FIRST_ADMIN), ("password", &*console.password), ("zone", "UTC"), ("next", "/jobs")];
            let answer = browser.post(login, Some(PUBLIC), &fields).await;
            assert_eq!((answer.status, answer.location()), (303, "/carillon/jobs"), "{login}");
            for cookie in answer.headers.get_all("set-cookie") {
                let text = cookie.to_str().unwrap();
                assert!(text.starts_with("__Secure-carillon_") && text.contains("; Path=/carillon;"), "{text}");
            }
        }
        for path in ["/carillon/jobs", "/jobs", "/carillon", "/carillon/"] {
            let page = browser.get(path).await;
            assert_eq!(page.status, 200, "{path}");
            let count = |text: &str| page.body.matches(text).count();
            for attribute in ["href", "action"] {
                let (all, own) = (count(&format!(" {attribute}=\"/")), count(&format!(" {attribute}=\"/carillon/")));
                assert!(all > 0 && all == own, "{path}: {own} of {all} {attribute}");
            }
        }
        let js = browser.get("/carillon/assets/console.js").await.body;
        assert!(!js.contains("fetch(\"/") && !js.contains("fetch(`/"), "a script asks below the path too");
        let css = browser.get("/carillon/assets/console.css").await;
        assert_eq!((css.status, css.header("content-type")), (200, "text/css; charset=utf-8"));
        let api = reqwest::Client::new().get(format!("{}/carillon/api/v1/openapi.json", console.url));
        assert_eq!(api.send().await.unwrap().status().as_u16(), 200);
        assert_eq!(browser.get("/carillonade").await.status, 404);
    });
}

// covers: R113
#[test]
fn r113b_a_path_that_begins_like_one_of_the_program_is_refused() {
    for route in route_table() {
        let first = route.path.split('/').nth(1).unwrap_or_default();
        if !first.is_empty() && !first.starts_with('{') {
            let problem = PublicUrl::parse(&format!("https://c.example/{first}")).unwrap_err().to_string();
            assert!(problem.contains("as one of Carillon's own paths"), "{first}: {problem}");
        }
    }
    assert!(PublicUrl::parse("https://c.example/carillon/jobs").is_ok(), "only the beginning counts");
}

// covers: R114
#[test]
fn r114b_the_public_host_may_be_named_with_its_usual_port() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, public).await;
        for (host, status) in
            [("c.example:443", 200), ("C.EXAMPLE", 200), ("c.example:80", 421), ("c.example:8443", 421)]
        {
            let answer = console.visitor().with("host", host).get("/login").await;
            assert_eq!(answer.status, status, "{host}");
        }
    });
}

// covers: R114
#[test]
fn r114c_a_host_with_its_usual_port_is_the_origin_without_it() {
    run(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let console = console(&database, |_| ()).await;
        let browser = console.visitor().with("host", "jobs.example.org:80");
        let fields = [("name", FIRST_ADMIN), ("password", &*console.password), ("zone", "UTC")];
        let answer = browser.post("/login", Some("http://jobs.example.org"), &fields).await;
        assert_eq!((answer.status, answer.location()), (303, "/"));
        let other = browser.post("/login", Some("https://jobs.example.org"), &fields).await;
        assert_eq!(other.status, 403);
    });
}
