//! Browsers from which an account has signed in before. Each keeps a cookie that proves it, and its attempts are counted apart:
//! failed attempts of others can then not keep the owner of an account out.
//!
//! The proof is made with the hash of the password, which nobody outside the database knows: it needs no row, holds nothing
//! about the account, and ends with a new password.

use subtle::ConstantTimeEq as _;

use crate::secret::{hash, is_secret, random_secret};

/// A new proof for a browser.
pub fn proof(password_hash: &str) -> String {
    let nonce = random_secret();
    format!("{nonce}.{}", seal(&nonce, password_hash))
}

/// What the browser's attempts are counted by. None: it has not signed in to this account since the password was set.
pub fn subject(proof: &str, password_hash: &str) -> Option<String> {
    let (nonce, sealed) = proof.split_once('.')?;
    let is_true = is_secret(nonce) && bool::from(sealed.as_bytes().ct_eq(seal(nonce, password_hash).as_bytes()));
    is_true.then(|| format!("device:{}", hash(nonce)))
}

/// Key and nonce have a fixed length, so no other nonce continues this text.
fn seal(nonce: &str, password_hash: &str) -> String {
    let key = hash(&format!("device:{password_hash}"));
    hash(&format!("{key}{nonce}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_counts_for_its_account_and_password() {
        let (one, two) = (proof("hash"), proof("hash"));
        assert!(subject(&one, "hash").is_some() && subject(&one, "hash") != subject(&two, "hash"));
        assert_eq!(subject(&one, "another hash"), None);
        let (nonce, sealed) = one.split_once('.').unwrap();
        for wrong in ["", ".", nonce, &format!("{nonce}."), &format!(".{sealed}"), &format!("{nonce}x.{sealed}")] {
            assert_eq!(subject(wrong, "hash"), None, "{wrong}");
        }
    }
}
