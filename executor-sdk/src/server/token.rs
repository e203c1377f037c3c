//! The access token.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The digest of the access token: comparing digests takes the same time whatever the token and its length.
#[derive(Clone)]
pub(crate) struct TokenCheck([u8; 32]);

impl TokenCheck {
    pub(crate) fn new(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Whether the header's value is the token; a missing header is not.
    pub(crate) fn accepts(&self, given: Option<&[u8]>) -> bool {
        let digest: [u8; 32] = Sha256::digest(given.unwrap_or_default()).into();
        given.is_some() && bool::from(self.0.ct_eq(&digest))
    }
}

#[cfg(test)]
mod tests {
    use super::TokenCheck;

    // covers: S18
    #[test]
    fn only_the_token_itself_is_accepted() {
        let token = format!("{:032x}", rand::random::<u128>());
        let check = TokenCheck::new(&token);
        assert!(check.accepts(Some(token.as_bytes())));
        for wrong in [None, Some(&b""[..]), Some(&token.as_bytes()[1..])] {
            assert!(!check.accepts(wrong));
        }
        assert!(!TokenCheck::new("").accepts(None), "a missing token is refused even if the configured one is empty");
    }
}
