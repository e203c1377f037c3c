//! Rows that cannot be read: each is left out where it is met, so that it stops no other, and is reported once.
//!
//! Such a row comes from a newer version during a rolling upgrade, or from a change by hand.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sea_orm::{FromQueryResult, QueryResult};

use crate::Store;
use crate::db::sql::execute::read;

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
struct Inner {
    known: HashSet<(&'static str, i64)>,
    news: Vec<Unreadable>,
}

impl SetAside {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, table: &'static str, id: i64, reason: String) {
        let mut inner = self.inner();
        if inner.known.len() >= REMEMBERED {
            inner.known.clear();
        }
        if inner.known.insert((table, id)) {
            inner.news.push(Unreadable { table, id, reason });
        }
    }
}

impl Store {
    /// Reads rows of which the first column is the id in `table`. Those that cannot be read are left out and noted.
    pub(crate) fn readable<T: FromQueryResult>(&self, table: &'static str, rows: &[QueryResult]) -> Vec<T> {
        let or_aside = |row: &QueryResult| match read(row) {
            Ok(item) => Some(item),
            Err(error) => {
                let id = row.try_get_by_index(0).unwrap_or_default();
                self.set_aside.note(table, id, error.to_string());
                None
            }
        };
        rows.iter().filter_map(or_aside).collect()
    }

    /// The rows that were left out since the last call, each once.
    pub fn take_unreadable(&self) -> Vec<Unreadable> {
        std::mem::take(&mut self.set_aside.inner().news)
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
