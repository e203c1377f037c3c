//! Browsers from which an account has signed in before. Each keeps a cookie that proves it, and its attempts are counted apart:
//! failed attempts of others can then not keep the owner of an account out.
//!
//! The key of the proof is the hash of the password, which is only in the database, and the time at which the second factor was turned
//! on. So the proof needs no row, holds no data of the account, and becomes invalid when either changes. On an account with a second
//! factor a browser gets its proof after a correct code: the password alone would let an attacker make any number of proofs.

use carillon_store::people::accounts::Account;
use subtle::ConstantTimeEq as _;

use crate::secret::{hash, is_secret, random_secret};

/// A new proof for a browser.
pub fn proof(account: &Account) -> String {
    let nonce = random_secret();
    format!("{nonce}.{}", seal(&nonce, account))
}

/// What the browser's attempts are counted by. None: it has not signed in to this account since the password and the second factor
/// were set.
pub fn subject(proof: &str, account: &Account) -> Option<String> {
    let (nonce, sealed) = proof.split_once('.')?;
    // Without a password the key is no secret.
    let has_key = !account.password_hash.is_empty();
    let is_true = has_key && is_secret(nonce) && bool::from(sealed.as_bytes().ct_eq(seal(nonce, account).as_bytes()));
    is_true.then(|| format!("device:{}", hash(nonce)))
}

/// Key and nonce have a fixed length, so no other nonce continues this text.
fn seal(nonce: &str, account: &Account) -> String {
    let since = account.totp_since.map_or_else(String::new, |since| format!("{since}:"));
    let key = hash(&format!("device:{since}{}", account.password_hash));
    hash(&format!("{key}{nonce}"))
}

#[cfg(test)]
mod tests {
    use carillon_store::Grants;

    use super::*;

    fn account(password_hash: &str, totp_since: Option<i64>) -> Account {
        Account {
            id: 1,
            name: "ada".to_owned(),
            password_hash: password_hash.to_owned(),
            grants: Grants::default(),
            disabled_at: None,
            created_at: 0,
            issuer: None,
            totp_since,
            credentials: 0,
        }
    }

    // covers: V4
    #[test]
    fn a_proof_counts_for_its_account_and_password() {
        let ada = account("hash", None);
        let (one, two) = (proof(&ada), proof(&ada));
        assert!(subject(&one, &ada).is_some() && subject(&one, &ada) != subject(&two, &ada));
        for other in [account("another hash", None), account("hash", Some(7)), account("", None)] {
            assert_eq!(subject(&one, &other), None, "{other:?}");
            assert_eq!(subject(&proof(&other), &ada), None, "{other:?}");
        }
        assert_eq!(subject(&proof(&account("", None)), &account("", None)), None, "the key is no secret");
        let (nonce, sealed) = one.split_once('.').unwrap();
        for wrong in ["", ".", nonce, &format!("{nonce}."), &format!(".{sealed}"), &format!("{nonce}x.{sealed}")] {
            assert_eq!(subject(wrong, &ada), None, "{wrong}");
        }
    }
}
