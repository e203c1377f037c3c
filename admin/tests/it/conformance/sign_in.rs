//! What signing in stores, on every database: people of an OpenID provider, second factors, and sign-ins that have begun.

use carillon_accounts::token::{self, Bearer, TokenRequest};
use carillon_store::people::accounts::NewAccount;
use carillon_store::people::provided::{ProvidedAccount, ProvidedPerson, ProvidedSignIn};
use carillon_store::people::second_factor::ConfirmedFactor;
use carillon_store::people::sessions::{NewSession, SignInMethod};
use carillon_store::people::sign_in_steps::{NewStep, StepKind};
use carillon_store::{Actor, Error, Grants, Role};

use super::fixture::{Fixture, NOW, actor};

async fn account(fixture: &Fixture, name: &str) -> i64 {
    let new = NewAccount { name, password_hash: "hash", grants: &Grants::for_all(Role::Admin) };
    fixture.store.people().create_account(&new, NOW, &actor()).await.unwrap()
}

async fn sign_in(fixture: &Fixture, identity_hash: &str, grants: &str) -> ProvidedSignIn {
    sign_in_at(fixture, identity_hash, grants, NOW).await
}

fn session(id_hash: &str, account_id: i64) -> NewSession<'_> {
    let (expires_at, method) = (NOW + 1000, SignInMethod::Provider);
    NewSession {
        id_hash,
        account_id,
        csrf: "t",
        now: NOW,
        expires_at,
        agent: "",
        credentials: 0,
        method,
        second_step: None,
    }
}

/// Whether a token is valid at this time, for a node whose administrators need a second factor or not.
async fn counts(fixture: &Fixture, token: &str, needs_factor: bool, at: i64) -> bool {
    let bearer = Bearer { source: "10.0.0.1", request_id: None, needs_factor };
    token::authenticate(&fixture.store, token, &bearer, at).await.unwrap().is_some()
}

/// A token with these roles, for a year.
async fn token_of(fixture: &Fixture, account_id: i64, grants: &str, now: i64) -> String {
    let (grants, found) =
        (grants.parse::<Grants>().unwrap(), fixture.store.people().account(account_id).await.unwrap().unwrap());
    let by = Actor::new("ada", "", grants.clone());
    let request =
        TokenRequest { account_id, name: "deploy", grants: &grants, days: 366, credentials: found.credentials };
    token::create(&fixture.store, &request, now, &by).await.unwrap()
}

async fn sign_in_at(fixture: &Fixture, identity_hash: &str, grants: &str, now: i64) -> ProvidedSignIn {
    let names = ["ada".to_owned(), format!("ada ({identity_hash})")];
    let grants: Grants = grants.parse().unwrap();
    let issuer = "https://login.example.com";
    let person = ProvidedPerson { identity_hash, issuer, names: &names, grants: &grants };
    fixture.store.people().provided_sign_in(&person, now, &actor()).await.unwrap()
}

databases! {
    async fn a_person_of_a_provider_keeps_one_account_whose_roles_follow(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        account(&fixture, "ada").await;
        assert_eq!(sign_in(&fixture, "i1", "").await, ProvidedSignIn::NoRole(None));
        assert_eq!(fixture.count("account", "1 = 1").await, 1);
        let (one, two) = tokio::join!(sign_in(&fixture, "i1", "all:viewer"), sign_in(&fixture, "i1", "all:viewer"));
        assert_eq!(one, two, "two browsers at once make one account");
        let ProvidedSignIn::Accepted(ProvidedAccount { account_id, name, credentials: 0 }) = one else { panic!("{one:?}") };
        assert_eq!(name, "ada (i1)", "the name was taken");
        assert_eq!(fixture.count("account", "1 = 1").await, 2);
        assert_eq!(fixture.count("audit", "actor = 'openid'").await, 1);

        assert!(fixture.store.people().open_session(&session("s", account_id), None, 1000, &actor()).await.unwrap());
        let found = fixture.store.people().session("s", NOW, 1000).await.unwrap().unwrap();
        assert_eq!(found.issuer.as_deref(), Some("https://login.example.com"));
        sign_in(&fixture, "i1", "all:viewer").await;
        assert!(fixture.store.people().session("s", NOW, 1000).await.unwrap().is_some(), "nothing has changed");
        sign_in(&fixture, "i1", "all:editor").await;
        assert!(fixture.store.people().session("s", NOW, 1000).await.unwrap().is_none());
        let stale = fixture.store.people().open_session(&session("t", account_id), None, 1000, &actor()).await.unwrap();
        assert!(!stale, "a sign-in that began with the former roles");
        let refused = sign_in(&fixture, "i1", "").await;
        assert!(matches!(refused, ProvidedSignIn::NoRole(Some(ref found)) if found.account_id == account_id), "{refused:?}");
        let found = fixture.store.people().account(account_id).await.unwrap().unwrap();
        assert!(found.grants.is_empty(), "the roles are gone");
        fixture.store.people().set_account_enabled(account_id, false, NOW, &actor()).await.unwrap();
        let refused = sign_in(&fixture, "i1", "all:admin").await;
        assert!(matches!(refused, ProvidedSignIn::Disabled(ref found) if found.account_id == account_id), "{refused:?}");
        let other = sign_in(&fixture, "i2", "all:viewer").await;
        assert!(matches!(other, ProvidedSignIn::Accepted(ref found) if found.name == "ada (i2)"), "{other:?}");
    }

    async fn a_second_factor_counts_when_it_is_confirmed_and_each_code_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, id) = (&fixture.store, account(&fixture, "ada").await);
        assert_eq!(store.people().second_factor(id).await.unwrap(), None);
        assert!(store.people().propose_second_factor((id, "s"), "first", NOW).await.unwrap());
        assert!(store.people().propose_second_factor((id, "s"), "sealed", NOW).await.unwrap(), "another one replaces it");
        assert!(!store.people().use_totp_step(id, 1).await.unwrap(), "it does not count yet");
        let hashes = ["h1".to_owned(), "h2".to_owned()];
        let confirm = async |sealed_secret: &str, session: &str, at: i64| {
            let factor = ConfirmedFactor { sealed_secret, step: 7, recovery_hashes: &hashes };
            store.people().confirm_second_factor((id, session), &factor, at, &actor()).await.unwrap()
        };
        assert!(!confirm("first", "s", NOW).await);
        assert!(!confirm("sealed", "of another", NOW).await, "it was shown in one session");
        assert_eq!(store.people().proposed_factor((id, "of another"), NOW).await.unwrap(), None);
        let late = NOW + 15 * 60_000;
        assert!(store.people().proposed_factor((id, "s"), late - 1).await.unwrap().is_some());
        assert_eq!(store.people().proposed_factor((id, "s"), late).await.unwrap(), None, "it was shown too long ago");
        assert!(!confirm("sealed", "s", late).await);
        for own in ["s", "of a thief"] {
            assert!(store.people().open_session(&session(own, id), None, 1000, &actor()).await.unwrap());
        }
        assert!(confirm("sealed", "s", NOW).await);
        assert!(store.people().session("s", NOW, 1000).await.unwrap().is_some());
        assert!(store.people().session("of a thief", NOW, 1000).await.unwrap().is_none(), "it has given no code");
        let begun = store.people().open_session(&session("begun before", id), None, 1000, &actor()).await.unwrap();
        assert!(!begun, "nor has a sign-in that had begun");
        assert!(!confirm("sealed", "s", NOW).await, "it counts already");
        assert!(!store.people().propose_second_factor((id, "s"), "other", NOW).await.unwrap());
        let found = store.people().second_factor(id).await.unwrap().unwrap();
        assert_eq!((found.sealed_secret.as_str(), found.since), ("sealed", Some(NOW)));

        assert!(!store.people().use_totp_step(id, 7).await.unwrap(), "the code that confirmed it");
        let (one, two) = tokio::join!(store.people().use_totp_step(id, 8), store.people().use_totp_step(id, 8));
        assert!(one.unwrap() != two.unwrap(), "one of two at once");
        assert!(!store.people().use_totp_step(id, 6).await.unwrap(), "an older one");
        assert!(store.people().use_recovery_code(id, "h1").await.unwrap());
        assert!(!store.people().use_recovery_code(id, "h1").await.unwrap());
        assert_eq!(store.people().recovery_codes(id).await.unwrap(), 1);

        store.people().remove_second_factor(id, None, NOW, &actor()).await.unwrap();
        assert_eq!((store.people().second_factor(id).await.unwrap(), store.people().recovery_codes(id).await.unwrap()), (None, 0));
        assert!(matches!(store.people().remove_second_factor(id, None, NOW, &actor()).await, Err(Error::Missing(_))));
        let other = account(&fixture, "bob").await;
        store.people().propose_second_factor((other, "s"), "x", NOW).await.unwrap();
        let factor = ConfirmedFactor { sealed_secret: "x", step: 1, recovery_hashes: &hashes };
        assert!(store.people().confirm_second_factor((other, "s"), &factor, NOW, &actor()).await.unwrap());
        store.people().delete_account(other, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("recovery_code", "1 = 1").await, 0);
    }

    // covers: S9
    async fn tokens_of_a_provided_account_count_for_a_month_after_its_last_sign_in(db: &TestDatabase) {
        let (fixture, day) = (Fixture::new(db).await, 86_400_000);
        let ProvidedSignIn::Accepted(ada) = sign_in(&fixture, "i1", "all:viewer").await else { panic!("ada") };
        let token = token_of(&fixture, ada.account_id, "all:viewer", NOW).await;
        assert!(counts(&fixture, &token, true, NOW + 30 * day - 1).await);
        assert!(!counts(&fixture, &token, true, NOW + 30 * day).await, "nobody vouches for the account");
        sign_in_at(&fixture, "i1", "", NOW + 20 * day).await;
        assert!(!counts(&fixture, &token, true, NOW + 30 * day).await, "nor by a sign-in without a role");
        sign_in_at(&fixture, "i1", "all:viewer", NOW + 40 * day).await;
        assert!(counts(&fixture, &token, true, NOW + 69 * day).await, "signed in again");
        // As after a migration, or made by a node of an earlier version.
        fixture.sql("UPDATE account SET provided_at = NULL").await;
        assert!(counts(&fixture, &token, true, NOW + 29 * day).await && !counts(&fixture, &token, true, NOW + 30 * day).await);
        let bob = account(&fixture, "bob").await;
        let of_bob = token_of(&fixture, bob, "all:viewer", NOW).await;
        assert!(counts(&fixture, &of_bob, false, NOW + 300 * day).await, "a password is an affair of this console");
    }

    // covers: S9
    async fn the_second_factor_of_administrators_is_asked_of_their_tokens(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, bob) = (&fixture.store, account(&fixture, "bob").await);
        let (admin, viewer) = (token_of(&fixture, bob, "all:admin", NOW).await, token_of(&fixture, bob, "all:viewer", NOW).await);
        assert!(counts(&fixture, &admin, false, NOW).await);
        assert!(!counts(&fixture, &admin, true, NOW).await, "it was made without one");
        assert!(counts(&fixture, &viewer, true, NOW).await, "it does nothing that needs one");
        store.people().propose_second_factor((bob, "s"), "x", NOW).await.unwrap();
        assert!(!counts(&fixture, &admin, true, NOW).await, "it is shown, but not on");
        let factor = ConfirmedFactor { sealed_secret: "x", step: 1, recovery_hashes: &[] };
        assert!(store.people().confirm_second_factor((bob, "s"), &factor, NOW, &actor()).await.unwrap());
        assert!(counts(&fixture, &admin, true, NOW).await);
        // The provider has its own.
        let ProvidedSignIn::Accepted(ada) = sign_in(&fixture, "i1", "all:admin").await else { panic!("ada") };
        let of_ada = token_of(&fixture, ada.account_id, "all:admin", NOW).await;
        assert!(counts(&fixture, &of_ada, true, NOW).await);
    }

    // covers: V4, W2
    async fn whoever_begins_many_sign_ins_keeps_nobody_else_of_the_network_out(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let begin = async |id_hash: &str, kind: StepKind, source: &str, until: i64| {
            store.people().begin_step(&NewStep { id_hash, kind, detail: "{}", source, expires_at: until }, NOW).await.unwrap();
        };
        begin("code", StepKind::Code, "2001:db8:1:2::1", NOW + 1).await;
        for number in 0..1_000_i64 {
            let source = format!("2001:db8:1:2::{number:x}");
            begin(&format!("many {number}"), StepKind::Provider, &source, NOW + 100 + number).await;
        }
        begin("colleague", StepKind::Provider, "2001:db8:1:2:ffff::1", NOW + 2_000).await;
        let waits = async |id_hash: &str, kind| store.people().sign_in_step(id_hash, kind, NOW).await.unwrap().is_some();
        assert!(waits("colleague", StepKind::Provider).await);
        assert!(waits("code", StepKind::Code).await, "kinds are counted apart");
        assert!(!waits("many 0", StepKind::Provider).await, "the oldest has made room");
        assert!(waits("many 1", StepKind::Provider).await);
        assert_eq!(fixture.count("sign_in_step", "1 = 1").await, 1_001);
        begin("elsewhere", StepKind::Provider, "2001:db8:1:3::1", NOW + 100).await;
        assert_eq!(fixture.count("sign_in_step", "1 = 1").await, 1_002);
    }

    async fn a_step_of_a_sign_in_is_used_once_and_expires(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let step = |id_hash: &'static str, source: &'static str| NewStep {
            id_hash, kind: StepKind::Code, detail: "{}", source, expires_at: NOW + 100,
        };
        store.people().begin_step(&step("a", "x"), NOW).await.unwrap();
        assert_eq!(store.people().sign_in_step("a", StepKind::Code, NOW).await.unwrap().as_deref(), Some("{}"));
        assert_eq!(store.people().sign_in_step("a", StepKind::Provider, NOW).await.unwrap(), None);
        assert_eq!(store.people().sign_in_step("a", StepKind::Code, NOW + 100).await.unwrap(), None, "expired");
        let (one, two) = tokio::join!(store.people().end_step("a"), store.people().end_step("a"));
        assert!(one.unwrap() != two.unwrap(), "one of two at once");
        store.people().begin_step(&step("b", "x"), NOW).await.unwrap();
        store.people().begin_step(&step("c", "x"), NOW + 200).await.unwrap();
        assert_eq!(fixture.count("sign_in_step", "1 = 1").await, 1, "those that have expired are removed");
    }
}
