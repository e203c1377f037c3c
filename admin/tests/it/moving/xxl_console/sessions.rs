//! Signing in and out, and what a session's cookie opens.

use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::AuditAction;
use carillon_store::audit::list::AuditFilter;
use carillon_store::{Actor, Grants, Role};
use reqwest::Method;

use super::client::{C1, C3, Script, account, on_node, with_settings};
use crate::flow::node::Node;

async fn actions(node: &Node, action: AuditAction) -> Vec<String> {
    let filter = AuditFilter { actions: vec![action], limit: 100, ..AuditFilter::default() };
    let entries = node.store.audit().list(&filter).await.unwrap().items;
    entries.into_iter().map(|entry| entry.detail).collect()
}

#[test]
fn each_dialect_has_its_cookie_and_its_answer_without_one() {
    on_node(async |node| {
        for (dialect, code) in [(C1, "content"), (C3, "data")] {
            let script = Script::admin(node, dialect).await;
            let answer = script.post("/chartInfo", &[]).await;
            assert!(answer.body[code]["triggerDayList"].is_array(), "{}", answer.body);
            assert_eq!(answer.body.get("success").is_some(), dialect == C3);
            let below = Script { url: format!("{}/xxl-job-admin", script.url), ..Script::new(node) };
            let below = Script { cookie: script.cookie.clone(), ..below };
            assert_eq!(below.post("//chartInfo/", &[]).await.body["code"], 200, "below the context path");
        }
        let nobody = Script::new(node);
        let answer = nobody.post("/jobinfo/pageList", &[]).await;
        assert_eq!(answer.failure(), "not login for path:/jobinfo/pageList");
        let ended = Script { cookie: format!("{}=x", C1.1), ..Script::new(node) };
        let answer = ended.post("/jobinfo/pageList", &[]).await;
        assert_eq!((answer.status, answer.header("location")), (302, "/toLogin"));
        assert_eq!(nobody.get("/toLogin").await.header("location"), "/login");
        assert_eq!(nobody.post("/jobinfo/remove", &[("id", "1")]).await.status, 302, "a path of the old dialect");
    });
}

#[test]
fn the_cookie_is_for_these_paths_and_the_consoles_is_not() {
    with_settings(
        |config| config.public_url = None,
        async |node| {
            let script = Script::admin(node, C3).await;
            let value = script.cookie.split_once('=').unwrap().1.to_owned();
            assert!(!value.contains("admin") && value.len() > 40, "{value}");
            for name in ["carillon_session", C3.1] {
                let console = Script { cookie: format!("{name}={value}"), ..Script::new(node) };
                let page = console.get("/jobs").await;
                assert!(page.header("location").starts_with("/login"), "{name} opens the console");
                assert_eq!(console.get("/api/v1/jobs").await.status, 401, "{name} opens the API");
            }
            let console = crate::console::client::ConsoleClient::new(&node.url);
            let answer = console.sign_in(FIRST_ADMIN, node.config.admin_password.as_deref().unwrap()).await;
            assert_eq!(answer.status, 303, "the console signs in at the same path");
            let id = console.cookies.lock().unwrap()["carillon_session"].clone();
            for name in ["carillon_session", C1.1, C3.1] {
                let foreign = Script { cookie: format!("{name}={id}"), ..Script::new(node) };
                let answer = foreign.post("/jobinfo/pageList", &[]).await;
                assert!(answer.status == 302 || answer.body["code"] == 500, "{name}: {}", answer.body);
            }
        },
    );
}

// covers: S6
#[test]
fn the_cookie_of_a_script_is_sent_where_the_consoles_is() {
    const ADDRESS: &str = "https://jobs.example.org/carillon";
    for (address, attributes) in [
        (None, "HttpOnly; SameSite=Strict; Path=/"),
        (Some(ADDRESS), "HttpOnly; SameSite=Strict; Secure; Path=/carillon"),
    ] {
        with_settings(
            |config| config.public_url = address.map(|text| carillon_admin::config::PublicUrl::parse(text).unwrap()),
            async |node| {
                let password = node.config.admin_password.as_deref().unwrap();
                let answer = Script::new(node).sign_in(C3.0, FIRST_ADMIN, password).await;
                let (value, rest) = answer.header("set-cookie").split_once("; ").unwrap();
                assert!(value.starts_with("xxl_job_login_token=0."), "{value}");
                assert_eq!(rest, attributes);
            },
        );
    }
}

#[test]
fn a_session_ends_by_signing_out_by_idleness_and_with_its_account() {
    on_node(async |node| {
        for (dialect, path) in [(C1, "/logout"), (C3, "/auth/logout")] {
            let script = Script::admin(node, dialect).await;
            assert_eq!(script.post(path, &[]).await.body["code"], 200);
            let answer = script.post("/jobinfo/nextTriggerTime", &[]).await;
            assert!(answer.status == 302 || answer.body["code"] == 500, "{}", answer.body);
        }
        assert_eq!(actions(node, AuditAction::SignOut).await.len(), 2);
        let idle = Script::admin(node, C3).await;
        node.clock.advance(Duration::from_secs(31 * 60));
        assert_eq!(idle.post("/chartInfo", &[]).await.failure(), "not login for path:/chartInfo");
        let gone = Script::admin(node, C3).await;
        node.store.people().end_access(1, 0, &Actor::engine()).await.unwrap();
        assert_eq!(gone.post("/chartInfo", &[]).await.failure(), "not login for path:/chartInfo");
    });
}

#[test]
fn a_token_as_the_password_gives_what_the_token_may_and_ends_with_it() {
    on_node(async |node| {
        let (all, view) = (Grants::for_all(Role::Admin), Grants::for_all(Role::Viewer));
        let token = account(node, "ada", &all, &view).await;
        assert_eq!(Script::new(node).sign_in(C3.0, "bob", &token).await.failure(), "name or password is wrong");
        let script = Script::signed_in(node, C3, ("ada", &token)).await;
        assert_eq!(script.post("/jobgroup/pageList", &[]).await.body["recordsTotal"], 1);
        let refused = script.post("/jobinfo/start", &[("ids[]", "1")]).await;
        assert_eq!(refused.failure(), "only an operator of an app may do this");
        assert!(actions(node, AuditAction::SignIn).await[0].contains("\"method\":\"token\""));
        assert!(actions(node, AuditAction::Deny).await[0].contains("/jobinfo/start"));
        let people = node.store.people();
        let id = people.account_by_name("ada").await.unwrap().unwrap().id;
        let token = people.tokens_of(id).await.unwrap()[0].id;
        people.revoke_token(id, token, 0, &Actor::engine()).await.unwrap();
        assert_eq!(script.post("/chartInfo", &[]).await.failure(), "not login for path:/chartInfo");
    });
}

#[test]
fn a_password_that_needs_more_is_refused_with_advice() {
    const ADVICE: &str = "make a personal token on the page of your account, and send it as the password";
    on_node(async |node| {
        let script = Script::admin(node, C3).await;
        let database = sea_orm::Database::connect(format!("sqlite://{}/carillon.db", node.config.data_dir.display()));
        let database = database.await.unwrap();
        let text = "UPDATE account SET totp_since = 1 WHERE name = 'admin'";
        sea_orm::ConnectionTrait::execute_unprepared(&database, text).await.unwrap();
        let password = node.config.admin_password.as_deref().unwrap();
        let answer = script.sign_in(C1.0, FIRST_ADMIN, password).await;
        assert!(answer.failure().ends_with(ADVICE) && answer.header("set-cookie").is_empty(), "{}", answer.body);
        assert_eq!(script.post("/chartInfo", &[]).await.body["code"], 500, "a session of before has ended too");
    });
    with_settings(
        |config| config.admin_second_factor = true,
        async |node| {
            let password = node.config.admin_password.as_deref().unwrap();
            let answer = Script::new(node).sign_in(C3.0, FIRST_ADMIN, password).await;
            assert!(answer.failure().ends_with(ADVICE), "{}", answer.body);
        },
    );
}

// covers: S9
#[test]
fn guesses_are_counted_and_audited_as_in_the_console() {
    on_node(async |node| {
        let script = Script::new(node);
        for _ in 0..5 {
            let answer = script.sign_in(C3.0, FIRST_ADMIN, "wrong").await;
            assert_eq!(answer.failure(), "name or password is wrong");
            assert!(answer.header("set-cookie").is_empty());
        }
        let password = node.config.admin_password.as_deref().unwrap();
        let answer = script.sign_in(C1.0, FIRST_ADMIN, password).await;
        assert_eq!((answer.status, &answer.body["code"]), (429, &500.into()), "{}", answer.body);
        assert_eq!(answer.header("retry-after"), "10");
        assert!(actions(node, AuditAction::RefuseSignIn).await.len() >= 2);
        node.clock.advance(Duration::from_secs(11));
        Script::admin(node, C1).await;
        let mut status = 200;
        for _ in 0..30 {
            status = script.sign_in(C3.0, FIRST_ADMIN, &format!("carillon_{}", random_secret())).await.status;
        }
        assert_eq!(status, 429, "so are those of tokens, by where they come from");
        node.clock.advance(Duration::from_secs(11));
        let admin = Grants::for_all(Role::Admin);
        let token = account(node, "ada", &admin, &admin).await;
        Script::signed_in(node, C3, ("ada", &token)).await;
    });
}

// covers: S7
#[test]
fn a_page_of_another_site_changes_nothing() {
    on_node(async |node| {
        let job = node.job(|_| ()).await.id.to_string();
        let script = Script::admin(node, C3).await;
        let own = node.url.clone();
        for (header, value, is_taken) in [
            ("origin", "http://evil.example", false),
            ("origin", "null", false),
            ("sec-fetch-site", "cross-site", false),
            ("sec-fetch-site", "same-site", false),
            ("origin", own.as_str(), true),
            ("sec-fetch-site", "same-origin", true),
        ] {
            let answer = script.send(Method::POST, "/jobinfo/stop", &[("id", &job)], &[(header, value)]).await;
            assert_eq!(answer.body["code"] == 200, is_taken, "{header}: {value}: {}", answer.body);
        }
        let fields = [("userName", FIRST_ADMIN), ("password", node.config.admin_password.as_deref().unwrap())];
        let headers = [("origin", "http://evil.example")];
        for path in [C1.0, C3.0] {
            let answer = script.send(Method::POST, path, &fields, &headers).await;
            assert_eq!(answer.failure(), "this request was sent by a page of another site");
        }
        let answer = script.get(&format!("/jobinfo/start?id={job}")).await;
        assert_eq!(answer.failure(), "GET is not for /jobinfo/start; send it as POST");
    });
}

#[test]
fn without_the_setting_there_are_no_such_paths() {
    with_settings(
        |config| config.xxl_console_api = false,
        async |node| {
            let script = Script::new(node);
            for path in [C3.0, "/jobinfo/pageList", "/chartInfo"] {
                let answer = script.post(path, &[("userName", FIRST_ADMIN)]).await;
                assert!(answer.status == 403 && answer.body.is_string(), "{path}: {} {}", answer.status, answer.body);
            }
            let answer = script.post(C1.0, &[("userName", FIRST_ADMIN)]).await;
            assert_eq!((answer.status, answer.header("set-cookie")), (403, ""), "it is the console's path");
        },
    );
}
