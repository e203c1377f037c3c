use std::fmt;

/// What is wrong with an expression: the field, its text, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(pub(crate) String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// What cron programs write into an expression, and a schedule has as members or kinds of their own.
    pub(crate) fn of_another_notation(expression: &str) -> Option<Self> {
        let first = expression.split_whitespace().next()?;
        let zone =
            first.split_once('=').filter(|(name, _)| ["CRON_TZ", "TZ"].iter().any(|it| name.eq_ignore_ascii_case(it)));
        if let Some((_, zone)) = zone {
            return Some(Self(format!("must not name a time zone; write `{zone}` as the member `timezone`")));
        }
        first.eq_ignore_ascii_case("@every").then(|| {
            Self(
                "`@every` is no expression; an interval is a schedule of the kind fixed_rate, with `seconds`"
                    .to_owned(),
            )
        })
    }
}
