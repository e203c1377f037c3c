//! What heartbeats announce: which declarations are known, and which executor is asked for the one that is not.

use carillon_scheduler::Millis;
use foldhash::HashMap;
use parking_lot::Mutex;

/// A declaration that is there is looked for again after this time.
const KNOWN_MS: Millis = 600_000;
/// No other executor is asked for a declaration within this time.
const ASKED_MS: Millis = 5_000;
/// An app that takes no declarations is looked at again after this time.
const REFUSED_MS: Millis = 10_000;
/// Entries that are kept; with more, those that are over go.
const MOST: usize = 10_000;

/// What was found out about a digest of an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    Known,
    /// The executor is asked for it.
    Asked,
    /// The app takes none.
    Refused,
    /// The declaration was refused.
    Faulty,
}

/// In memory of this node.
#[derive(Default)]
pub struct Announced {
    /// By app and digest: until when the finding counts.
    checked: Mutex<HashMap<(String, String), Millis>>,
    /// By app and address: the digest that the database has of this executor.
    noted: Mutex<HashMap<(String, String), String>>,
}

impl Announced {
    /// Whether the database has to be asked about this digest. Only this caller asks it then, within the next seconds.
    pub fn claim(&self, app: &str, digest: &str, now: Millis) -> bool {
        let mut checked = self.checked.lock();
        let key = (app.to_owned(), digest.to_owned());
        let is_due = checked.get(&key).is_none_or(|until| *until <= now);
        if is_due {
            insert(&mut checked, key, now + ASKED_MS, now);
        }
        is_due
    }

    /// What the database has said.
    pub fn note(&self, app: &str, digest: &str, finding: Finding, now: Millis) {
        let lasts = match finding {
            Finding::Known | Finding::Faulty => KNOWN_MS,
            Finding::Asked => ASKED_MS,
            Finding::Refused => REFUSED_MS,
        };
        insert(&mut self.checked.lock(), (app.to_owned(), digest.to_owned()), now + lasts, now);
    }

    /// Whether the database has another digest of an executor than this. `is_new`: its row has just been made, or begun again.
    pub fn is_other(&self, app: &str, address: &str, digest: &str, is_new: bool) -> bool {
        let noted = self.noted.lock();
        is_new || noted.get(&(app.to_owned(), address.to_owned())).is_none_or(|known| known != digest)
    }

    /// It is not known what the database has of an executor.
    pub fn forget_noted(&self, app: &str, address: &str) {
        self.noted.lock().remove(&(app.to_owned(), address.to_owned()));
    }

    /// The database has it.
    pub fn set_noted(&self, app: &str, address: &str, digest: &str) {
        let mut noted = self.noted.lock();
        if noted.len() >= MOST {
            noted.clear();
        }
        noted.insert((app.to_owned(), address.to_owned()), digest.to_owned());
    }
}

fn insert(checked: &mut HashMap<(String, String), Millis>, key: (String, String), until: Millis, now: Millis) {
    if checked.len() >= MOST {
        checked.retain(|_, until| *until > now);
    }
    checked.insert(key, until);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_executors_is_asked() {
        let announced = Announced::default();
        let asked = (0..500).filter(|_| announced.claim("billing", "d", 0));
        assert_eq!(asked.count(), 1);
        assert!(!announced.claim("billing", "d", ASKED_MS - 1) && announced.claim("billing", "d", ASKED_MS));
        announced.note("billing", "d", Finding::Known, ASKED_MS);
        assert!(!announced.claim("billing", "d", KNOWN_MS));
        assert!(announced.claim("billing", "e", 0) && announced.claim("orders", "d", 0));
        announced.note("billing", "e", Finding::Faulty, 0);
        assert!(!announced.claim("billing", "e", KNOWN_MS - 1), "a refused declaration is asked for seldom");
    }

    #[test]
    fn a_digest_is_written_when_it_is_new() {
        let announced = Announced::default();
        assert!(announced.is_other("billing", "http://a", "d", false));
        announced.set_noted("billing", "http://a", "d");
        assert!(!announced.is_other("billing", "http://a", "d", false));
        assert!(announced.is_other("billing", "http://a", "d", true), "its row is another one");
        assert!(announced.is_other("billing", "http://a", "e", false));
        assert!(announced.is_other("billing", "http://b", "d", false));
        announced.forget_noted("billing", "http://a");
        assert!(announced.is_other("billing", "http://a", "d", false), "it could not be written");
    }
}
