//! The tokens that executors present and that are sent to them: a copy of those in the database, at most a second old, so that no
//! request costs a statement. A token that is revoked counts for nothing on any node within two seconds.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use carillon_accounts::secret_keys::SecretKeys;
use carillon_scheduler::Millis;
use carillon_store::app::executor_tokens::AppToken;
use carillon_store::app::executors::Executor;
use carillon_store::run::settle::finding::ReporterToken;
use reqwest::header::HeaderValue;
use sha2::{Digest, Sha256};

use crate::runtime::lock;

/// How often the last use of a token is written.
const USED_STEP_MS: Millis = 60_000;

/// The digest under which a token is found. It is random to whom does not have the token, so the time that a look-up takes
/// says nothing about one.
type TokenDigest = [u8; 32];

pub struct ExecutorTokens {
    /// The token of all apps; None: only apps' own tokens count.
    global: Option<GlobalToken>,
    keys: SecretKeys,
    known: Mutex<Arc<KnownTokens>>,
}

struct GlobalToken {
    digest: TokenDigest,
    header: HeaderValue,
}

/// A token of one app.
struct OwnToken {
    id: i64,
    app_id: i64,
    app: String,
    expires_at: Option<Millis>,
    /// None: no key of this node decrypts it, so that its executors cannot be called.
    header: Option<HeaderValue>,
    /// When its use was last written.
    used_at: AtomicI64,
}

impl OwnToken {
    fn is_valid(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|expires_at| expires_at > now)
    }
}

#[derive(Default)]
struct KnownTokens {
    by_digest: HashMap<String, Arc<OwnToken>>,
    by_id: HashMap<i64, Arc<OwnToken>>,
    /// Apps that accept their own tokens alone, by id and by name.
    own_only: Arc<BTreeSet<i64>>,
    own_only_names: BTreeSet<String>,
    /// Of apps that have tokens: by which of them each address has registered.
    registered_by: HashMap<String, HashMap<String, Option<i64>>>,
}

/// Whose token a request carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub token: ReporterToken,
    /// The app of the token; None: all apps but `except`.
    app: Option<String>,
    except: BTreeSet<String>,
}

impl Credential {
    pub fn allows(&self, app: &str) -> bool {
        match &self.app {
            Some(own) => own == app,
            None => !self.except.contains(app),
        }
    }

    pub fn token_id(&self) -> Option<i64> {
        match self.token {
            ReporterToken::Global { .. } => None,
            ReporterToken::OfApp { token_id, .. } => Some(token_id),
        }
    }
}

/// The place in the database that a sealed token belongs to.
pub(crate) fn seal_context(app_id: i64, token_hash: &str) -> String {
    format!("executor_token {app_id} {token_hash}")
}

impl ExecutorTokens {
    /// # Errors
    /// The token of all apps cannot be sent in a header.
    pub fn new(global: Option<&str>, keys: SecretKeys) -> Result<Self, String> {
        let global = global.map(|token| {
            let header = header(token).map_err(|error| format!("the access token: {error}"))?;
            Ok::<_, String>(GlobalToken { digest: Sha256::digest(token.as_bytes()).into(), header })
        });
        Ok(Self { global: global.transpose()?, keys, known: Mutex::default() })
    }

    /// Whether tokens of apps can be made: they are stored encrypted.
    pub fn keys(&self) -> &SecretKeys {
        &self.keys
    }

    pub fn has_global(&self) -> bool {
        self.global.is_some()
    }

    /// Takes what the database has, and leaves out the executors whose token does not count any more. Of an address that a person
    /// entered no token is known by its registration: it gets one that the app accepts.
    pub(crate) fn update(&self, rows: Vec<AppToken>, executors: &mut Vec<Executor>, now: Millis) {
        let before = self.known();
        let mut next = KnownTokens::default();
        let mut own_only = BTreeSet::new();
        for row in rows {
            if row.own_tokens_only {
                own_only.insert(row.app_id);
                next.own_only_names.insert(row.app.clone());
            }
            next.registered_by.entry(row.app.clone()).or_default();
            if let (Some(id), Some(token_hash)) = (row.id, row.token_hash.clone()) {
                let known = before.by_id.get(&id).filter(|known| known.app == row.app);
                let token = known.cloned().unwrap_or_else(|| Arc::new(self.read(id, &token_hash, row)));
                next.by_id.insert(id, token.clone());
                next.by_digest.insert(token_hash, token);
            }
        }
        next.own_only = Arc::new(own_only);
        executors.retain_mut(|executor| match self.token_of(&next, executor, now) {
            Some(token_id) => {
                executor.token_id = token_id;
                true
            }
            None => false,
        });
        for executor in executors {
            if let Some(addresses) = next.registered_by.get_mut(&executor.app) {
                addresses.insert(executor.address.clone(), executor.token_id);
            }
        }
        *lock(&self.known) = Arc::new(next);
    }

    fn read(&self, id: i64, token_hash: &str, row: AppToken) -> OwnToken {
        let context = seal_context(row.app_id, token_hash);
        let opened = row.sealed.and_then(|sealed| self.keys.open(&context, &sealed));
        if opened.is_none() {
            tracing::error!(
                app.name = row.app,
                "a token of the app cannot be decrypted with the keys of --secret-key; its executors are not called"
            );
        }
        OwnToken {
            id,
            app_id: row.app_id,
            app: row.app,
            expires_at: row.expires_at,
            header: opened.and_then(|token| header(&token).ok()),
            used_at: AtomicI64::new(row.used_at.unwrap_or(0)),
        }
    }

    /// The token that the executor is sent: the one by which it registered, as long as that counts. None: it is not called.
    fn token_of(&self, known: &KnownTokens, executor: &Executor, now: Millis) -> Option<Option<i64>> {
        if self.counts(known, executor, now) {
            return Some(executor.token_id);
        }
        executor.manual_since?;
        if self.global.is_some() && !known.own_only_names.contains(&executor.app) {
            return Some(None);
        }
        // The older of two: the executors have it until all of them were given the newer one, and it is revoked.
        let own = known.by_id.values().filter(|token| token.app == executor.app && token.is_valid(now));
        own.map(|token| token.id).min().map(Some)
    }

    /// Whether the token counts with which the executor registered.
    fn counts(&self, known: &KnownTokens, executor: &Executor, now: Millis) -> bool {
        match executor.token_id {
            None => self.global.is_some() && !known.own_only_names.contains(&executor.app),
            Some(id) => known.by_id.get(&id).is_some_and(|token| token.app == executor.app && token.is_valid(now)),
        }
    }

    /// Whose token this is; None: of no app.
    pub fn identify(&self, given: &[u8], now: Millis) -> Option<Credential> {
        if given.is_empty() {
            return None;
        }
        let known = self.known();
        let digest: TokenDigest = Sha256::digest(given).into();
        if self.global.as_ref().is_some_and(|global| is_same(&global.digest, &digest)) {
            let token = ReporterToken::Global { except: known.own_only.clone() };
            return Some(Credential { token, app: None, except: known.own_only_names.clone() });
        }
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let own = known.by_digest.get(&hex).filter(|own| own.is_valid(now))?;
        let token = ReporterToken::OfApp { token_id: own.id, app_id: own.app_id };
        Some(Credential { token, app: Some(own.app.clone()), except: BTreeSet::new() })
    }

    /// Whether the use of a token by a request of now is to be written.
    pub fn notes_use(&self, token_id: i64, now: Millis) -> bool {
        let known = self.known();
        let Some(token) = known.by_id.get(&token_id) else {
            return false;
        };
        let before = token.used_at.load(Ordering::Relaxed);
        let is_due = (now - before).abs() >= USED_STEP_MS;
        is_due && token.used_at.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The token by which the executor has registered: it accepts that one. None: it is not registered any more, or its token
    /// cannot be decrypted here.
    pub(crate) fn sent_to(&self, app: &str, address: &str) -> Option<HeaderValue> {
        let known = self.known();
        let global = || self.global.as_ref().map(|global| global.header.clone());
        let Some(addresses) = known.registered_by.get(app) else {
            return global();
        };
        match addresses.get(address)? {
            None => global(),
            Some(id) => known.by_id.get(id)?.header.clone(),
        }
    }

    fn known(&self) -> Arc<KnownTokens> {
        lock(&self.known).clone()
    }
}

fn header(token: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(token).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

/// In constant time.
fn is_same(one: &TokenDigest, other: &TokenDigest) -> bool {
    subtle::ConstantTimeEq::ct_eq(&one[..], &other[..]).into()
}

#[cfg(test)]
mod tests {
    use carillon_accounts::secret::{hash, random_secret};
    use carillon_store::app::executors::ExecutorSettings;

    use super::*;

    fn executor(app: &str, address: &str, token_id: Option<i64>) -> Executor {
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
        let sent = |app: &str, address: &str| tokens.sent_to(app, address).map(|it| it.to_str().unwrap().to_owned());
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
        assert_eq!(
            (sent("billing", "http://a/"), sent("billing", "http://b/")),
            (Some(old.clone()), Some(new.clone()))
        );
        assert_eq!(
            (sent("billing", "http://c/"), sent("orders", "http://d/")),
            (Some(global.clone()), Some(global.clone()))
        );
        assert_eq!(sent("billing", "http://revoked/"), None);

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
        let sent = || tokens.sent_to("billing", "http://a/").map(|it| it.to_str().unwrap().to_owned());
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

    #[test]
    fn the_use_of_a_token_is_written_once_a_minute() {
        let key = SecretKeys::parse(&random_secret()).unwrap();
        let tokens = ExecutorTokens::new(None, key.clone()).unwrap();
        tokens.update(vec![row(&key, 1, &random_secret(), false)], &mut vec![], 0);
        let times = [60_000, 60_001, 119_999, 120_000];
        assert_eq!(times.map(|now| tokens.notes_use(1, now)), [true, false, false, true]);
        assert!(!tokens.notes_use(2, 0) && !tokens.has_global());
    }
}
