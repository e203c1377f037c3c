use crate::error::Error;
use crate::fields::{CronFields, Dialect};
use crate::{quartz, unix};

impl CronFields {
    /// Parses an expression. A day field `*` of a Quartz expression counts as `?` if the other day field is restricted.
    ///
    /// # Errors
    /// Names the field and its position, and says what is allowed.
    pub fn parse(dialect: Dialect, expression: &str) -> Result<Self, Error> {
        match dialect {
            Dialect::Quartz => quartz::parse(expression, false),
            Dialect::Unix => unix::parse(expression),
        }
    }

    /// Parses a Quartz expression in which exactly one of the two day fields is `?`, as xxl-job requires.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_strict(expression: &str) -> Result<Self, Error> {
        quartz::parse(expression, true)
    }
}
