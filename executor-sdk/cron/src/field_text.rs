//! The text of one field of an expression, with its position for error messages.

use crate::error::Error;
use crate::item::Field;

/// The longest expression, in bytes. It is enough for a list of all minutes, and bounds the work.
const MAX_BYTES: usize = 500;

/// Splits an expression at blanks, if it is not too long.
pub(crate) fn split_fields(expression: &str) -> Result<Vec<&str>, Error> {
    if expression.len() > MAX_BYTES {
        return Err(Error(format!("has {} bytes; at most {MAX_BYTES} are allowed", expression.len())));
    }
    if let Some(error) = Error::of_another_notation(expression) {
        return Err(error);
    }
    Ok(expression.split_ascii_whitespace().collect())
}

/// The text of one field.
#[derive(Clone, Copy)]
pub(crate) struct FieldText<'a> {
    pub field: &'static Field,
    pub text: &'a str,
    /// Its position, counted from 1.
    pub position: usize,
    /// How many fields the expression has.
    pub count: usize,
}

impl FieldText<'_> {
    /// Parses the text; an error names the field and its position.
    pub fn parse<T>(&self, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, Error> {
        parse(self.text).map_err(|problem| {
            Error(format!(
                "{} field: {problem} (field {} of {}: `{}`)",
                self.field.name, self.position, self.count, self.text
            ))
        })
    }

    /// A field without day rules as `*` or a plain list, the only forms that [`CronFields::plain`](crate::CronFields::plain) has.
    pub fn plain(&self) -> Result<String, Error> {
        self.parse(|text| {
            if text == "*" {
                return Ok("*".to_owned());
            }
            let mut values = Vec::new();
            for item in text.split(',') {
                values.extend(self.field.values(self.field.item(item)?));
            }
            values.sort_unstable();
            values.dedup();
            Ok(values.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
        })
    }
}
