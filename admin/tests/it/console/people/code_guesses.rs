//! Others try codes, or have the password: whom the second factor keeps out, and whom it must not.

use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;

use super::second_factor::{WRONG, World, shown_secret};
use crate::console::run;

// covers: V4
#[test]
fn a_browser_that_has_given_a_code_is_not_kept_out_by_wrong_codes_of_others() {
    run(async {
        let world = World::start().await;
        // The thief's browser is known, too, but has never given a code.
        let (owner, thief) = (world.console.admin().await, world.console.admin().await);
        let (secret, _) = world.set_up(&owner).await;
        for number in 0..6 {
            let answer = thief.sign_in(FIRST_ADMIN, &world.console.password).await;
            let sent = world.send_code(&thief, &answer.hidden("handle"), "000000").await;
            assert_eq!(sent.status, if number < 5 { 401 } else { 429 }, "{number}");
        }
        world.next_step();
        let stranger = world.console.visitor();
        let handle = world.half_signed_in(&stranger).await;
        let code = world.code(&secret);
        let refused = world.send_code(&stranger, &handle, "000000").await;
        assert!([401, 429].contains(&refused.status));
        owner.submit("/logout", &[]).await;
        let handle = world.half_signed_in(&owner).await;
        assert_eq!(world.send_code(&owner, &handle, &code).await.status, 303, "the browser is known");
        world.next_step();
        let code = world.code(&secret);
        assert_eq!(owner.submit("/account/second-factor/remove", &[("code", &code)]).await.location(), "/account");
        // Its own attempts are counted.
        world.set_up(&owner).await;
        let mut statuses = vec![];
        for _ in 0..6 {
            let answer = owner.submit("/account/second-factor/remove", &[("code", "000000")]).await;
            statuses.push(answer.error("code") == Some(WRONG));
        }
        assert_eq!(statuses, [true, true, true, true, true, false]);
    });
}

// covers: S5, S9
#[test]
fn turning_it_on_ends_the_sessions_that_have_given_no_code() {
    run(async {
        let world = World::with(|config| config.admin_second_factor = true).await;
        let (owner, thief) = (world.console.admin().await, world.console.admin().await);
        assert_eq!(thief.get("/account").await.status, 200);
        let (secret, _) = world.set_up(&owner).await;
        assert_eq!(owner.get("/users").await.status, 200, "the session that has given the code goes on");
        assert_eq!(thief.get("/account").await.status, 303);
        assert_eq!(thief.get("/users").await.status, 303);
        let elsewhere = world.console.visitor();
        let handle = world.half_signed_in(&elsewhere).await;
        assert_eq!(world.send_code(&elsewhere, &handle, &world.code(&secret)).await.status, 303);
    });
}

// covers: S4
#[test]
fn the_first_code_is_throttled_and_its_secret_expires() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let password = [("password", &*world.console.password)];
        let confirm = async |code: &str| admin.submit("/account/second-factor/confirm", &[("code", code)]).await;
        let secret = shown_secret(&admin.submit("/account/second-factor", &password).await);
        for _ in 0..5 {
            assert!(confirm("000000").await.error("code").unwrap().starts_with("This is not the code"));
        }
        let late = confirm(&world.code(&secret)).await;
        assert!(late.error("code").unwrap().contains("Too many failed attempts"), "{}", late.body);
        let other = world.console.admin().await;
        let elsewhere = other.submit("/account/second-factor/confirm", &[("code", &world.code(&secret))]).await;
        assert!(
            elsewhere.error("password").unwrap().starts_with("The secret was shown too long ago"),
            "another session"
        );
        world.console.advance_minutes(15);
        let expired = confirm(&world.code(&secret)).await;
        assert_eq!(
            expired.error("password"),
            Some("The secret was shown too long ago. Set the second factor up again.")
        );
        let secret = shown_secret(&admin.submit("/account/second-factor", &password).await);
        assert_eq!(confirm(&world.code(&secret)).await.status, 200);
    });
}

// covers: S5
#[test]
fn a_sign_in_that_awaits_its_code_ends_with_the_password() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (secret, _) = world.set_up(&admin).await;
        let thief = world.console.visitor();
        let handle = world.half_signed_in(&thief).await;
        let new = random_secret();
        let fields = [("current", &*world.console.password), ("new", &new), ("repeated", &new)];
        assert_eq!(admin.submit("/account/password", &fields).await.location(), "/account");
        let code = world.code(&secret);
        let answer = world.send_code(&thief, &handle, &code).await;
        assert!(answer.status == 401 && answer.body.contains("The sign-in has expired."), "{}", answer.body);
        assert!(!thief.cookies.lock().unwrap().contains_key("carillon_session"));
        let removed = admin.submit("/account/second-factor/remove", &[("code", &code)]).await;
        assert_eq!(removed.location(), "/account", "the code was not used up");
    });
}
