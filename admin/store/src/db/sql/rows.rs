//! Rows that hold words and numbers of our enums. Those cannot implement a trait of sea-orm here, so they are read through
//! [`Code`] and [`Word`].

use std::fmt::Display;
use std::str::FromStr;

use carillon_scheduler::run::map::ItemState;
use carillon_scheduler::{Cause, RunReason, RunState};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable};

/// An enum that is stored by its number.
pub trait Coded: Sized {
    /// What it is called in an error.
    const NAME: &str;

    fn from_code(code: i16) -> Option<Self>;
}

/// Makes enums readable through [`Code`].
macro_rules! coded {
    ($($name:ty: $text:literal),+) => { $(
        impl $crate::db::sql::rows::Coded for $name {
            const NAME: &str = $text;

            fn from_code(code: i16) -> Option<Self> {
                Self::from_code(code)
            }
        }
    )+ };
}
coded!(Cause: "cause", ItemState: "item state", RunState: "run state");

pub struct Code<T>(pub T);

impl<T: Coded> TryGetable for Code<T> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let code = i16::try_get_by(row, index)?;
        T::from_code(code).map(Self).ok_or_else(|| DbErr::Type(format!("{} {code}", T::NAME)).into())
    }
}

/// An enum that is stored by its word.
pub struct Word<T>(pub T);

impl<T: FromStr<Err: Display>> TryGetable for Word<T> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let word = String::try_get_by(row, index)?;
        word.parse().map(Self).map_err(|error: T::Err| DbErr::Type(error.to_string()).into())
    }
}

/// The same of a text that may have been spoilt by hand: one bad row must not keep others from being read.
pub struct WordOrDefault<T>(pub T);

impl<T: FromStr + Default> TryGetable for WordOrDefault<T> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        Ok(Self(String::try_get_by(row, index)?.parse().unwrap_or_default()))
    }
}

/// A reason that says that an earlier fire of the job is open.
pub struct IsOverlap(pub bool);

impl TryGetable for IsOverlap {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let reason = Option::<String>::try_get_by(row, index)?;
        Ok(Self(reason.as_deref() == Some(RunReason::Overlap.as_str())))
    }
}

/// A reason that says that the run waits for its turn, however long that takes: for an earlier fire, or for a slot of a limit.
pub struct IsPatient(pub bool);

impl TryGetable for IsPatient {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let reason = Option::<String>::try_get_by(row, index)?;
        let patient = [RunReason::Overlap, RunReason::Limit].map(RunReason::as_str);
        Ok(Self(reason.is_some_and(|reason| patient.contains(&reason.as_str()))))
    }
}

/// A moment that is there or is not.
pub struct IsSet(pub bool);

impl TryGetable for IsSet {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        Ok(Self(Option::<i64>::try_get_by(row, index)?.is_some()))
    }
}

/// The id of another row; 0, which no row has, stands for none.
pub struct ZeroIsNone(pub Option<i64>);

impl TryGetable for ZeroIsNone {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        Ok(Self(Some(i64::try_get_by(row, index)?).filter(|id| *id != 0)))
    }
}

/// A struct that is read from a row by the names of its columns. `as` names what reads a field that is an enum of ours:
/// `row_struct! { struct Run { id: i64, state: RunState as Code } }`. Structs without such fields derive `FromQueryResult`.
macro_rules! row_struct {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $kind:ty $(as $reader:ident)?),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name { $( $(#[$field_meta])* $field_vis $field: $kind, )+ }

        impl sea_orm::FromQueryResult for $name {
            fn from_query_result(row: &sea_orm::QueryResult, pre: &str) -> std::result::Result<Self, sea_orm::DbErr> {
                Ok(Self { $( $field: row_struct!(@ row, pre, $field $(, $reader)?), )+ })
            }
        }
    };
    (@ $row:ident, $pre:ident, $field:ident) => { $row.try_get($pre, stringify!($field))? };
    (@ $row:ident, $pre:ident, $field:ident, $reader:ident) => {{
        let $reader(value) = $row.try_get($pre, stringify!($field))?;
        value
    }};
}

/// Values of a statement: `values![id, name, now]`.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$( sea_orm::Value::from($value) ),*] };
}

/// Values by their names: `named![now, owner: node]`.
macro_rules! named {
    ($($name:ident $(: $value:expr)?),* $(,)?) => {
        [$( (stringify!($name), named!(@ $name $(, $value)?)) ),*]
    };
    (@ $name:ident) => { sea_orm::Value::from($name) };
    (@ $name:ident, $value:expr) => { sea_orm::Value::from($value) };
}
