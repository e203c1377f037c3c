//! Passwords: what is refused, and Argon2id. Hashing is slow and takes 19 MiB by design, so few run at a time, and never on
//! a thread that serves requests.

use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::Semaphore;
use zxcvbn::Score;

static QUEUE: Queue = Queue::new();

/// Who may compute a hash now, and who waits.
struct Queue {
    /// Hashes computed at once: many sign-ins wait for each other instead of exhausting the memory.
    turns: Semaphore,
    /// A browser that has signed in before has a turn of its own.
    turn_of_known: Semaphore,
    /// Passwords that may wait for a turn, which takes a few seconds. Further ones are refused, so that a flood of strangers does not
    /// lengthen the wait of others.
    places: Semaphore,
}

impl Queue {
    const fn new() -> Self {
        Self {
            turns: Semaphore::const_new(2),
            turn_of_known: Semaphore::const_new(1),
            places: Semaphore::const_new(50),
        }
    }

    async fn verify(&self, password: &str, hash: Option<&str>, is_known: bool) -> Result<bool, Error> {
        let password = password.to_owned();
        let known = hash.map(str::to_owned);
        let turns = if is_known { &self.turn_of_known } else { &self.turns };
        let _place = if is_known { None } else { Some(self.places.try_acquire().map_err(|_| Error::Busy)?) };
        blocking(turns, move || {
            let text = known.as_deref().unwrap_or(&NO_ACCOUNT);
            let parsed = PasswordHash::new(text).map_err(|e| Error::Hash(e.to_string()))?;
            let fits = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
            Ok(fits && known.is_some())
        })
        .await?
    }
}

/// Compared with when there is no such account, so that the answer takes as long as for one that exists.
static NO_ACCOUNT: LazyLock<String> = LazyLock::new(|| compute(&crate::secret::random_secret()).unwrap_or_default());

const LENGTH: std::ops::RangeInclusive<usize> = 10..=128;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Refused(String),
    /// The policy does not allow it; the text says what would.
    #[error("{0}")]
    Forbidden(String),
    #[error("the password could not be hashed: {0}")]
    Hash(String),
    #[error("too many sign-ins at once; try again in a few seconds")]
    Busy,
    #[error(transparent)]
    Store(#[from] carillon_store::Error),
}

/// A new PHC string of the password.
pub async fn hash(password: &str) -> Result<String, Error> {
    let password = password.to_owned();
    blocking(&QUEUE.turns, move || compute(&password)).await?
}

/// Whether it is the password of that hash. Without a hash: false, after the same time. `is_known`: the browser has signed in to this
/// account before.
///
/// # Errors
/// `Busy`: too many strangers wait already.
pub async fn verify(password: &str, hash: Option<&str>, is_known: bool) -> Result<bool, Error> {
    QUEUE.verify(password, hash, is_known).await
}

/// Was the hash made with other parameters than today's?
pub fn is_outdated(hash: &str) -> bool {
    let params = argon2::Params::default();
    let today = format!("$argon2id$v=19$m={},t={},p={}$", params.m_cost(), params.t_cost(), params.p_cost());
    !hash.starts_with(&today)
}

/// Why the password is refused, as a sentence for its owner.
pub fn complaint(password: &str, account: &str) -> Option<String> {
    let length = password.chars().count();
    if !LENGTH.contains(&length) {
        return Some(format!("The password has {length} characters; choose {} to {}.", LENGTH.start(), LENGTH.end()));
    }
    is_common(password, account).then(|| "This password is easy to guess; choose another one.".to_owned())
}

/// Whether an attacker who knows the account guesses it within a million attempts: common words with a prefix or suffix, rows of
/// the keyboard, repetitions.
fn is_common(password: &str, account: &str) -> bool {
    let known = ["carillon", "scheduler", "xxl-job", "xxljob", account];
    zxcvbn::zxcvbn(password, &known).score() < Score::Two
}

fn compute(password: &str) -> Result<String, Error> {
    Argon2::default()
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(|e| Error::Hash(e.to_string()))
}

async fn blocking<T: Send + 'static>(turns: &Semaphore, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let _turn = turns.acquire().await.map_err(|e| Error::Hash(e.to_string()))?;
    tokio::task::spawn_blocking(work).await.map_err(|e| Error::Hash(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S3
    #[test]
    fn length_is_all_that_composition_rules_there_are() {
        let longest: String = (0..3).map(|_| crate::secret::random_secret()).collect();
        for fine in ["correct horse", " leading space", "пароль подлиннее", "aaaabbbbccccd", &longest[..128]]
        {
            assert_eq!(complaint(fine, "ada"), None, "{fine}");
        }
        for wrong in ["", "nine char", &"x1y2z".repeat(26)] {
            assert!(complaint(wrong, "ada").is_some_and(|text| text.contains("choose 10 to 128")), "{wrong}");
        }
    }

    // covers: S3
    #[test]
    fn first_guesses_are_refused() {
        for common in [
            "Password1!",
            "Password12",
            "PASSWORD2026",
            "1234567890",
            "0987654321",
            "qwertyuiop",
            "abcdefghij",
            "aaaaaaaaaa",
            "ababababab",
            "Administrator",
            "welcome2026",
            "ada-lovelace1",
            "passwordpassword",
        ] {
            assert!(complaint(common, "ada-lovelace").is_some(), "{common}");
        }
    }

    // covers: S4
    #[tokio::test]
    async fn an_unknown_account_costs_the_hash_of_a_known_one() {
        let costs = |text: &str| {
            let hash = PasswordHash::new(text).unwrap();
            (hash.algorithm.to_string(), hash.version, hash.params.to_string(), hash.hash.unwrap().len())
        };
        let known = hash("a password of somebody").await.unwrap();
        assert_eq!(costs(&NO_ACCOUNT), costs(&known));
        assert!(!verify("a password of somebody", None, false).await.unwrap());
    }

    // covers: S2
    #[tokio::test]
    async fn equal_passwords_have_different_hashes_and_no_password_fits_no_hash() {
        let password = crate::secret::random_secret();
        let (one, two) = (hash(&password).await.unwrap(), hash(&password).await.unwrap());
        assert!(one.starts_with("$argon2id$") && one != two && !is_outdated(&one));
        assert!(verify(&password, Some(&one), false).await.unwrap());
        assert!(!verify("something else", Some(&one), false).await.unwrap());
        assert!(!verify(&password, None, false).await.unwrap());
        assert!(is_outdated("$argon2id$v=19$m=4096,t=3,p=1$c2FsdA$aGFzaA"));
    }

    // covers: W12
    #[tokio::test]
    async fn strangers_who_wait_for_a_turn_are_bounded_and_known_browsers_have_their_own() {
        let queue = Queue::new();
        let places = queue.places.acquire_many(50).await.unwrap();
        assert!(matches!(queue.verify("a password of somebody", None, false).await, Err(Error::Busy)));
        let turns = queue.turns.acquire_many(2).await.unwrap();
        assert!(!queue.verify("a password of somebody", None, true).await.unwrap());
        drop((places, turns));
    }
}
