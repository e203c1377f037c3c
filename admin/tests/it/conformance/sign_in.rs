//! What signing in stores, on every database: people of an OpenID provider, second factors, and sign-ins that have begun.

use carillon_store::people::accounts::NewAccount;
use carillon_store::people::provided::{ProvidedPerson, ProvidedSignIn};
use carillon_store::people::sessions::NewSession;
use carillon_store::people::sign_in_steps::{NewStep, StepKind};
use carillon_store::{Error, Grants, Role};

use super::fixture::{Fixture, NOW, actor};

async fn account(fixture: &Fixture, name: &str) -> i64 {
    let new = NewAccount { name, password_hash: "hash", grants: &Grants::for_all(Role::Admin) };
    fixture.store.create_account(&new, NOW, &actor()).await.unwrap()
}

async fn sign_in(fixture: &Fixture, identity_hash: &str, grants: &str) -> ProvidedSignIn {
    let names = ["ada".to_owned(), format!("ada ({identity_hash})")];
    let grants: Grants = grants.parse().unwrap();
    let issuer = "https://login.example.com";
    let person = ProvidedPerson { identity_hash, issuer, names: &names, grants: &grants };
    fixture.store.provided_sign_in(&person, NOW, &actor()).await.unwrap()
}

databases! {
    async fn a_person_of_a_provider_keeps_one_account_whose_roles_follow(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        account(&fixture, "ada").await;
        assert_eq!(sign_in(&fixture, "i1", "").await, ProvidedSignIn::NoRole);
        assert_eq!(fixture.count("account", "1 = 1").await, 1);
        let (one, two) = tokio::join!(sign_in(&fixture, "i1", "all:viewer"), sign_in(&fixture, "i1", "all:viewer"));
        assert_eq!(one, two, "two browsers at once make one account");
        let ProvidedSignIn::Accepted { account_id, name } = one else { panic!("{one:?}") };
        assert_eq!(name, "ada (i1)", "the name was taken");
        assert_eq!(fixture.count("account", "1 = 1").await, 2);
        assert_eq!(fixture.count("audit", "actor = 'openid'").await, 1);

        let session = NewSession {
            id_hash: "s", account_id, csrf: "t", now: NOW, expires_at: NOW + 1000, agent: "",
        };
        fixture.store.open_session(&session, None, 1000, &actor()).await.unwrap();
        let found = fixture.store.session("s", NOW, 1000).await.unwrap().unwrap();
        assert_eq!(found.issuer.as_deref(), Some("https://login.example.com"));
        sign_in(&fixture, "i1", "all:viewer").await;
        assert!(fixture.store.session("s", NOW, 1000).await.unwrap().is_some(), "nothing has changed");
        sign_in(&fixture, "i1", "all:editor").await;
        assert!(fixture.store.session("s", NOW, 1000).await.unwrap().is_none());
        assert_eq!(sign_in(&fixture, "i1", "").await, ProvidedSignIn::NoRole);
        let found = fixture.store.account(account_id).await.unwrap().unwrap();
        assert!(found.grants.is_empty(), "the roles are gone");
        fixture.store.set_account_enabled(account_id, false, NOW, &actor()).await.unwrap();
        assert_eq!(sign_in(&fixture, "i1", "all:admin").await, ProvidedSignIn::Disabled);
        let other = sign_in(&fixture, "i2", "all:viewer").await;
        assert!(matches!(other, ProvidedSignIn::Accepted { ref name, .. } if name == "ada (i2)"), "{other:?}");
    }

    async fn a_second_factor_counts_when_it_is_confirmed_and_each_code_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, id) = (&fixture.store, account(&fixture, "ada").await);
        assert_eq!(store.second_factor(id).await.unwrap(), None);
        assert!(store.propose_second_factor(id, "first").await.unwrap());
        assert!(store.propose_second_factor(id, "sealed").await.unwrap(), "another one replaces it");
        assert!(!store.use_totp_step(id, 1).await.unwrap(), "it does not count yet");
        let hashes = ["h1".to_owned(), "h2".to_owned()];
        let confirm = async |sealed: &str| store.confirm_second_factor(id, (sealed, 7), &hashes, NOW, &actor()).await.unwrap();
        assert!(!confirm("first").await);
        assert!(confirm("sealed").await);
        assert!(!confirm("sealed").await, "it counts already");
        assert!(!store.propose_second_factor(id, "other").await.unwrap());
        let found = store.second_factor(id).await.unwrap().unwrap();
        assert_eq!((found.sealed_secret.as_str(), found.since), ("sealed", Some(NOW)));

        assert!(!store.use_totp_step(id, 7).await.unwrap(), "the code that confirmed it");
        let (one, two) = tokio::join!(store.use_totp_step(id, 8), store.use_totp_step(id, 8));
        assert!(one.unwrap() != two.unwrap(), "one of two at once");
        assert!(!store.use_totp_step(id, 6).await.unwrap(), "an older one");
        assert!(store.use_recovery_code(id, "h1").await.unwrap());
        assert!(!store.use_recovery_code(id, "h1").await.unwrap());
        assert_eq!(store.recovery_codes(id).await.unwrap(), 1);

        store.remove_second_factor(id, NOW, &actor()).await.unwrap();
        assert_eq!((store.second_factor(id).await.unwrap(), store.recovery_codes(id).await.unwrap()), (None, 0));
        assert!(matches!(store.remove_second_factor(id, NOW, &actor()).await, Err(Error::Missing(_))));
        let other = account(&fixture, "bob").await;
        store.propose_second_factor(other, "x").await.unwrap();
        store.confirm_second_factor(other, ("x", 1), &hashes, NOW, &actor()).await.unwrap();
        store.delete_account(other, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("recovery_code", "1 = 1").await, 0);
    }

    async fn a_step_of_a_sign_in_is_used_once_and_expires(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let step = |id_hash: &'static str, source: &'static str| NewStep {
            id_hash, kind: StepKind::Code, detail: "{}", source, expires_at: NOW + 100,
        };
        store.begin_step(&step("a", "x"), NOW).await.unwrap();
        assert_eq!(store.step("a", StepKind::Code, NOW).await.unwrap().as_deref(), Some("{}"));
        assert_eq!(store.step("a", StepKind::Provider, NOW).await.unwrap(), None);
        assert_eq!(store.step("a", StepKind::Code, NOW + 100).await.unwrap(), None, "expired");
        let (one, two) = tokio::join!(store.end_step("a"), store.end_step("a"));
        assert!(one.unwrap() != two.unwrap(), "one of two at once");
        store.begin_step(&step("b", "x"), NOW).await.unwrap();
        store.begin_step(&step("c", "x"), NOW + 200).await.unwrap();
        assert_eq!(fixture.count("sign_in_step", "1 = 1").await, 1, "those that have expired are removed");
    }
}
