//! Reading rows of which some may be unreadable.

use sea_orm::{FromQueryResult, QueryResult};

use crate::db::set_aside::Unreadable;
use crate::db::sql::execute::read;
use crate::store::Store;

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
