//! Reads the columns of a row in the order of its SELECT.

use sea_orm::{QueryResult, TryGetable};

use crate::{Error, Result};

pub struct Columns<'a> {
    row: &'a QueryResult,
    at: usize,
}

impl<'a> Columns<'a> {
    pub fn of(row: &'a QueryResult) -> Self {
        Self { row, at: 0 }
    }

    /// The next column. Ask for an `Option` where it can be NULL.
    pub fn next<T: TryGetable>(&mut self) -> Result<T> {
        let value = self.row.try_get_by_index(self.at)?;
        self.at += 1;
        Ok(value)
    }

    /// The next column, which holds one of our words.
    pub fn word<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self) -> Result<T> {
        let word: String = self.next()?;
        word.parse().map_err(|e: T::Err| Error::Corrupt(e.to_string()))
    }

    /// The next column, which holds the number of one of our words.
    pub fn code<T>(&mut self, from_code: fn(i16) -> Option<T>) -> Result<T> {
        let code = self.next()?;
        from_code(code).ok_or_else(|| Error::Corrupt(format!("code {code}")))
    }
}
