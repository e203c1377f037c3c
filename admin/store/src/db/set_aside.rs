//! Rows that cannot be read: each is left out where it is met, so that it stops no other, and is reported once.
//!
//! Such a row comes from a newer version during a rolling upgrade, or from a change by hand.

use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::HashSet;

/// A row that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub table: &'static str,
    pub id: i64,
    pub reason: String,
}

/// Remembered rows; when there are more, all are forgotten, and may be reported a second time.
const REMEMBERED: usize = 10_000;

#[derive(Default)]
pub struct SetAside(Mutex<Inner>);

#[derive(Default)]
pub(crate) struct Inner {
    known: HashSet<(&'static str, i64)>,
    pub(crate) news: Vec<Unreadable>,
}

impl SetAside {
    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, table: &'static str, id: i64, reason: String) {
        let mut inner = self.inner();
        if inner.known.len() >= REMEMBERED {
            inner.known.clear();
        }
        if inner.known.insert((table, id)) {
            inner.news.push(Unreadable { table, id, reason });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_reported_once_however_often_it_is_met() {
        let aside = SetAside::default();
        for table in ["run", "run", "job"] {
            aside.note(table, 7, "code 77".into());
        }
        let tables: Vec<_> = aside.inner().news.iter().map(|row| row.table).collect();
        assert_eq!(tables, ["run", "job"]);
    }
}
