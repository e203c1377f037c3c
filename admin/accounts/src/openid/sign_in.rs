//! A sign-in by the provider, from the button to the account.

use carillon_scheduler::Millis;
use carillon_store::people::provided::{ProvidedPerson, ProvidedSignIn};
use carillon_store::people::sign_in_steps::{NewStep, StepKind};
use carillon_store::{Actor, Store, VisibleApps};
use unicode_normalization::UnicodeNormalization as _;

use crate::openid::begun::BegunSignIn;
use crate::openid::provider::{Error, Person, Provider, Returned};
use crate::people::{is_reserved, is_visible};
use crate::secret::hash;

/// Characters of an account's name.
const NAME_MAX: usize = 64;

/// A sign-in that has begun.
pub struct StartedSignIn {
    /// Where to send the browser.
    pub url: String,
}

/// A person whom the provider has signed in.
pub struct Finished {
    pub account: ProvidedSignIn,
    /// The address in the console that was asked for.
    pub next: String,
}

/// Begins a sign-in of the browser that holds this secret.
///
/// # Errors
/// The provider cannot be used, or the database not be read.
pub async fn begin(
    store: &Store,
    provider: &Provider,
    browser: &str,
    next: &str,
    now: Millis,
) -> Result<StartedSignIn, Error> {
    let BegunSignIn { state, secrets, .. } = BegunSignIn::new(provider.key(store).await?, browser, next, now);
    let url = provider.authorization(&state, &secrets, now).await?;
    Ok(StartedSignIn { url })
}

/// Ends a sign-in with what the browser has brought back. Its state counts once, in the browser in which it began.
///
/// # Errors
/// Any check fails, the provider cannot be used, or the database not be written.
pub async fn finish(
    store: &Store,
    provider: &Provider,
    (browser, by): (&str, &Actor),
    (state, code, issuer): (&str, &str, Option<&str>),
    now: Millis,
) -> Result<Finished, Error> {
    let begun = BegunSignIn::of_state(provider.key(store).await?, browser, state, now).ok_or(Error::Unknown)?;
    let id_hash = hash(&begun.state);
    if store.people().sign_in_step(&id_hash, StepKind::Provider, now).await?.is_some() {
        return Err(Error::Unknown);
    }
    let person = provider.person(Returned { code, issuer, secrets: begun.secrets }, now).await?;
    // Only sign-ins that the provider has confirmed leave a row, so strangers can make none.
    let source = hash(&person.subject);
    let used = NewStep {
        id_hash: &id_hash,
        kind: StepKind::Provider,
        detail: "",
        source: &source,
        expires_at: begun.expires_at,
    };
    if !store.people().use_step(&used, now).await? {
        return Err(Error::Unknown);
    }
    let account = account_of(store, provider, &person, by, now).await?;
    Ok(Finished { account, next: begun.next })
}

async fn account_of(
    store: &Store,
    provider: &Provider,
    person: &Person,
    by: &Actor,
    now: Millis,
) -> Result<ProvidedSignIn, Error> {
    let issuer = &provider.settings.issuer;
    let identity_hash = hash(&format!("{issuer}\n{}", person.subject));
    let grants = provider.settings.roles.grants(
        &person.groups,
        &store.apps().list(&VisibleApps::All).await?,
        &store.apps().former_names().await?,
    );
    let names = account_names(person, &identity_hash);
    let person = ProvidedPerson { identity_hash: &identity_hash, issuer, names: &names, grants: &grants };
    Ok(store.people().provided_sign_in(&person, now, by).await?)
}

/// Names to try: as the provider names the person; where an account has that name already, with a part of the identity, which no
/// other account has.
fn account_names(person: &Person, identity_hash: &str) -> Vec<String> {
    let clean = |name: &String| {
        let text: String = name.nfkc().filter(|c| is_visible(*c)).collect();
        text.trim().chars().take(NAME_MAX).collect::<String>().trim_end().to_owned()
    };
    let known = person.names.iter().map(clean).find(|name| !name.is_empty());
    let first = known.unwrap_or_else(|| "unnamed".to_owned());
    let short: String = first.chars().take(NAME_MAX - 11).collect();
    let last = format!("{} ({})", short.trim_end(), &identity_hash[..8]);
    if is_reserved(&first) { vec![last] } else { vec![first, last] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_and_another_one_is_ready() {
        let names = |names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            account_names(&Person { subject: String::new(), names, groups: vec![] }, &hash("x"))
        };
        assert_eq!(names(&["ada", "ada@example.com"])[0], "ada");
        assert_eq!(names(&[" \n", "ada@example.com"])[0], "ada@example.com");
        assert_eq!(names(&["ａｄａ\u{200b}"])[0], "ada");
        assert_eq!(names(&[])[0], "unnamed");
        assert!(names(&["Engine"])[0].starts_with("Engine ("), "the audit has this actor");
        for name in names(&["ä".repeat(300).as_str()]) {
            assert!(name.chars().count() <= NAME_MAX && crate::people::name_complaint(&name).is_none(), "{name}");
        }
    }
}
