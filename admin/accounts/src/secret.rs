//! Random secrets, and the hashes under which the database keeps them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use carillon_scheduler::hex_digest;

/// A secret with 256 random bits in 43 characters that every HTTP header, URL and shell carries unchanged.
///
/// It never begins with `-`: on a command line (`--access-token -w…`) that would be read as an option.
pub fn random_secret() -> String {
    loop {
        let secret = URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
        if !secret.starts_with('-') {
            return secret;
        }
    }
}

/// Whether [`random_secret`] can have made this text.
pub fn is_secret(text: &str) -> bool {
    URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}

/// 256 bits of randomness need no slow hash.
pub fn hash(secret: &str) -> String {
    hex_digest(secret)
}
