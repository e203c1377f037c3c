//! Encryption of secrets that the database keeps and the program must read again, under keys that are not in the database.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

const KEY_LEN: usize = 32;
/// The keys in use while one replaces another; more are a mistake.
const MAX_KEYS: usize = 8;

/// The first key encrypts, all of them decrypt: so a key is replaced without a gap. May be empty: then nothing is encrypted.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretKeys(Vec<[u8; KEY_LEN]>);

/// What was to be encrypted cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no key for secrets is set: write --secret-key-file (CARILLON_SECRET_KEY_FILE)")]
pub struct NoKey;

impl SecretKeys {
    /// Keys of 32 bytes, each as base64 or as 64 hexadecimal digits, with commas or line ends between them.
    ///
    /// # Errors
    /// What is wrong and what would be right, without the text itself.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty()).collect();
        if words.is_empty() || words.len() > MAX_KEYS {
            return Err(format!(
                "it holds {} keys; write 1 to {MAX_KEYS}, such as the output of `openssl rand -base64 32`",
                words.len()
            ));
        }
        let keys = words.iter().enumerate().map(|(at, word)| {
            key(word).ok_or_else(|| {
                let place = at + 1;
                format!("key {place} is not 32 bytes in base64 or hexadecimal; write the output of `openssl rand -base64 32`")
            })
        });
        keys.collect::<Result<_, _>>().map(Self)
    }

    /// These keys, and others that decrypt too.
    #[must_use]
    pub fn followed_by(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Encrypts a secret for the place that `context` names: moved to another row, it cannot be decrypted.
    ///
    /// # Errors
    /// There is no key.
    pub fn seal(&self, context: &str, secret: &str) -> Result<String, NoKey> {
        let key = self.0.first().and_then(aead).ok_or(NoKey)?;
        let nonce: [u8; NONCE_LEN] = rand::random();
        let mut sealed = secret.as_bytes().to_vec();
        let aad = Aad::from(context.as_bytes());
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).map_err(|_| NoKey)?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// The secret; None: no key of these has encrypted it, or not for this place.
    pub fn open(&self, context: &str, sealed: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        self.0.iter().find_map(|key| {
            let mut text = sealed.to_vec();
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let opened = aead(key)?.open_in_place(nonce, Aad::from(context.as_bytes()), &mut text).ok()?;
            String::from_utf8(opened.to_vec()).ok()
        })
    }
}

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

fn aead(key: &[u8; KEY_LEN]) -> Option<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, key).ok().map(LessSafeKey::new)
}

fn key(word: &str) -> Option<[u8; KEY_LEN]> {
    let hex = || {
        let digits = |at: usize| u8::from_str_radix(word.get(at..at + 2)?, 16).ok();
        let is_hex = word.len() == 2 * KEY_LEN && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| (0..word.len()).step_by(2).filter_map(digits).collect())
    };
    let base64 =
        || [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|form| form.decode(word).ok());
    let bytes: Vec<u8> = hex().or_else(base64)?;
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_key() -> String {
        STANDARD.encode(rand::random::<[u8; KEY_LEN]>())
    }

    // covers: S34
    #[test]
    fn only_its_key_and_its_place_decrypt_a_secret() {
        let (old, new) = (random_key(), random_key());
        let first = SecretKeys::parse(&old).unwrap();
        let sealed = first.seal("row 1", "geheim").unwrap();
        assert!(!sealed.contains("geheim"));
        assert_ne!(sealed, first.seal("row 1", "geheim").unwrap(), "each has a nonce of its own");
        assert_eq!(first.open("row 1", &sealed).as_deref(), Some("geheim"));
        assert_eq!(first.open("row 2", &sealed), None);
        let mut bytes = URL_SAFE_NO_PAD.decode(&sealed).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(first.open("row 1", &URL_SAFE_NO_PAD.encode(bytes)), None);
        let both = SecretKeys::parse(&format!("{new}\n{old}\n")).unwrap();
        assert_eq!(both.open("row 1", &sealed).as_deref(), Some("geheim"), "an older key still decrypts");
        let sealed = both.seal("row 1", "geheim").unwrap();
        assert_eq!(first.open("row 1", &sealed), None, "the first key encrypts");
        assert_eq!(SecretKeys::default().seal("row 1", "geheim"), Err(NoKey));
    }

    #[test]
    fn a_key_is_32_bytes_in_a_usual_form() {
        let key: [u8; KEY_LEN] = rand::random();
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let forms = [hex.clone(), hex.to_uppercase(), STANDARD.encode(key), URL_SAFE_NO_PAD.encode(key)];
        assert!(forms.iter().all(|form| SecretKeys::parse(form).unwrap() == SecretKeys(vec![key])));
        for (wrong, said) in
            [("", "it holds 0 keys"), ("geheim", "key 1 is not 32 bytes"), (&*format!("{hex},ab"), "key 2 is not")]
        {
            let complaint = SecretKeys::parse(wrong).unwrap_err();
            assert!(complaint.contains(said) && !complaint.contains("geheim"), "{complaint}");
        }
    }
}
