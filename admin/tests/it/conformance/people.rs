//! Accounts, sessions and the throttle, on every database.

use carillon_accounts::secret::random_secret;
use carillon_accounts::session;
use carillon_accounts::sign_in::{self, Client, SignIn};
use carillon_store::people::accounts::NewAccount;
use carillon_store::people::credentials::NewPassword;
use carillon_store::people::sessions::{NewSession, SignInMethod};
use carillon_store::people::throttle::{Attempt, Subject};
use carillon_store::people::tokens::NewApiToken;
use carillon_store::{Actor, Error, Grants, Result, Role};
use futures_util::future::join_all;

use super::fixture::{Fixture, NOW, actor};

const IDLE: i64 = 1_800_000;

fn session(id_hash: &'static str, account_id: i64, expires_at: i64) -> NewSession<'static> {
    let (agent, method) = ("browser", SignInMethod::Password);
    NewSession {
        id_hash,
        account_id,
        csrf: "token",
        now: NOW,
        expires_at,
        agent,
        credentials: 0,
        method,
        second_step: None,
    }
}

fn password(hash: &str) -> NewPassword<'_> {
    NewPassword { hash, revoke_tokens: false, credentials: None }
}

async fn make_token(fixture: &Fixture, account_id: i64, name: &str, credentials: i64) -> Result<i64> {
    let (grants, token_hash) = (Grants::for_all(Role::Viewer), format!("digest of {name}"));
    let (now, expires_at) = (NOW, NOW + 1000);
    let new = NewApiToken { account_id, name, token_hash: &token_hash, grants: &grants, now, expires_at, credentials };
    fixture.store.people().create_token(&new, &actor()).await
}

/// The bearer of a token at this address.
fn from(source: &str) -> Actor {
    Actor { source: source.to_owned(), ..actor() }
}

/// An administrator of all apps.
async fn make(fixture: &Fixture, name: &str, password_hash: &str) -> Result<i64> {
    let new = NewAccount { name, password_hash, grants: &Grants::for_all(Role::Admin) };
    fixture.store.people().create_account(&new, NOW, &actor()).await
}

databases! {
    async fn an_account_is_found_by_its_exact_name_and_made_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        assert!(!fixture.store.people().has_accounts().await.unwrap());
        let id = make(&fixture, "Ada", "hash").await.unwrap();
        assert!(fixture.store.people().has_accounts().await.unwrap());
        let found = fixture.store.people().account_by_name("Ada").await.unwrap().unwrap();
        assert_eq!((found.id, found.password_hash.as_str(), found.grants.to_string()), (id, "hash", "all:admin".to_owned()));
        assert_eq!(fixture.store.people().account_by_name("ada").await.unwrap(), None);
        let again = make(&fixture, "Ada", "other").await;
        assert!(matches!(again, Err(Error::Taken(_))), "{again:?}");
    }

    // covers: V12.6
    async fn a_request_without_a_session_asks_the_database_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        make(&fixture, "Ada", "hash").await.unwrap();
        assert!(fixture.store.people().has_accounts().await.unwrap());
        // A statement on these tables fails from now on.
        fixture.sql("ALTER TABLE account RENAME TO account_away").await;
        fixture.sql("ALTER TABLE session RENAME TO session_away").await;
        assert!(fixture.store.people().has_accounts().await.unwrap(), "it is remembered");
        let viewer = async |id: &str| session::viewer(&fixture.store, id, NOW, true).await;
        for shape in ["", "x", &"x".repeat(1000), "' OR 1=1"] {
            assert!(matches!(viewer(shape).await, Ok(None)), "{shape}");
        }
        assert!(viewer(&random_secret()).await.is_err(), "only what may be the id of a session is looked up");
    }

    // covers: S1
    async fn the_set_up_secret_makes_one_account(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.people().put_setup_secret("first", NOW).await.unwrap();
        fixture.store.people().put_setup_secret("second", NOW + 1).await.unwrap();
        let secret = fixture.store.people().setup_secret().await.unwrap().unwrap();
        assert_eq!(secret, ("second".to_owned(), NOW + 1), "the newest is the one");
        let stale = ("first".to_owned(), NOW);
        assert_eq!(fixture.store.people().set_up(&stale, "eve", "h", NOW, &actor()).await.unwrap(), None);
        let by = actor();
        let (one, two) = tokio::join!(
            fixture.store.people().set_up(&secret, "ada", "h", NOW, &by),
            fixture.store.people().set_up(&secret, "bob", "h", NOW, &by),
        );
        let made = [one, two].into_iter().filter(|made| matches!(made, Ok(Some(_)))).count();
        assert_eq!(made, 1);
        assert_eq!(fixture.store.people().setup_secret().await.unwrap(), None);
        assert_eq!(fixture.count("account", "1 = 1").await, 1);
    }

    async fn nodes_that_start_together_keep_one_set_up_secret(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let people = fixture.store.people();
        let names: Vec<String> = (0..8).map(|node| format!("secret {node}")).collect();
        let kept = join_all(names.iter().map(|name| people.put_setup_secret(name, NOW))).await;
        assert!(kept.iter().all(Result::is_ok), "{kept:?}");
        let (hash, _) = people.setup_secret().await.unwrap().unwrap();
        assert!(names.contains(&hash), "{hash}");
        assert_eq!(fixture.count("setting", "name = 'setup_secret'").await, 1);
    }

    async fn a_session_lives_until_it_is_idle_old_or_closed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let ada = make(&fixture, "ada", "h").await.unwrap();
        let bob = make(&fixture, "bob", "h").await.unwrap();
        let lives = async |hash: &str, at: i64| fixture.store.people().session(hash, at, IDLE).await.unwrap().is_some();
        fixture.store.people().open_session(&session("a", ada, NOW + 2 * IDLE), None, IDLE, &actor()).await.unwrap();
        fixture.store.people().open_session(&session("b", bob, NOW + 2 * IDLE), None, IDLE, &actor()).await.unwrap();
        let found = fixture.store.people().session("a", NOW, IDLE).await.unwrap().unwrap();
        assert_eq!((found.account.as_str(), found.grants.to_string().as_str(), found.csrf.as_str()), ("ada", "all:admin", "token"));
        assert!(lives("a", NOW + IDLE - 1).await && !lives("a", NOW + IDLE).await);
        fixture.store.people().touch_session("a", NOW + IDLE - 1).await.unwrap();
        fixture.store.people().touch_session("a", NOW + 5).await.unwrap();
        assert!(lives("a", NOW + IDLE).await, "seen later is not undone by seen earlier");
        assert!(!lives("a", NOW + 2 * IDLE).await, "too old");
        assert_eq!(fixture.store.people().sign_out(bob, "b", NOW, &actor()).await.unwrap(), 1);
        assert!(!lives("b", NOW).await);
        fixture.store.people().open_session(&session("c", bob, NOW + 2 * IDLE), None, IDLE, &actor()).await.unwrap();
        fixture.store.people().set_password(bob, &password("new"), NOW, &actor()).await.unwrap();
        assert!(!lives("c", NOW).await && lives("a", NOW + IDLE).await, "of its owner only");
        let mut late = session("d", ada, NOW + 9 * IDLE);
        late.now = NOW + 5 * IDLE;
        fixture.store.people().open_session(&late, None, IDLE, &actor()).await.unwrap();
        assert_eq!(fixture.count("session", "1 = 1").await, 1, "what has ended is cleared away");
    }

    // covers: S2
    async fn a_hash_is_renewed_only_if_nobody_changed_the_password(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let ada = make(&fixture, "ada", "old").await.unwrap();
        fixture.store.people().rehash_password(ada, "older", "never").await.unwrap();
        fixture.store.people().rehash_password(ada, "old", "new").await.unwrap();
        assert_eq!(fixture.store.people().account_by_name("ada").await.unwrap().unwrap().password_hash, "new");
    }

    async fn the_sixth_attempt_waits_for_its_account_whatever_its_source(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let subjects = |account: &str, source: i32| {
            [Subject::Single(format!("account:{account}")), Subject::Shared(format!("source:{source}"))]
        };
        let attempt = async |account: &str, source: i32, at: i64| {
            fixture.store.people().begin_attempt(&subjects(account, source), at).await.unwrap()
        };
        for source in 0..5 {
            assert_eq!(attempt("ada", source, NOW).await, Attempt::Allowed);
        }
        let refused = Attempt::Refused { until_at: NOW + 10_000 };
        assert_eq!(attempt("ada", 9, NOW + 1).await, refused, "of whatever source");
        assert_eq!(attempt("bob", 9, NOW + 1).await, Attempt::Allowed, "a refusal counts for nothing");
        assert_eq!(attempt("ada", 9, NOW + 10_000).await, Attempt::Allowed);
        assert_eq!(attempt("ada", 8, NOW + 10_001).await, Attempt::Refused { until_at: NOW + 30_000 });
        fixture.store.people().end_attempt(&subjects("ada", 9)).await.unwrap();
        assert_eq!(attempt("ada", 8, NOW + 10_003).await, Attempt::Allowed, "the right password ends it");
        let later = NOW + 2 * 3_600_000;
        attempt("carol", 6, later).await;
        assert_eq!(fixture.count("login_throttle", "1 = 1").await, 2, "what is long past is forgotten");
    }

    // covers: V4
    async fn the_attempts_of_a_source_have_a_rate_and_no_wait_that_grows(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let source = [Subject::Shared("source:7".to_owned())];
        let attempt = async |at: i64| fixture.store.people().begin_attempt(&source, at).await.unwrap();
        for _ in 0..20 {
            assert_eq!(attempt(NOW).await, Attempt::Allowed);
        }
        for _ in 0..50 {
            assert_eq!(attempt(NOW + 5_999).await, Attempt::Refused { until_at: NOW + 6_000 }, "it is not prolonged");
        }
        assert_eq!(attempt(NOW + 6_000).await, Attempt::Allowed);
        assert_eq!(attempt(NOW + 6_000).await, Attempt::Refused { until_at: NOW + 12_000 });
        fixture.store.people().end_attempt(&source).await.unwrap();
        assert_eq!(attempt(NOW + 6_000).await, Attempt::Allowed, "a right password costs nothing");
    }

    // covers: V4
    async fn blanks_at_the_end_of_a_name_make_no_other_name_of_the_account(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let hash = carillon_accounts::password::hash("correct horse").await.unwrap();
        make(&fixture, "ada", &hash).await.unwrap();
        let by = from("198.51.100.7");
        let client = Client { by: &by, proof: None };
        let check = async |name: &str| {
            sign_in::check(&fixture.store, name, "correct horse", client, NOW).await.unwrap()
        };
        for name in ["ada ", "ada  ", " ada", "ada\t"] {
            assert!(matches!(check(name).await, SignIn::Wrong), "{name:?}");
        }
        assert!(matches!(check("ada").await, SignIn::Accepted { .. }));
    }

    async fn many_attempts_at_once_are_all_counted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let subjects = [Subject::Single("account:ada".to_owned()), Subject::Shared("source:1".to_owned())];
        let all = (0..20).map(|_| fixture.store.people().begin_attempt(&subjects, NOW));
        let answers = futures_util::future::join_all(all).await;
        let allowed = answers.iter().filter(|it| matches!(it, Ok(Attempt::Allowed))).count();
        assert!(allowed <= 5, "{answers:?}");
    }

    // covers: S8
    async fn the_last_administrator_stays_also_when_two_change_at_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (ada, bob) = (make(&fixture, "ada", "h").await.unwrap(), make(&fixture, "bob", "h").await.unwrap());
        let viewer = Grants::for_all(Role::Viewer);
        let by = actor();
        let (one, two) = tokio::join!(
            fixture.store.people().set_grants(ada, &viewer, NOW, &by),
            fixture.store.people().set_account_enabled(bob, false, NOW, &by),
        );
        assert_eq!([&one, &two].iter().filter(|done| done.is_ok()).count(), 1, "{one:?} {two:?}");
        let all = fixture.store.people().accounts().await.unwrap();
        let admin = all.iter().find(|it| it.disabled_at.is_none() && it.grants == Grants::for_all(Role::Admin)).unwrap();
        for refused in [
            fixture.store.people().delete_account(admin.id, NOW, &by).await,
            fixture.store.people().set_grants(admin.id, &Grants::default(), NOW, &by).await,
            fixture.store.people().set_account_enabled(admin.id, false, NOW, &by).await,
        ] {
            assert!(matches!(refused, Err(Error::InUse(_))), "{refused:?}");
        }
        assert_eq!(fixture.store.people().account(admin.id).await.unwrap().as_ref(), Some(admin));
    }

    // covers: S8
    async fn a_link_for_a_password_works_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (ada, by) = (make(&fixture, "ada", "h").await.unwrap(), actor());
        fixture.store.people().put_reset_link(ada, "old", NOW + 9, NOW, &by).await.unwrap();
        fixture.store.people().put_reset_link(ada, "new", NOW + 9, NOW, &by).await.unwrap();
        let of = async |hash: &str, at: i64| fixture.store.people().account_of_reset_link(hash, at).await.unwrap();
        assert_eq!((of("old", NOW).await, of("new", NOW + 9).await), (None, None), "replaced, expired");
        assert_eq!(of("new", NOW).await, Some((ada, "ada".to_owned())));
        let (one, two) = tokio::join!(
            fixture.store.people().use_reset_link(ada, "new", "first", NOW, &by),
            fixture.store.people().use_reset_link(ada, "new", "second", NOW, &by),
        );
        assert_eq!([one, two].into_iter().filter(|used| matches!(used, Ok(Some(1)))).count(), 1);
        assert_eq!(of("new", NOW).await, None);
    }

    // covers: W19
    async fn what_ends_an_intruder_ends_a_link_for_a_password(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, ada, by) = (&fixture.store, make(&fixture, "ada", "h").await.unwrap(), actor());
        make(&fixture, "bob", "h").await.unwrap();
        for number in 0..4 {
            store.people().put_reset_link(ada, "link", NOW + 9, NOW, &by).await.unwrap();
            match number {
                0 => store.people().end_access(ada, NOW, &by).await.map(drop).unwrap(),
                1 => store.people().set_grants(ada, &Grants::for_all(Role::Viewer), NOW, &by).await.unwrap(),
                2 => store.people().set_password(ada, &password("second"), NOW, &by).await.map(drop).unwrap(),
                _ => {
                    store.people().set_account_enabled(ada, false, NOW, &by).await.unwrap();
                    store.people().set_account_enabled(ada, true, NOW, &by).await.unwrap();
                }
            }
            assert_eq!(store.people().account_of_reset_link("link", NOW).await.unwrap(), None, "{number}");
        }
    }

    // covers: S9
    async fn tokens_are_kept_as_digests_and_end_with_their_account(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (ada, by) = (make(&fixture, "ada", "h").await.unwrap(), actor());
        make(&fixture, "bob", "h").await.unwrap();
        let grants = Grants::for_app(7, Role::Operator);
        let new = NewApiToken { account_id: ada, name: "deploy", token_hash: "digest", grants: &grants, now: NOW, expires_at: NOW + 9, credentials: 0 };
        let id = fixture.store.people().create_token(&new, &by).await.unwrap();
        let owner = fixture.store.people().token_owner("digest", NOW).await.unwrap().unwrap();
        assert_eq!((owner.account.as_str(), &owner.grants), ("ada", &grants));
        assert_eq!(fixture.store.people().token_owner("digest", NOW + 9).await.unwrap(), None, "expired");
        fixture.store.people().touch_token(id, NOW + 5, &from("10.0.0.1")).await.unwrap();
        for source in ["10.0.0.2", "10.0.0.1", "10.0.0.2"] {
            fixture.store.people().touch_token(id, NOW + 5, &from(source)).await.unwrap();
        }
        fixture.store.people().touch_token(id, NOW + 5, &from("10.0.0.1")).await.unwrap();
        assert_eq!(fixture.count("audit", "action = 'use_token'").await, 2, "one entry for each address");
        let listed = fixture.store.people().tokens_of(ada).await.unwrap().remove(0);
        assert_eq!((listed.used_at, listed.used_from.as_deref()), (Some(NOW + 5), Some("10.0.0.1")));
        assert!(!fixture.store.people().revoke_token(ada + 1, id, NOW, &by).await.unwrap(), "of another account");
        fixture.store.people().delete_account(ada, NOW, &by).await.unwrap();
        assert_eq!(fixture.count("api_token", "1 = 1").await, 0);
    }

    // covers: S9
    async fn what_ends_an_intruder_ends_the_tokens(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, ada, by) = (&fixture.store, make(&fixture, "ada", "h").await.unwrap(), actor());
        make(&fixture, "bob", "h").await.unwrap();
        let credentials = async || store.people().account(ada).await.unwrap().unwrap().credentials;
        let renew = async || {
            store.people().set_account_enabled(ada, true, NOW, &by).await.unwrap();
            make_token(&fixture, ada, "deploy", credentials().await).await.unwrap();
            assert_eq!(store.people().tokens_of(ada).await.unwrap().len(), 1);
        };
        let are_gone = async |what: &str| {
            assert!(store.people().tokens_of(ada).await.unwrap().is_empty(), "{what}");
            assert_eq!(store.people().token_owner("digest of deploy", NOW).await.unwrap(), None, "{what}");
        };
        renew().await;
        store.people().set_password(ada, &NewPassword { revoke_tokens: true, ..password("second") }, NOW, &by).await.unwrap();
        are_gone("the own password").await;
        renew().await;
        store.people().put_reset_link(ada, "link", NOW + 9, NOW, &by).await.unwrap();
        store.people().use_reset_link(ada, "link", "third", NOW, &by).await.unwrap();
        are_gone("a link for a new password").await;
        renew().await;
        store.people().set_account_enabled(ada, false, NOW, &by).await.unwrap();
        are_gone("disabled").await;
        store.people().set_account_enabled(ada, true, NOW, &by).await.unwrap();
        are_gone("enabled again").await;
        renew().await;
        let ended = store.people().end_access(ada, NOW, &by).await.unwrap();
        assert_eq!((ended.sessions, ended.tokens), (0, 1));
        are_gone("ended by an administrator").await;
        assert_eq!(fixture.count("audit", "detail LIKE '%\"revoked_tokens\":[\"deploy\"]%'").await, 4, "each names it");

        // What changes no credential leaves them.
        renew().await;
        store.people().set_grants(ada, &Grants::for_all(Role::Viewer), NOW, &by).await.unwrap();
        store.people().set_password(ada, &password("fourth"), NOW, &by).await.unwrap();
        assert_eq!(store.people().tokens_of(ada).await.unwrap().len(), 1);
    }

    // covers: S5, S8
    async fn what_was_checked_before_a_change_does_not_count_after_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, ada, by) = (&fixture.store, make(&fixture, "ada", "h").await.unwrap(), actor());
        make(&fixture, "bob", "h").await.unwrap();
        let credentials = async || store.people().account(ada).await.unwrap().unwrap().credentials;
        let opens = async |id_hash: &'static str, credentials: i64| {
            let new = NewSession { credentials, ..session(id_hash, ada, NOW + IDLE) };
            store.people().open_session(&new, None, IDLE, &by).await.unwrap()
        };
        let mut checked = credentials().await;
        assert!(opens("first", checked).await);
        store.people().put_reset_link(ada, "link", NOW + 9, NOW, &by).await.unwrap();
        assert_eq!(credentials().await, checked, "a link alone changes nothing");
        for number in 0..6 {
            let what = match number {
                0 => store.people().set_password(ada, &password("second"), NOW, &by).await.map(drop),
                1 => store.people().put_reset_link(ada, "link", NOW + 9, NOW, &by).await,
                2 => store.people().use_reset_link(ada, "link", "third", NOW, &by).await.map(drop),
                3 => store.people().end_access(ada, NOW, &by).await.map(drop),
                4 => store.people().set_account_enabled(ada, false, NOW, &by).await,
                _ => store.people().set_account_enabled(ada, true, NOW, &by).await,
            };
            what.unwrap();
            let now = credentials().await;
            assert_eq!(now > checked, number != 1, "{number}");
            if number == 1 {
                continue;
            }
            assert!(!opens("stale", checked).await, "{number}");
            let made = make_token(&fixture, ada, "late", checked).await;
            assert!(matches!(made, Err(Error::Changed(_))), "{number}: {made:?}");
            let new = NewPassword { credentials: Some(checked), ..password("of the intruder") };
            assert_eq!(store.people().set_password(ada, &new, NOW, &by).await.unwrap(), None, "{number}");
            checked = now;
        }
        assert!(opens("last", checked).await);
        store.people().set_account_enabled(ada, false, NOW, &by).await.unwrap();
        assert!(!opens("disabled", credentials().await).await);
        assert_eq!(store.people().account(ada).await.unwrap().unwrap().password_hash, "third");
    }
}
