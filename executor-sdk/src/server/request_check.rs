//! Whether a request comes from an admin: it has an access token, or a signature that is made with one.

use actix_web::HttpRequest;
use carillon_protocol::{NonceMemory, Signature, SignatureProblem, SignedRequest, SigningKey, WRONG_TOKEN, headers};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::run::wall_clock;

/// More signed requests than an executor gets in two minutes: runs of one app share theirs.
const MOST_SIGNATURES: usize = 200_000;

pub(crate) enum RequestCheck {
    Token(TokenCheck),
    /// Nothing but a signature counts.
    Signature(SignatureCheck),
}

/// Digests of the access tokens: comparing digests takes the same time whatever the token and its length.
pub(crate) struct TokenCheck(Vec<[u8; 32]>);

pub(crate) struct SignatureCheck {
    keys: Vec<SigningKey>,
    /// For which admins sign: what was sent to another executor of the app is refused.
    address: String,
    seen: Mutex<NonceMemory>,
    /// What was signed before is not known to `seen`: it may have been here.
    began_at: i64,
}

/// By how much an admin's clock may be behind when this process has just begun.
const CLOCK_ERROR_MS: i64 = 5_000;

impl RequestCheck {
    /// `address` is the one that admins call.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = &'a str>, signed: bool, address: &str) -> Self {
        if !signed {
            return Self::Token(TokenCheck::new(tokens));
        }
        Self::Signature(SignatureCheck {
            keys: tokens.map(SigningKey::new).collect(),
            address: address.to_owned(),
            seen: Mutex::new(NonceMemory::new(MOST_SIGNATURES)),
            began_at: wall_clock::now_ms(),
        })
    }

    /// Looks at the head of a request. The signature that it may answer is about a body, which is to be compared.
    ///
    /// # Errors
    /// Why the request is refused.
    pub(crate) fn check(&self, request: &HttpRequest) -> Result<Option<Signature>, String> {
        match self {
            Self::Token(check) => {
                let token = request.headers().get(headers::TOKEN);
                let is_right = check.accepts(token.map(|token| token.as_bytes()));
                if is_right { Ok(None) } else { Err(WRONG_TOKEN.to_owned()) }
            }
            Self::Signature(check) => check.check(request).map(Some).map_err(|problem| problem.to_string()),
        }
    }
}

impl TokenCheck {
    fn new<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        Self(tokens.map(|token| Sha256::digest(token.as_bytes()).into()).collect())
    }

    /// Whether the header's value is one of the tokens; a missing header is not.
    fn accepts(&self, given: Option<&[u8]>) -> bool {
        let digest: [u8; 32] = Sha256::digest(given.unwrap_or_default()).into();
        let is_one = self.0.iter().fold(Choice::from(0), |found, known| found | known.ct_eq(&digest));
        given.is_some() && bool::from(is_one)
    }
}

impl SignatureCheck {
    fn check(&self, request: &HttpRequest) -> Result<Signature, SignatureProblem> {
        let value = request.headers().get(headers::SIGNATURE).ok_or(SignatureProblem::Wrong)?;
        let signature = Signature::parse(value.as_bytes())?;
        let key = self.keys.iter().find(|key| key.id() == signature.key_id).ok_or(SignatureProblem::Wrong)?;
        let all = request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let now = wall_clock::now_ms();
        signature.check(key, SignedRequest { receiver: &self.address, path: request.path(), headers: all }, now)?;
        if signature.at < self.began_at - CLOCK_ERROR_MS {
            return Err(SignatureProblem::Earlier);
        }
        self.seen.lock().note(&signature, now)?;
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::TokenCheck;

    // covers: S18
    #[test]
    fn only_the_token_itself_is_accepted() {
        let [token, second] = [(); 2].map(|()| format!("{:032x}", rand::random::<u128>()));
        let check = TokenCheck::new([token.as_str(), &second].into_iter());
        assert!(check.accepts(Some(token.as_bytes())) && check.accepts(Some(second.as_bytes())));
        for wrong in [None, Some(&b""[..]), Some(&token.as_bytes()[1..])] {
            assert!(!check.accepts(wrong));
        }
        assert!(
            !TokenCheck::new([""].into_iter()).accepts(None),
            "a missing token is refused even if the configured one is empty"
        );
    }
}
