//! What the placeholders of a request stand for, and why there may be no request with these values.

use std::collections::BTreeMap;

use crate::job::placeholders::PlaceholderValues;

/// What the placeholders of a request stand for.
#[derive(Debug)]
pub struct HttpValues<'a> {
    /// Those that parameters have too.
    pub run: PlaceholderValues,
    /// The name of the fire.
    pub fire_key: &'a str,
    /// The parameters of the run.
    pub params: &'a str,
    /// By name.
    pub secrets: &'a BTreeMap<String, String>,
}

/// Why no request can be made for a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfillable {
    /// Its app has no such secret.
    #[error("the secret {0} is not set")]
    MissingSecret(String),
    /// A value would end the header's line.
    #[error("the header {0} would have a control character in its value")]
    ControlCharacter(String),
    /// Values would lead to another path than the one that is written, and escapes do not help.
    #[error("values would make `.` or `..` a part of the path of the URL")]
    DotSegment,
    /// Its values make a part of the request too long.
    #[error("{0} would have more than {1} bytes")]
    TooLong(String, usize),
}
