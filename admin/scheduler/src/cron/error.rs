/// What is wrong with an expression: the field, its text, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub(super) String);

impl Error {
    /// What cron programs write into an expression, and a schedule has as members or kinds of their own.
    pub(super) fn of_another_notation(expression: &str) -> Option<Self> {
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
