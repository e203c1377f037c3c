//! A sign-in that has begun. Nothing is stored of it, so no number of them ends another: what is needed when the browser comes back is in the
//! state that it carries to the provider and back, signed with a key of the database together with the secret of the browser. The nonce and the
//! verifier of PKCE follow from the key, so the state says nothing of them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use carillon_scheduler::Millis;
use ring::hmac::{HMAC_SHA256, Key, sign};
use subtle::ConstantTimeEq as _;

use crate::secret::{is_secret, random_secret};

/// Time to sign in at the provider.
const LIMIT_MS: i64 = 10 * 60_000;
/// Bytes of the address in the console: the state is a part of the provider's address.
const NEXT_BYTES: usize = 1_000;

/// Known again when the browser comes back.
#[derive(Clone)]
pub(super) struct Secrets {
    pub nonce: String,
    pub verifier: String,
}

pub(super) struct BegunSignIn {
    /// Comes back with the browser.
    pub state: String,
    pub secrets: Secrets,
    /// The address in the console that was asked for.
    pub next: String,
    pub expires_at: Millis,
}

pub(super) fn key(secret: &str) -> Key {
    Key::new(HMAC_SHA256, secret.as_bytes())
}

impl BegunSignIn {
    /// One of the browser that holds this secret.
    pub fn new(key: &Key, browser: &str, next: &str, now: Millis) -> Self {
        let next = next[..next.floor_char_boundary(NEXT_BYTES)].to_owned();
        let expires_at = now + LIMIT_MS;
        let body = format!("{expires_at}.{}.{}", random_secret(), URL_SAFE_NO_PAD.encode(&next));
        let state = format!("{body}.{}", code(key, "state", browser, &body));
        Self { secrets: secrets(key, browser, &body), state, next, expires_at }
    }

    /// None: the state is no one of ours, belongs to another browser, or has expired.
    pub fn of_state(key: &Key, browser: &str, state: &str, now: Millis) -> Option<Self> {
        let (body, signature) = state.rsplit_once('.').filter(|_| is_secret(browser))?;
        if !bool::from(code(key, "state", browser, body).as_bytes().ct_eq(signature.as_bytes())) {
            return None;
        }
        let [expires_at, _, next] = body.split('.').collect::<Vec<_>>()[..] else { return None };
        let expires_at: Millis = expires_at.parse().ok().filter(|at| now < *at)?;
        let next = String::from_utf8(URL_SAFE_NO_PAD.decode(next).ok()?).ok()?;
        Some(Self { state: state.to_owned(), secrets: secrets(key, browser, body), next, expires_at })
    }
}

fn secrets(key: &Key, browser: &str, body: &str) -> Secrets {
    Secrets { nonce: code(key, "nonce", browser, body), verifier: code(key, "verifier", browser, body) }
}

/// 43 characters. The purposes and the secrets of browsers have no line breaks, so no two questions are one text.
fn code(key: &Key, purpose: &str, browser: &str, body: &str) -> String {
    URL_SAFE_NO_PAD.encode(sign(key, format!("{purpose}\n{browser}\n{body}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: W2
    #[test]
    fn a_state_counts_as_it_was_made_in_its_browser_and_for_its_time() {
        let (key, browser) = (key("a key"), random_secret());
        let begun = BegunSignIn::new(&key, &browser, "/jobs?text=ü.x", 1_000);
        let found = |key: &Key, browser: &str, state: &str, now| BegunSignIn::of_state(key, browser, state, now);
        let back = found(&key, &browser, &begun.state, 1_000 + LIMIT_MS - 1).unwrap();
        assert_eq!((&*back.next, back.expires_at), ("/jobs?text=ü.x", 1_000 + LIMIT_MS));
        assert_eq!((&back.secrets.nonce, &back.secrets.verifier), (&begun.secrets.nonce, &begun.secrets.verifier));
        assert!(begun.secrets.nonce != begun.secrets.verifier && !begun.state.contains(&begun.secrets.verifier));
        assert!((43..=128).contains(&begun.secrets.verifier.len()), "as RFC 7636 has it");
        assert!(found(&key, &browser, &begun.state, 1_000 + LIMIT_MS).is_none(), "expired");
        assert!(found(&key, &random_secret(), &begun.state, 1_000).is_none(), "another browser");
        assert!(found(&super::key("another"), &browser, &begun.state, 1_000).is_none(), "another database");
        let later = begun.state.replacen(&(1_000 + LIMIT_MS).to_string(), &(2_000 + LIMIT_MS).to_string(), 1);
        for changed in [later.as_str(), "", "...", &begun.state[1..], &begun.state[..begun.state.len() - 1]] {
            assert!(found(&key, &browser, changed, 1_000).is_none(), "{changed}");
        }
        assert!(found(&key, "", &BegunSignIn::new(&key, "", "/", 1_000).state, 1_000).is_none(), "no browser");
        let long = BegunSignIn::new(&key, &browser, &format!("/{}", "ü".repeat(1_000)), 1_000);
        assert_eq!(long.next.len(), 999, "whole characters");
        let again = BegunSignIn::new(&key, &browser, "/jobs", 1_000);
        assert!(again.state != begun.state && again.secrets.nonce != begun.secrets.nonce);
    }
}
