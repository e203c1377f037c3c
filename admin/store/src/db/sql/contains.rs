//! A search for a part of a text, in any case.

use sea_orm::{DbBackend, Value};

/// The part that is looked for. SQLite's LOWER leaves letters outside ASCII as they are, so both cases are asked for.
pub struct Contains {
    backend: DbBackend,
    is_ascii: bool,
    lower: String,
    as_is: String,
}

impl Contains {
    pub fn new(backend: DbBackend, text: &str) -> Self {
        let (lower, as_is) = (pattern(&text.to_lowercase()), pattern(text));
        Self { backend, is_ascii: text.is_ascii(), lower, as_is }
    }

    /// True for a column that has the part; its values are [`Self::values`].
    pub fn condition(&self, column: &str) -> String {
        match self.backend {
            // The quick ways to disregard the case of ASCII letters.
            DbBackend::Sqlite if self.is_ascii => format!("{column} LIKE ? ESCAPE '!'"),
            DbBackend::Postgres if self.is_ascii => format!("LOWER({column} COLLATE \"C\") LIKE ? ESCAPE '!'"),
            _ => format!("(LOWER({column}) LIKE ? ESCAPE '!' OR {column} LIKE ? ESCAPE '!')"),
        }
    }

    pub fn values(&self) -> Vec<Value> {
        match self.backend {
            DbBackend::Sqlite | DbBackend::Postgres if self.is_ascii => vec![self.lower.clone().into()],
            _ => vec![self.lower.clone().into(), self.as_is.clone().into()],
        }
    }
}

/// For `LIKE ? ESCAPE '!'`: the characters that it would read as patterns are escaped, and the escape character itself.
fn pattern(text: &str) -> String {
    let escaped = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_takes_its_own_signs_literally() {
        assert_eq!(pattern("50%_!a"), "%50!%!_!!a%");
    }

    #[test]
    fn a_condition_has_a_mark_for_each_value() {
        for backend in [DbBackend::Sqlite, DbBackend::Postgres, DbBackend::MySql] {
            for text in ["abc", "Über"] {
                let contains = Contains::new(backend, text);
                assert_eq!(contains.condition("c").matches('?').count(), contains.values().len());
            }
        }
    }
}
