//! Declarations that were refused.

pub const STATEMENTS: &[&[&str]] = &[&[
    // Why the declaration was refused as a whole; its definition is empty then. Empty: it was not.
    "ALTER TABLE declaration ADD COLUMN problem VARCHAR(1000) NOT NULL DEFAULT ''",
]];
