//! The tokens that executors present and that are sent to them: a copy of those in the database, at most a second old, so that no
//! request costs a statement. A token that is revoked counts for nothing on any node within two seconds.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use carillon_accounts::secret_keys::SecretKeys;
use carillon_protocol::{NonceMemory, SigningKey};
use carillon_scheduler::{AuditObjectKind, Millis};
use carillon_store::AuditObject;
use carillon_store::app::executor_tokens::AppToken;
use carillon_store::app::executors::Executor;
use carillon_store::run::settle::finding::ReporterToken;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::executor::app_names::AppNames;
use crate::executor::connections::check_value;
use crate::executor::registrations::Registrations;

/// How often the last use of a token is written.
const USED_STEP_MS: Millis = 60_000;

/// Signatures of two minutes by one token, some 20 bytes each. Executors send results in lists, so it is enough for thousands of them.
const MOST_SIGNATURES: usize = 1_000_000;

/// The digest under which a token is found. It is random to whom does not have the token, so the time that a look-up takes
/// says nothing about one.
type TokenDigest = [u8; 32];

pub struct ExecutorTokens {
    /// The token of all apps; None: only apps' own tokens count.
    global: Option<GlobalToken>,
    keys: SecretKeys,
    known: Mutex<Arc<KnownTokens>>,
    /// Of signed requests.
    pub(super) signatures: Mutex<NonceMemory>,
    /// An app that was renamed is still asked for under its former name.
    pub names: AppNames,
}

struct GlobalToken {
    digest: TokenDigest,
    secret: TokenSecret,
}

/// How the token is shown to executors.
struct TokenSecret {
    token: Arc<str>,
    key: SigningKey,
}

impl TokenSecret {
    fn new(token: &str) -> Result<Self, String> {
        check_value(token)?;
        Ok(Self { token: token.into(), key: SigningKey::new(token) })
    }

    fn sent(&self, is_signed: bool) -> SentCredential {
        if is_signed { SentCredential::Key(self.key.clone()) } else { SentCredential::Token(self.token.clone()) }
    }
}

/// What a request to an executor carries.
pub(crate) enum SentCredential {
    Token(Arc<str>),
    /// The request is signed with it, and carries no token.
    Key(SigningKey),
}

/// A token of one app.
struct OwnToken {
    id: i64,
    app_id: i64,
    app: String,
    expires_at: Option<Millis>,
    /// None: no key of this node decrypts it, so that its executors cannot be called.
    secret: Option<TokenSecret>,
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
    by_key_id: HashMap<String, Arc<OwnToken>>,
    /// Apps that accept their own tokens alone, by id and by name.
    own_only: Arc<BTreeSet<i64>>,
    own_only_names: BTreeSet<String>,
    registrations: Registrations,
}

/// Whose token a request carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub token: ReporterToken,
    /// The app of the token; None: all apps but `except`.
    app: Option<String>,
    except: BTreeSet<String>,
    /// The request was signed, and did not carry the token.
    pub is_signed: bool,
}

impl Credential {
    fn global(known: &KnownTokens, is_signed: bool) -> Self {
        let token = ReporterToken::Global { except: known.own_only.clone() };
        Self { token, app: None, except: known.own_only_names.clone(), is_signed }
    }

    fn of_app(own: &OwnToken, is_signed: bool) -> Self {
        let token = ReporterToken::OfApp { token_id: own.id, app_id: own.app_id };
        Self { token, app: Some(own.app.clone()), except: BTreeSet::new(), is_signed }
    }

    pub fn allows(&self, app: &str) -> bool {
        match &self.app {
            Some(own) => own == app,
            None => !self.except.contains(app),
        }
    }

    /// The token in the audit; 0: the one of all apps.
    pub fn object(&self) -> AuditObject {
        match self.token {
            ReporterToken::Global { .. } => AuditObject::new(AuditObjectKind::ExecutorToken, 0),
            ReporterToken::OfApp { token_id, app_id } => AuditObject::executor_token(token_id, app_id),
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
            let secret = TokenSecret::new(token).map_err(|error| format!("the access token: {error}"))?;
            Ok::<_, String>(GlobalToken { digest: Sha256::digest(token.as_bytes()).into(), secret })
        });
        let signatures = Mutex::new(NonceMemory::new(MOST_SIGNATURES));
        Ok(Self { global: global.transpose()?, keys, known: Mutex::default(), signatures, names: AppNames::default() })
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
            if let (Some(id), Some(token_hash)) = (row.id, row.token_hash.clone()) {
                let known = before.by_id.get(&id).filter(|known| known.app == row.app);
                let token = known.cloned().unwrap_or_else(|| Arc::new(self.read(id, &token_hash, row)));
                next.by_id.insert(id, token.clone());
                if let Some(secret) = &token.secret {
                    next.by_key_id.insert(secret.key.id().to_owned(), token.clone());
                }
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
        executors.iter().for_each(|executor| next.registrations.add(executor));
        *self.known.lock() = Arc::new(next);
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
            secret: opened.and_then(|token| TokenSecret::new(&token).ok()),
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
            return Some(Credential::global(&known, false));
        }
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let own = known.by_digest.get(&hex).filter(|own| own.is_valid(now))?;
        Some(Credential::of_app(own, false))
    }

    /// The key with this id, and what a request that is signed with it may do.
    pub(crate) fn by_key_id(&self, id: &str, now: Millis) -> Option<(Credential, SigningKey)> {
        let known = self.known();
        if let Some(global) = self.global.as_ref().filter(|global| global.secret.key.id() == id) {
            return Some((Credential::global(&known, true), global.secret.key.clone()));
        }
        let own = known.by_key_id.get(id).filter(|own| own.is_valid(now))?;
        Some((Credential::of_app(own, true), own.secret.as_ref()?.key.clone()))
    }

    /// Whether this node has read the tokens with these ids.
    pub(crate) fn knows_all(&self, ids: &[i64]) -> bool {
        let known = self.known();
        ids.iter().all(|id| known.by_id.contains_key(id))
    }

    /// Whether the executor has announced that it signs its requests: others in its name do not count while its lease lasts.
    pub fn must_be_signed(&self, app: &str, address: &str, now: Millis) -> bool {
        let registration = self.known().registrations.find(&self.names.current(app), address);
        registration.and_then(|it| it.signed_until).is_some_and(|until| until > now)
    }

    /// The same for results, which name a start of an executor. What the executors of other apps say about that start does not count,
    /// nor for the token of all apps what was registered with another one: both may be of another team.
    pub fn must_be_signed_by(&self, credential: &Credential, boot_id: &str, now: Millis) -> bool {
        self.known().registrations.signed_starts(boot_id).iter().any(|start| {
            let is_own = credential.app.is_some() || start.token_id.is_none();
            is_own && start.until > now && credential.allows(&start.app)
        })
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
    pub(crate) fn sent_to(&self, app: &str, address: &str) -> Option<SentCredential> {
        let known = self.known();
        // A rename may lie between the read of the registrations and the one of the names: then the former name is still theirs.
        let names = [self.names.current(app), app.into()];
        let registration = names.iter().find_map(|app| known.registrations.find(app, address))?;
        // Also after the end of its lease, for as long as it may be called.
        let is_signed = registration.signed_until.is_some();
        let secret = match registration.token_id {
            None => &self.global.as_ref()?.secret,
            Some(id) => known.by_id.get(&id)?.secret.as_ref()?,
        };
        Some(secret.sent(is_signed))
    }

    fn known(&self) -> Arc<KnownTokens> {
        self.known.lock().clone()
    }
}

/// In constant time.
fn is_same(one: &TokenDigest, other: &TokenDigest) -> bool {
    subtle::ConstantTimeEq::ct_eq(&one[..], &other[..]).into()
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
pub(super) mod tests;
