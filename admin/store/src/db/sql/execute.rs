//! How statements are run: text with the marks of [`template`], values in the order of its `?`.

use sea_orm::{ConnectionTrait as Db, DbBackend, DbErr, FromQueryResult, QueryResult, TryGetableMany, Value};

use serde::de::DeserializeOwned;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::ListRow;
use crate::db::sql::template;
use crate::error::{Error, Result};
use crate::store::Store;

type Values = Vec<Value>;
/// The value of a column.
pub(crate) type NamedValue = (&'static str, Value);

/// Rows of one statement, where a list of values is its text.
const CHUNK: usize = 100;
/// Values of a statement with more rows than that: SQLite allows 32,766, the others 65,535.
const LARGE: usize = 8_000;
/// Texts of such a statement in all, in bytes: MariaDB takes 16 MiB.
const LARGE_TEXTS: usize = 4 * 1024 * 1024;

/// How many of the rows left go into the next statement. There are two sizes and a rest, so that few texts fill the caches of
/// the connections. A large statement is worth it: on SQLite each is a way to another thread and back.
fn rows_of_one_statement(left: usize, columns: usize, texts: usize) -> usize {
    let large = if texts <= LARGE_TEXTS { (LARGE / columns.max(1)).clamp(1, 1000) } else { CHUNK };
    [large, CHUNK].into_iter().find(|size| left >= *size).unwrap_or(left)
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(Some(text)) => text.len(),
        _ => 0,
    }
}

impl Store {
    /// The parameter of `{ids}`.
    pub(crate) fn ids(&self, ids: &[i64]) -> Value {
        template::id_list(self.backend, ids)
    }

    /// How many rows were changed.
    pub(crate) async fn execute(&self, db: &impl Db, text: &str, values: Values) -> Result<u64> {
        Ok(db.execute_raw(template::statement(self.backend, text, values)).await?.rows_affected())
    }

    /// Rows as they come, for those that may be unreadable.
    pub(crate) async fn query(&self, db: &impl Db, text: &str, values: Values) -> Result<Vec<QueryResult>> {
        Ok(db.query_all_raw(template::statement(self.backend, text, values)).await?)
    }

    /// Rows by the names of their columns.
    pub(crate) async fn all<T: FromQueryResult>(&self, db: &impl Db, text: &str, values: Values) -> Result<Vec<T>> {
        self.query(db, text, values).await?.iter().map(read).collect()
    }

    pub(crate) async fn one<T: FromQueryResult>(&self, db: &impl Db, text: &str, values: Values) -> Result<Option<T>> {
        let found = db.query_one_raw(template::statement(self.backend, text, values)).await?;
        found.as_ref().map(read).transpose()
    }

    /// Rows by the order of their columns: single values, or tuples.
    pub(crate) async fn tuples<T: TryGetableMany>(&self, db: &impl Db, text: &str, values: Values) -> Result<Vec<T>> {
        self.query(db, text, values).await?.iter().map(tuple).collect()
    }

    pub(crate) async fn tuple<T: TryGetableMany>(&self, db: &impl Db, text: &str, values: Values) -> Result<Option<T>> {
        let found = db.query_one_raw(template::statement(self.backend, text, values)).await?;
        found.as_ref().map(tuple).transpose()
    }

    /// Rows of integers that are not NULL, for lists that are long and read often. A row costs about 3 µs from SQLite's thread to
    /// its values: there they come as one JSON text, in an order of its own.
    pub(crate) async fn integers<const N: usize>(
        &self,
        db: &impl Db,
        text: &str,
        values: Values,
    ) -> Result<Vec<[i64; N]>>
    where
        [i64; N]: DeserializeOwned,
    {
        if self.backend != DbBackend::Sqlite {
            let row = |row: &QueryResult| {
                let mut numbers = [0; N];
                for (at, number) in numbers.iter_mut().enumerate() {
                    *number = row.try_get_by_index(at)?;
                }
                Ok(numbers)
            };
            return self.query(db, text, values).await?.iter().map(row).collect();
        }
        let list: Option<String> = self.tuple(db, &template::as_json(text), values).await?;
        serde_json::from_str(&list.unwrap_or_default()).map_err(|error| Error::Corrupt(error.to_string()))
    }

    /// How many rows were changed by a statement over a list.
    pub(crate) async fn bulk<R: ListRow>(
        &self,
        db: &impl Db,
        bulk: &Bulk,
        values: &[(&str, Value)],
        list: &[R],
    ) -> Result<u64> {
        Ok(db.execute_raw(bulk.statement(self.backend, values, list)).await?.rows_affected())
    }

    pub(crate) async fn bulk_query<R: ListRow>(
        &self,
        db: &impl Db,
        bulk: &Bulk,
        values: &[(&str, Value)],
        list: &[R],
    ) -> Result<Vec<QueryResult>> {
        Ok(db.query_all_raw(bulk.statement(self.backend, values, list)).await?)
    }

    pub(crate) async fn bulk_tuples<T: TryGetableMany, R: ListRow>(
        &self,
        db: &impl Db,
        bulk: &Bulk,
        values: &[(&str, Value)],
        list: &[R],
    ) -> Result<Vec<T>> {
        self.bulk_query(db, bulk, values, list).await?.iter().map(tuple).collect()
    }

    /// Adds rows, each with its values in the order of the columns.
    pub(crate) async fn insert_rows(
        &self,
        db: &impl Db,
        table: &str,
        columns: &str,
        rows: Vec<Vec<Value>>,
    ) -> Result<()> {
        let (mut left, texts) = (rows.len(), rows.iter().flatten().map(text_bytes).sum());
        let mut rows = rows.into_iter().peekable();
        while let Some(first) = rows.peek() {
            let width = first.len();
            let count = rows_of_one_statement(left, width, texts);
            let values: Vec<Value> = rows.by_ref().take(count).flatten().collect();
            let marks = format!("({})", vec!["?"; width].join(","));
            let text = format!("INSERT INTO {table} ({columns}) VALUES {}", vec![marks; count].join(","));
            self.execute(db, &text, values).await?;
            left -= count;
        }
        Ok(())
    }

    pub(crate) async fn insert_row(
        &self,
        db: &impl Db,
        table: &str,
        row: impl IntoIterator<Item = NamedValue>,
    ) -> Result<()> {
        let (columns, values): (Vec<&str>, Vec<Value>) = row.into_iter().unzip();
        self.insert_rows(db, table, &columns.join(", "), vec![values]).await
    }

    /// Sets columns of rows, and answers how many there were. `rest` is the end of the statement, with its values.
    pub(crate) async fn update_columns(
        &self,
        db: &impl Db,
        table: &str,
        set: impl IntoIterator<Item = NamedValue>,
        (rest, others): (&str, Values),
    ) -> Result<u64> {
        let (columns, mut values): (Vec<&str>, Vec<Value>) = set.into_iter().unzip();
        values.extend(others);
        self.execute(db, &format!("UPDATE {table} SET {} = ?{rest}", columns.join(" = ?, ")), values).await
    }

    pub(crate) async fn delete_by_id(&self, db: &impl Db, table: &str, key: &str, ids: &[i64]) -> Result<u64> {
        self.execute(db, &template::delete_by_id(self.backend, table, key), vec![self.ids(ids)]).await
    }
}

/// A row by the names of its columns.
pub fn read<T: FromQueryResult>(row: &QueryResult) -> Result<T> {
    T::from_query_result(row, "").map_err(unreadable)
}

fn tuple<T: TryGetableMany>(row: &QueryResult) -> Result<T> {
    T::try_get_many_by_index(row).map_err(|error| unreadable(error.into()))
}

/// What is stored has another form than this version knows.
fn unreadable(error: DbErr) -> Error {
    match error {
        DbErr::Type(text) => Error::Corrupt(text),
        other => Error::Database(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_inserted_by_few_sizes_of_statements() {
        let sizes = |count: usize, columns: usize, texts: usize| {
            let (mut left, mut sizes) = (count, vec![]);
            while left > 0 {
                sizes.push(rows_of_one_statement(left, columns, texts));
                left -= sizes[sizes.len() - 1];
            }
            sizes
        };
        assert_eq!(sizes(1000, 29, 200_000), [275, 275, 275, 100, 75]);
        assert_eq!(sizes(1000, 8, 200_000), [1000]);
        assert_eq!(sizes(230, 2, LARGE_TEXTS + 1), [100, 100, 30]);
    }
}
