//! Personal tokens of the API: a program acts for a person, with a part of what the person may do, until the token expires.

use carillon_scheduler::Millis;
use carillon_store::people::tokens::{NewApiToken, TokenOwner};
use carillon_store::{Actor, Grants, Store, source_network};

use crate::password::Error;
use crate::second_factor;
use crate::secret::{hash, is_secret, random_secret};

/// Scanners for leaked secrets find tokens by it.
const PREFIX: &str = "carillon_";
const DAY_MS: i64 = 86_400_000;
pub const MAX_DAYS: i64 = 366;
const NAME_MAX: usize = 64;
/// Tokens of an account of an OpenID provider are valid for this time after its last sign-in: the provider does not report who has left.
const PROVIDED_MS: i64 = 30 * DAY_MS;
/// How often the last use is written.
const USED_STEP_MS: i64 = 60_000;

/// A token that is asked for.
pub struct TokenRequest<'a> {
    pub account_id: i64,
    pub name: &'a str,
    pub grants: &'a Grants,
    pub days: i64,
    /// The number of the account's credentials when its owner was checked.
    pub credentials: i64,
}

/// Who sends a token.
#[derive(Clone, Copy)]
pub struct Bearer<'a> {
    pub source: &'a str,
    pub request_id: Option<&'a str>,
    /// Administrators need a second factor: the setting `--admin-second-factor`.
    pub needs_factor: bool,
}

/// What is wrong with a name of a token.
pub fn name_complaint(name: &str) -> Option<&'static str> {
    let length = name.chars().count();
    let fits = (1..=NAME_MAX).contains(&length) && name.trim() == name && !name.chars().any(char::is_control);
    (!fits).then_some("1 to 64 characters, without a space at the ends")
}

/// Makes a token for the actor's own account. It is returned once; the database keeps its digest.
///
/// # Errors
/// `Refused`: the name, the time, or a role above the actor's own.
pub async fn create(store: &Store, request: &TokenRequest<'_>, now: Millis, by: &Actor) -> Result<String, Error> {
    if let Some(complaint) = name_complaint(request.name) {
        return Err(Error::Refused(format!("name: {complaint}")));
    }
    if !(1..=MAX_DAYS).contains(&request.days) {
        return Err(Error::Refused(format!("a token lasts 1 to {MAX_DAYS} days")));
    }
    if request.grants.is_empty() || request.grants.within(&by.grants) != *request.grants {
        return Err(Error::Refused("a token may do at most what you may do".to_owned()));
    }
    let token = format!("{PREFIX}{}", random_secret());
    let new = NewApiToken {
        account_id: request.account_id,
        name: request.name,
        token_hash: &hash(&token),
        grants: request.grants,
        now,
        expires_at: now + request.days * DAY_MS,
        credentials: request.credentials,
    };
    store.people().create_token(&new, by).await?;
    Ok(token)
}

/// The actor of a request with this token; None: it is none, or not valid. What it may do is limited by what its account may do now.
pub async fn authenticate(
    store: &Store,
    sent: &str,
    bearer: &Bearer<'_>,
    now: Millis,
) -> carillon_store::Result<Option<Actor>> {
    // No query for a text that no token can be.
    if !is_token(sent) {
        return Ok(None);
    }
    match store.people().token_owner(&hash(sent), now).await? {
        Some(owner) => admit(store, owner, bearer, now).await,
        None => Ok(None),
    }
}

/// Whether [`create`] can have made this text.
pub fn is_token(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(is_secret)
}

/// The actor of a valid token, whose use is noted. None: its owner may not use it.
pub(crate) async fn admit(
    store: &Store,
    owner: TokenOwner,
    bearer: &Bearer<'_>,
    now: Millis,
) -> carillon_store::Result<Option<Actor>> {
    if !is_vouched_for(&owner, now) {
        return Ok(None);
    }
    let grants = owner.grants.within(&owner.account_grants);
    let is_asked = second_factor::is_asked_of(bearer.needs_factor, &grants, owner.issuer.as_deref());
    if is_asked && owner.totp_since.is_none() {
        return Ok(None);
    }
    let actor = Actor::new(owner.account, bearer.source, grants).with_account(owner.account_id).with_token(owner.name);
    let actor = actor.with_request(bearer.request_id.map(str::to_owned));
    let is_recent = owner.used_at.is_some_and(|used_at| now - used_at < USED_STEP_MS);
    // A host has many addresses; a new one of the same network costs no write.
    let is_same_network = owner.used_from.is_some_and(|from| source_network(&from) == source_network(bearer.source));
    if !is_recent || !is_same_network {
        store.people().touch_token(owner.id, now, &actor).await?;
    }
    Ok(Some(actor))
}

/// Whether the owner has a password here, or was signed in by the provider not long ago. Where that is not on record, the owner was
/// signed in when the token was made.
fn is_vouched_for(owner: &TokenOwner, now: Millis) -> bool {
    owner.issuer.is_none() || owner.provided_at.unwrap_or(owner.created_at) > now - PROVIDED_MS
}
