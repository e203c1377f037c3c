//! Somebody who was at an open browser, or who knows the password, and what puts an end to it.

use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use reqwest::Client;

use super::users::{address, invited, set_password, snippet};
use crate::console::client::{Console, ConsoleClient};
use crate::console::run;

/// What the API answers to the bearer of a token.
async fn status(console: &Console, token: &str) -> u16 {
    let call = Client::new().get(format!("{}/api/v1/jobs", console.url)).bearer_auth(token);
    call.send().await.unwrap().status().as_u16()
}

/// A token of the person who is signed in here.
async fn token(person: &ConsoleClient, password: &str) -> String {
    let fields = [("name", "deploy"), ("role", "viewer"), ("apps", "all"), ("own_password", password)];
    let made = person.submit("/account/tokens", &fields).await;
    assert_eq!(made.status, 200, "{}", made.body);
    snippet(&made).to_owned()
}

// covers: S9
#[test]
fn a_new_token_needs_the_password_of_its_owner() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let ask = async |password: &[(&str, &str)]| {
            let others = [("name", "deploy"), ("role", "admin"), ("apps", "all"), ("days", "366")];
            admin.submit("/account/tokens", &[&others[..], password].concat()).await
        };
        let answer = ask(&[]).await;
        assert_eq!((answer.status, answer.error("own_password")), (422, Some("Your password is missing.")));
        assert!(answer.body.contains("value=\"deploy\""), "what was typed stays");
        let guess = random_secret();
        for _ in 0..5 {
            let answer = ask(&[("own_password", &guess)]).await;
            assert_eq!((answer.status, answer.error("own_password")), (422, Some("This is not your password.")));
            assert!(!answer.body.contains(&guess), "the password does not stay");
        }
        let late = ask(&[("own_password", &console.password)]).await;
        assert!(late.error("own_password").unwrap().contains("Too many failed attempts"), "guesses are counted");
        assert!(console.store.people().tokens_of(1).await.unwrap().is_empty());
        console.clock.advance(std::time::Duration::from_secs(11));
        assert_eq!(ask(&[("own_password", &console.password)]).await.status, 200);
        assert_eq!(console.store.people().tokens_of(1).await.unwrap().len(), 1);
    });
}

// covers: S8, S9
#[test]
fn an_administrator_sees_the_tokens_of_an_account_and_ends_them() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let link = invited(&console, &admin, &[("name", "ada"), ("grant_all", "viewer")]).await;
        let (ada, password) = (console.visitor(), random_secret());
        set_password(&ada, &link, &password).await;
        let of_ada = address(&console, "ada").await;
        assert!(admin.get(&of_ada).await.body.contains("The user has no tokens of the API."));
        let (one, two) = (token(&ada, &password).await, token(&ada, &password).await);
        assert_eq!(status(&console, &one).await, 200);

        let page = admin.get(&of_ada).await.body;
        for shown in ["deploy", "viewer of all apps", "from 127.0.0.1", "Disable and revoke 2 tokens"] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert!(page.contains("End all sessions and revoke 2 tokens"), "{page}");
        let account = console.store.people().account_by_name("ada").await.unwrap().unwrap().id;
        let oldest = console.store.people().tokens_of(account).await.unwrap().pop().unwrap().id;
        let revoke = format!("{of_ada}/tokens/{oldest}/revoke");
        assert_eq!(ada.submit(&revoke, &[]).await.status, 403);
        assert_eq!(admin.submit(&revoke, &[]).await.location(), of_ada);
        assert_eq!((status(&console, &one).await, status(&console, &two).await), (401, 200));
        let of_admin = format!("{}/tokens/{oldest}/revoke", address(&console, FIRST_ADMIN).await);
        assert_eq!(admin.submit(&of_admin, &[]).await.status, 404, "not a token of that account");

        let answer = admin.submit(&format!("{of_ada}/sessions/end"), &[]).await;
        let page = admin.get(answer.location()).await.body;
        assert!(page.contains("Of ada, sessions ended: 1, tokens revoked: 1."), "{page}");
        assert_eq!((status(&console, &two).await, ada.get("/jobs").await.status), (401, 303));

        ada.sign_in("ada", &password).await;
        let three = token(&ada, &password).await;
        admin.submit(&format!("{of_ada}/disable"), &[]).await;
        admin.submit(&format!("{of_ada}/enable"), &[]).await;
        assert_eq!(status(&console, &three).await, 401, "it does not come back with the account");

        ada.sign_in("ada", &password).await;
        let four = token(&ada, &password).await;
        let made = admin.submit(&format!("{of_ada}/reset"), &[]).await;
        let link = snippet(&made).strip_prefix(&console.url).unwrap().to_owned();
        assert_eq!(status(&console, &four).await, 200, "the link is not used yet");
        set_password(&console.visitor(), &link, &random_secret()).await;
        assert_eq!(status(&console, &four).await, 401);
    });
}

// covers: S8, S9
#[test]
fn the_own_new_password_ends_the_tokens_unless_their_owner_wants_them() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let mine = token(&admin, &console.password).await;
        let page = admin.get("/account").await.body;
        assert!(page.contains("name=\"revoke_tokens\" value=\"yes\" checked"), "{page}");
        let (second, third) = (random_secret(), random_secret());
        let change = async |current: &str, new: &str, others: &[(&str, &str)]| {
            let passwords = [("current", current), ("new", new), ("repeated", new)];
            admin.submit("/account/password", &[&passwords[..], others].concat()).await
        };
        let wrong = change("not the password", &second, &[]).await;
        assert!(wrong.status == 422 && !wrong.body.contains("value=\"yes\" checked"), "the choice stays");
        assert_eq!(change(&console.password, &second, &[]).await.location(), "/account");
        assert_eq!(status(&console, &mine).await, 200, "the owner wants to keep it");
        let changed = change(&second, &third, &[("revoke_tokens", "yes")]).await;
        assert_eq!(changed.location(), "/account");
        assert!(admin.get("/account").await.body.contains("and your tokens are revoked."));
        assert_eq!(status(&console, &mine).await, 401);
    });
}

// covers: V4
#[test]
fn a_known_browser_does_what_needs_the_password_while_its_account_is_attacked() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for _ in 0..6 {
            console.visitor().sign_in(FIRST_ADMIN, "wrong wrong").await;
        }
        assert_eq!(console.visitor().sign_in(FIRST_ADMIN, &console.password).await.status, 429);
        token(&admin, &console.password).await;
        let new = random_secret();
        let fields = [("current", console.password.as_str()), ("new", &new), ("repeated", &new)];
        assert_eq!(admin.submit("/account/password", &fields).await.location(), "/account");
        // Its own wrong passwords count, and those of the session's browser alone.
        let other = console.visitor();
        other.with_cookies_of(&admin);
        other.cookies.lock().unwrap().remove("carillon_device");
        let fields = [("current", new.as_str()), ("new", &console.password), ("repeated", &console.password)];
        let refused = other.submit("/account/password", &fields).await;
        assert!(refused.error("current").unwrap().contains("Too many failed attempts"), "without the proof");
    });
}
