use carillon_accounts::secret::{hash, random_secret};
use carillon_store::app::executors::ExecutorSettings;

use super::*;

pub(in crate::executor) fn executor(app: &str, address: &str, token_id: Option<i64>) -> Executor {
    Executor {
        app: app.into(),
        address: address.into(),
        boot_id: None,
        capabilities: None,
        journal_id: None,
        token_id,
        registered_at: 0,
        seen_at: 0,
        expires_at: 90_000,
        announced: ExecutorSettings::default(),
        set: ExecutorSettings::default(),
        manual_since: None,
        draining_since: None,
    }
}

fn row(keys: &SecretKeys, id: i64, token: &str, own_tokens_only: bool) -> AppToken {
    let token_hash = hash(token);
    let sealed = keys.seal(&seal_context(5, &token_hash), token).unwrap();
    AppToken {
        app_id: 5,
        app: "billing".into(),
        own_tokens_only,
        id: Some(id),
        token_hash: Some(token_hash),
        sealed: Some(sealed),
        expires_at: Some(10_000),
        used_at: None,
    }
}

// covers: S17, S18
#[test]
fn each_executor_is_sent_the_token_by_which_it_registered() {
    let [global, old, new, key] = [(); 4].map(|()| random_secret());
    let keys = SecretKeys::parse(&key).unwrap();
    let tokens = ExecutorTokens::new(Some(&global), keys.clone()).unwrap();
    let sent = |app: &str, address: &str| match tokens.sent_to(app, address)? {
        SentCredential::Token(token) => Some(token.to_string()),
        SentCredential::Key(key) => Some(key.id().to_owned()),
    };
    let rows = vec![row(&keys, 1, &old, false), row(&keys, 2, &new, false)];
    let mut executors = vec![
        executor("billing", "http://a/", Some(1)),
        executor("billing", "http://b/", Some(2)),
        executor("billing", "http://c/", None),
        executor("billing", "http://revoked/", Some(3)),
        executor("orders", "http://d/", None),
        executor("orders", "http://stolen/", Some(1)),
    ];
    tokens.update(rows, &mut executors, 0);
    assert_eq!(executors.len(), 4, "the others' tokens do not count");
    assert_eq!((sent("billing", "http://a/"), sent("billing", "http://b/")), (Some(old.clone()), Some(new.clone())));
    assert_eq!(
        (sent("billing", "http://c/"), sent("orders", "http://d/")),
        (Some(global.clone()), Some(global.clone()))
    );
    assert_eq!(sent("billing", "http://revoked/"), None);
    assert_eq!((sent("orders", "http://a/"), sent("shop", "http://d/")), (None, None), "registered for another app");

    let by = |token: &str, now| tokens.identify(token.as_bytes(), now);
    let own = by(&old, 0).unwrap();
    assert!(own.allows("billing") && !own.allows("orders") && own.token_id() == Some(1));
    assert_eq!(by(&old, 10_000), None, "it has expired");
    assert!(by(&global, 0).unwrap().allows("billing"));
    assert!([String::new(), old[1..].to_owned(), format!("{old} ")].iter().all(|wrong| by(wrong, 0).is_none()));

    let mut executors = vec![executor("billing", "http://c/", None), executor("billing", "http://b/", Some(2))];
    tokens.update(vec![row(&keys, 2, &new, true)], &mut executors, 0);
    assert_eq!(executors.len(), 1, "the app accepts its own tokens alone");
    assert!(!by(&global, 0).unwrap().allows("billing") && by(&global, 0).unwrap().allows("orders"));
    assert_eq!((by(&old, 0), sent("billing", "http://c/")), (None, None), "it was revoked");
}

// covers: S17, S18
#[test]
fn an_address_that_was_entered_is_sent_a_token_that_its_app_accepts() {
    let [global, old, new, key] = [(); 4].map(|()| random_secret());
    let keys = SecretKeys::parse(&key).unwrap();
    let tokens = ExecutorTokens::new(Some(&global), keys.clone()).unwrap();
    let sent = || match tokens.sent_to("billing", "http://a/")? {
        SentCredential::Token(token) => Some(token.to_string()),
        SentCredential::Key(key) => Some(key.id().to_owned()),
    };
    let entered = |token_id| Executor { manual_since: Some(1), ..executor("billing", "http://a/", token_id) };
    let rows = |own_tokens_only| vec![row(&keys, 2, &new, own_tokens_only), row(&keys, 1, &old, own_tokens_only)];
    for (own_tokens_only, token_id, now, expected) in [
        (false, None, 0, Some(&global)),
        (false, Some(2), 0, Some(&new)),
        (false, Some(3), 0, Some(&global)),
        (true, None, 0, Some(&old)),
        (true, None, 10_000, None),
    ] {
        tokens.update(rows(own_tokens_only), &mut vec![entered(token_id)], now);
        assert_eq!(sent().as_ref(), expected, "{own_tokens_only} {token_id:?} {now}");
    }
}

// covers: S25
#[test]
fn no_token_is_sent_to_an_executor_that_takes_signed_requests() {
    let [global, own, key] = [(); 3].map(|()| random_secret());
    let keys = SecretKeys::parse(&key).unwrap();
    let tokens = ExecutorTokens::new(Some(&global), keys.clone()).unwrap();
    let signed = |it: Executor| Executor {
        capabilities: Some("idem,signed".into()),
        boot_id: Some(format!("boot of {}", it.address)),
        ..it
    };
    let mut executors = vec![
        signed(executor("billing", "http://a/", Some(1))),
        signed(executor("orders", "http://b/", None)),
        executor("orders", "http://c/", None),
    ];
    tokens.update(vec![row(&keys, 1, &own, false)], &mut executors, 0);
    let key_id = |app: &str, address: &str| match tokens.sent_to(app, address).unwrap() {
        SentCredential::Token(_) => None,
        SentCredential::Key(key) => Some(key.id().to_owned()),
    };
    let id_of = |token: &str| Some(SigningKey::new(token).id().to_owned());
    assert_eq!(key_id("billing", "http://a/"), id_of(&own));
    assert_eq!((key_id("orders", "http://b/"), key_id("orders", "http://c/")), (id_of(&global), None));
    let must = |app: &str, address: &str| tokens.must_be_signed(app, address, 0);
    assert!(must("orders", "http://b/") && !must("billing", "http://b/") && !must("orders", "http://c/"));
    let with_global = tokens.identify(global.as_bytes(), 0).unwrap();
    let must = |boot_id: &str, now| tokens.must_be_signed_by(&with_global, boot_id, now);
    assert!(must("boot of http://b/", 0) && !must("boot of http://c/", 0) && !must("boot of http://b/", 90_000));
    let by_id = |token: &str, now| tokens.by_key_id(&id_of(token).unwrap(), now);
    assert!(by_id(&own, 0).is_some_and(|(it, _)| it.is_signed && it.allows("billing") && !it.allows("orders")));
    assert!(by_id(&own, 10_000).is_none(), "it has expired");
    assert!(by_id(&global, 0).is_some() && by_id(&random_secret(), 0).is_none());
    assert!(!tokens.must_be_signed("orders", "http://b/", 90_000), "its lease is over");
    assert_eq!(key_id("orders", "http://b/"), id_of(&global), "and still it is sent no token");
}

// covers: S25, V3
#[test]
fn an_app_that_names_the_start_of_another_apps_executor_demands_no_signatures_of_it() {
    let [global, own, key] = [(); 3].map(|()| random_secret());
    let keys = SecretKeys::parse(&key).unwrap();
    let tokens = ExecutorTokens::new(Some(&global), keys.clone()).unwrap();
    let signed = |it: Executor| Executor { capabilities: Some("signed".into()), boot_id: Some("boot".into()), ..it };
    let other = executor("orders", "http://a/", None);
    let mut executors = vec![signed(executor("billing", "http://b/", Some(1))), other.clone()];
    tokens.update(vec![row(&keys, 1, &own, false)], &mut executors, 0);
    let must = |token: &str| tokens.must_be_signed_by(&tokens.identify(token.as_bytes(), 0).unwrap(), "boot", 0);
    assert!(must(&own), "its own results");
    assert!(!must(&global), "the executors of orders report with it");
    let mut executors = vec![signed(executor("billing", "http://b/", Some(1))), signed(other)];
    tokens.update(vec![row(&keys, 1, &own, false)], &mut executors, 0);
    assert!(must(&global), "orders signs as well");
}

#[test]
fn the_use_of_a_token_is_written_once_a_minute() {
    let key = SecretKeys::parse(&random_secret()).unwrap();
    let tokens = ExecutorTokens::new(None, key.clone()).unwrap();
    tokens.update(vec![row(&key, 1, &random_secret(), false)], &mut vec![], 0);
    let times = [60_000, 60_001, 119_999, 120_000];
    assert_eq!(times.map(|now| tokens.notes_use(1, now)), [true, false, false, true]);
    assert!(!tokens.notes_use(2, 0) && !tokens.has_global());
}
