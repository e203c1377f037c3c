//! Accounts, sessions and the throttle, on every database.

use carillon_store::Error;
use carillon_store::people::sessions::NewSession;
use carillon_store::people::throttle::Attempt;

use super::fixture::{Fixture, NOW};

const IDLE: i64 = 1_800_000;

fn session(id_hash: &'static str, account_id: i64, expires_at: i64) -> NewSession<'static> {
    NewSession { id_hash, account_id, csrf: "token", now: NOW, expires_at }
}

databases! {
    async fn an_account_is_found_by_its_exact_name_and_made_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        assert!(!fixture.store.has_accounts().await.unwrap());
        let id = fixture.store.create_account("Ada", "hash", "admin", NOW).await.unwrap();
        assert!(fixture.store.has_accounts().await.unwrap());
        let found = fixture.store.account_by_name("Ada").await.unwrap().unwrap();
        assert_eq!((found.id, found.password_hash.as_str(), found.role.as_str()), (id, "hash", "admin"));
        assert_eq!(fixture.store.account_by_name("ada").await.unwrap(), None);
        let again = fixture.store.create_account("Ada", "other", "admin", NOW).await;
        assert!(matches!(again, Err(Error::Taken(_))), "{again:?}");
    }

    // covers: S1
    async fn the_set_up_secret_makes_one_account(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.put_setup_secret("first", NOW).await.unwrap();
        fixture.store.put_setup_secret("second", NOW + 1).await.unwrap();
        let secret = fixture.store.setup_secret().await.unwrap().unwrap();
        assert_eq!(secret, ("second".to_owned(), NOW + 1), "the newest is the one");
        let stale = ("first".to_owned(), NOW);
        assert_eq!(fixture.store.set_up(&stale, "eve", "h", "admin", NOW).await.unwrap(), None);
        let (one, two) = tokio::join!(
            fixture.store.set_up(&secret, "ada", "h", "admin", NOW),
            fixture.store.set_up(&secret, "bob", "h", "admin", NOW),
        );
        let made = [one, two].into_iter().filter(|made| matches!(made, Ok(Some(_)))).count();
        assert_eq!(made, 1);
        assert_eq!(fixture.store.setup_secret().await.unwrap(), None);
        assert_eq!(fixture.count("account", "1 = 1").await, 1);
    }

    async fn a_session_lives_until_it_is_idle_old_or_closed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let ada = fixture.store.create_account("ada", "h", "admin", NOW).await.unwrap();
        let bob = fixture.store.create_account("bob", "h", "admin", NOW).await.unwrap();
        let lives = async |hash: &str, at: i64| fixture.store.session(hash, at, IDLE).await.unwrap().is_some();
        fixture.store.open_session(&session("a", ada, NOW + 2 * IDLE), IDLE).await.unwrap();
        fixture.store.open_session(&session("b", bob, NOW + 2 * IDLE), IDLE).await.unwrap();
        let found = fixture.store.session("a", NOW, IDLE).await.unwrap().unwrap();
        assert_eq!((found.account.as_str(), found.role.as_str(), found.csrf.as_str()), ("ada", "admin", "token"));
        assert!(lives("a", NOW + IDLE - 1).await && !lives("a", NOW + IDLE).await);
        fixture.store.touch_session("a", NOW + IDLE - 1).await.unwrap();
        fixture.store.touch_session("a", NOW + 5).await.unwrap();
        assert!(lives("a", NOW + IDLE).await, "seen later is not undone by seen earlier");
        assert!(!lives("a", NOW + 2 * IDLE).await, "too old");
        fixture.store.close_session("b").await.unwrap();
        assert!(!lives("b", NOW).await);
        fixture.store.open_session(&session("c", bob, NOW + 2 * IDLE), IDLE).await.unwrap();
        fixture.store.set_password(bob, "new", NOW).await.unwrap();
        assert!(!lives("c", NOW).await && lives("a", NOW + IDLE).await, "of its owner only");
        let mut late = session("d", ada, NOW + 9 * IDLE);
        late.now = NOW + 5 * IDLE;
        fixture.store.open_session(&late, IDLE).await.unwrap();
        assert_eq!(fixture.count("session", "1 = 1").await, 1, "what has ended is cleared away");
    }

    // covers: S2
    async fn a_hash_is_renewed_only_if_nobody_changed_the_password(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let ada = fixture.store.create_account("ada", "old", "admin", NOW).await.unwrap();
        fixture.store.rehash_password(ada, "older", "never").await.unwrap();
        fixture.store.rehash_password(ada, "old", "new").await.unwrap();
        assert_eq!(fixture.store.account_by_name("ada").await.unwrap().unwrap().password_hash, "new");
    }

    async fn the_sixth_attempt_waits_for_its_account_and_for_its_source(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let attempt = async |account: &str, source: &str, at: i64| {
            fixture.store.begin_attempt(&[account.to_owned(), source.to_owned()], at).await.unwrap()
        };
        for source in 0..5 {
            assert_eq!(attempt("account:ada", &format!("source:{source}"), NOW).await, Attempt::Allowed);
        }
        let refused = Attempt::Refused { until_at: NOW + 10_000 };
        assert_eq!(attempt("account:ada", "source:9", NOW + 1).await, refused, "of whatever source");
        assert_eq!(attempt("account:bob", "source:9", NOW + 1).await, Attempt::Allowed, "a refusal counts for nothing");
        assert_eq!(attempt("account:ada", "source:9", NOW + 10_000).await, Attempt::Allowed);
        assert_eq!(attempt("account:ada", "source:8", NOW + 10_001).await, Attempt::Refused { until_at: NOW + 30_000 });
        fixture.store.end_attempt("account:ada", "source:9", NOW + 10_002).await.unwrap();
        assert_eq!(attempt("account:ada", "source:8", NOW + 10_003).await, Attempt::Allowed, "the right password ends it");
        for account in 0..4 {
            attempt(&format!("account:{account}"), "source:7", NOW).await;
        }
        assert_eq!(attempt("account:5", "source:7", NOW).await, Attempt::Allowed);
        assert_eq!(attempt("account:6", "source:7", NOW).await, refused, "one source, many accounts");
        let later = NOW + 2 * 3_600_000;
        attempt("account:6", "source:6", later).await;
        assert_eq!(fixture.count("login_throttle", "1 = 1").await, 2, "what is long past is forgotten");
    }

    async fn many_attempts_at_once_are_all_counted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let subjects = ["account:ada".to_owned(), "source:1".to_owned()];
        let all = (0..20).map(|_| fixture.store.begin_attempt(&subjects, NOW));
        let answers = futures_util::future::join_all(all).await;
        let allowed = answers.iter().filter(|it| matches!(it, Ok(Attempt::Allowed))).count();
        assert!(allowed <= 5, "{answers:?}");
    }
}
