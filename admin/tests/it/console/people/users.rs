//! Accounts as administrators manage them, and the own account.

use carillon_accounts::people::RESET_LINK_MS;
use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditFilter;
use carillon_store::{Grants, Role};
use reqwest::Client;

use crate::console::client::{Answer, Console, ConsoleClient};
use crate::console::run;

/// The text between `<code>` and `</code>` of a snippet.
pub(super) fn snippet(answer: &Answer) -> &str {
    let rest = answer.body.split("<pre class=\"snippet\"><code>").nth(1).unwrap();
    rest.split('<').next().unwrap()
}

/// The path and query of the link that creating this user shows.
pub(super) async fn invited(console: &Console, admin: &ConsoleClient, fields: &[(&str, &str)]) -> String {
    let made = admin.submit("/users", fields).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let link = snippet(&made).to_owned();
    link.strip_prefix(&console.url).unwrap().to_owned()
}

/// The page of an account.
pub(super) async fn address(console: &Console, name: &str) -> String {
    format!("/users/{}", console.store.people().account_by_name(name).await.unwrap().unwrap().id)
}

/// Sets the password of a link.
pub(super) async fn set_password(browser: &ConsoleClient, link: &str, password: &str) -> Answer {
    let secret = link.split_once("secret=").unwrap().1;
    let url = browser.url().to_owned();
    browser.post("/reset", Some(&url), &[("secret", secret), ("password", password), ("repeated", password)]).await
}

// covers: S8
#[test]
fn a_user_sets_the_password_with_a_link_that_works_once() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let link = invited(&console, &admin, &[("name", "ada"), ("grant_all", "viewer")]).await;
        let (ada, password) = (console.visitor(), random_secret());
        assert!(ada.get(&link).await.body.contains("<strong>ada</strong>"));
        let refused = set_password(&ada, &link, "short").await;
        assert!(refused.status == 422 && refused.body.contains("choose 10 to 128"));
        let set = set_password(&ada, &link, &password).await;
        assert_eq!((set.status, set.location()), (303, "/"));
        assert_eq!(ada.get("/jobs").await.status, 200, "and is signed in");
        assert_eq!(console.visitor().sign_in("ada", &password).await.status, 303);
        let second = console.visitor();
        assert_eq!(second.get(&link).await.status, 410, "it is used up");
        assert_eq!(set_password(&second, &link, &random_secret()).await.status, 410);
        let old = invited(&console, &admin, &[("name", "bob")]).await;
        console.clock.advance(std::time::Duration::from_millis(RESET_LINK_MS as u64));
        assert_eq!(console.visitor().get(&old).await.status, 410, "it has expired");
        assert!(console.visitor().get("/reset?secret=guess").await.status == 410);
    });
}

// covers: S5, S8
#[test]
fn changed_roles_and_a_disabled_account_end_sessions_at_once() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let link = invited(&console, &admin, &[("name", "ada"), ("grant_all", "viewer")]).await;
        let (ada, password) = (console.visitor(), random_secret());
        set_password(&ada, &link, &password).await;
        assert_eq!(ada.get("/apps/new").await.status, 403);
        let (of_ada, own) = (address(&console, "ada").await, address(&console, FIRST_ADMIN).await);
        let raised = admin.submit(&format!("{of_ada}/grants"), &[("grant_all", "admin")]).await;
        assert_eq!(raised.location(), of_ada);
        assert_eq!(ada.get("/jobs").await.status, 303, "signed out");
        ada.sign_in("ada", &password).await;
        assert_eq!(ada.get("/apps/new").await.status, 200);
        for path in [&of_ada, &own] {
            let answer = admin.submit(&format!("{path}/disable"), &[]).await;
            assert_eq!((answer.status, answer.location()), (303, path.as_str()));
            let page = admin.get(path).await.body;
            assert_eq!(page.contains("You cannot disable your own account"), *path == own, "{path}");
        }
        assert_eq!(ada.get("/jobs").await.status, 303, "signed out");
        let refused = console.visitor().sign_in("ada", &password).await;
        assert!(refused.status == 401 && refused.body.contains("Name or password is wrong."));
        // The own roles stay, so there is always an administrator.
        let lowered = admin.submit(&format!("{own}/grants"), &[("grant_all", "viewer")]).await;
        assert_eq!(lowered.error("grants"), Some("You cannot change your own roles; another administrator can."));
        assert_eq!(admin.submit(&format!("{own}/delete"), &[]).await.location(), own);
        assert_eq!(admin.submit(&format!("{of_ada}/delete"), &[]).await.location(), "/users");
        assert_eq!(console.store.people().account_by_name("ada").await.unwrap(), None);
    });
}

// covers: S8
#[test]
fn a_new_password_needs_the_current_one_and_ends_the_other_sessions() {
    run(async {
        let console = Console::start().await;
        let (admin, other) = (console.admin().await, console.admin().await);
        let new = random_secret();
        let change = async |current: &str, new: &str, repeated: &str| {
            admin.submit("/account/password", &[("current", current), ("new", new), ("repeated", repeated)]).await
        };
        let wrong = change("another password", &new, &new).await;
        assert_eq!(wrong.error("current"), Some("This is not your current password."));
        assert_eq!(change(&console.password, &new, "x").await.error("new"), Some("The two passwords differ."));
        assert!(change(&console.password, "short", "short").await.error("new").unwrap().contains("choose 10 to 128"));
        assert_eq!(other.get("/jobs").await.status, 200, "nothing has happened yet");
        assert_eq!(change(&console.password, &new, &new).await.location(), "/account");
        assert_eq!((admin.get("/jobs").await.status, other.get("/jobs").await.status), (200, 303));
        assert_eq!(console.visitor().sign_in(FIRST_ADMIN, &console.password).await.status, 401);
        assert_eq!(console.visitor().sign_in(FIRST_ADMIN, &new).await.status, 303);
        for _ in 0..5 {
            change("another password", &random_secret(), "").await;
            let guess = random_secret();
            change("another password", &guess, &guess).await;
        }
        let late = change("another password", &new, &new).await;
        assert!(late.error("current").unwrap().contains("Too many failed attempts"), "guesses are counted");
    });
}

// covers: S5
#[test]
fn the_own_sessions_are_listed_and_ended() {
    run(async {
        let console = Console::start().await;
        let (admin, second, third) = (console.admin().await, console.admin().await, console.admin().await);
        let page = admin.get("/account").await.body;
        assert_eq!(page.matches("data-label=\"Last used\"").count(), 3, "{page}");
        assert_eq!(page.matches(">this one<").count(), 1);
        assert!(page.contains("<code>127.0.0.1</code>"));
        let sessions: Vec<&str> = page.split("name=\"session\" value=\"").skip(1).map(|it| &it[..64]).collect();
        assert_eq!(sessions.len(), 2);
        admin.submit("/account/sessions/end", &[("session", sessions[0])]).await;
        let left = [second.get("/jobs").await.status, third.get("/jobs").await.status];
        assert_eq!(left.iter().filter(|status| **status == 200).count(), 1);
        let answer = admin.submit("/account/sessions/end", &[]).await;
        assert!(admin.get(answer.location()).await.body.contains("The other session is ended."));
        assert_eq!((second.get("/jobs").await.status, third.get("/jobs").await.status), (303, 303));
        assert_eq!(admin.get("/jobs").await.status, 200);
        assert_eq!(admin.submit("/account/sessions/end", &[("session", "x")]).await.status, 404);
    });
}

// covers: S9
#[test]
fn a_token_is_shown_once_and_works_until_it_is_revoked_or_expires() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let password = ("own_password", console.password.as_str());
        let fields = [("name", "deploy"), ("role", "viewer"), ("apps", "all"), ("days", "30"), password];
        let made = admin.submit("/account/tokens", &fields).await;
        let token = snippet(&made).to_owned();
        assert!(token.starts_with("carillon_") && made.header("cache-control") == "no-store");
        let call = async |method: reqwest::Method, path: &str| {
            let call = Client::new().request(method, format!("{}/api/v1{path}", console.url)).bearer_auth(&token);
            call.json(&serde_json::json!({"name": "another"})).send().await.unwrap().status().as_u16()
        };
        assert_eq!(call(reqwest::Method::GET, "/jobs").await, 200);
        assert_eq!(call(reqwest::Method::POST, "/apps").await, 403, "it is a viewer");
        let page = admin.get("/account").await.body;
        assert!(!page.contains(&token) && page.contains("deploy") && page.contains("viewer of all apps"));
        let stored = console.store.people().tokens_of(1).await.unwrap().remove(0);
        assert_eq!(stored.grants, Grants::for_all(Role::Viewer));
        for (wrong, field) in [
            (vec![("name", ""), ("role", "viewer"), ("apps", "all")], "name"),
            (vec![("name", "x"), ("role", "root"), ("apps", "all")], "role"),
            (vec![("name", "x"), ("role", "viewer")], "apps"),
            (vec![("name", "x"), ("role", "viewer"), ("apps", "all"), ("days", "999")], "days"),
        ] {
            let answer = admin.submit("/account/tokens", &wrong).await;
            assert!(answer.status == 422 && answer.error(field).is_some(), "{field}: {}", answer.body);
        }
        console.clock.advance(std::time::Duration::from_secs(30 * 86_400));
        assert_eq!(call(reqwest::Method::GET, "/jobs").await, 401, "expired");
        let admin = console.admin().await;
        let made = admin.submit("/account/tokens", &fields).await;
        let token = snippet(&made).to_owned();
        let get = async || Client::new().get(format!("{}/api/v1/jobs", console.url)).bearer_auth(&token).send().await;
        assert_eq!(get().await.unwrap().status(), 200);
        let newest = console.store.people().tokens_of(1).await.unwrap()[0].id;
        admin.submit(&format!("/account/tokens/{newest}/revoke"), &[]).await;
        assert_eq!(get().await.unwrap().status(), 401, "revoked");
        assert_eq!(admin.submit(&format!("/account/tokens/{newest}/revoke"), &[]).await.status, 404);
    });
}

// covers: S37
#[test]
fn what_is_done_to_accounts_is_in_the_audit_without_secrets() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let link = invited(&console, &admin, &[("name", "ada")]).await;
        let of_ada = address(&console, "ada").await;
        admin.submit(&format!("{of_ada}/grants"), &[("grant_all", "viewer")]).await;
        admin.submit(&format!("{of_ada}/disable"), &[]).await;
        admin.submit(&format!("{of_ada}/delete"), &[]).await;
        let id = of_ada.rsplit('/').next().unwrap().parse().unwrap();
        let entries =
            console.store.audit().list(&AuditFilter::about(AuditObjectKind::Account, id)).await.unwrap().items;
        let actions: Vec<&str> = entries.iter().rev().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions, ["create", "update", "disable", "delete"]);
        assert!(entries.iter().all(|entry| entry.actor == FIRST_ADMIN && entry.source == "127.0.0.1"));
        let secret = link.split_once("secret=").unwrap().1;
        let hash = carillon_accounts::secret::hash(secret);
        assert!(entries.iter().all(|entry| !entry.detail.contains(secret) && !entry.detail.contains(&hash)));
    });
}
