//! Reading rows of which some may be unreadable.

use sea_orm::{FromQueryResult, QueryResult};

use crate::db::set_aside::Unreadable;
use crate::db::sql::execute::read;
use crate::db::sql::filter::{Page, page_size};
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

    /// The page of up to `limit + 1` rows: the one too many only says that there is a next page. That one begins behind the last
    /// row that can be read, so a page of which no row can be read is the last one.
    pub(crate) fn readable_page<T: FromQueryResult, K>(
        &self,
        table: &'static str,
        rows: &[QueryResult],
        limit: u32,
        key: impl Fn(&T) -> K,
    ) -> Page<T, K> {
        let limit = page_size(limit) as usize;
        let items: Vec<T> = self.readable(table, &rows[..limit.min(rows.len())]);
        let next = items.last().filter(|_| rows.len() > limit).map(key);
        Page { items, next }
    }

    /// The rows that were left out since the last call, each once.
    pub fn take_unreadable(&self) -> Vec<Unreadable> {
        std::mem::take(&mut self.set_aside.inner().news)
    }
}
