//! The list of a bulk statement: its columns, and rows that fill them.

use sea_orm::Value;
use sea_orm::sea_query::ArrayType;
use serde::Serialize;

/// A list of ids, and one of shards.
pub const IDS: &[ListColumn] = &[long("id")];
pub const SHARDS: &[ListColumn] = &[long("shard")];

/// A column of the list.
pub struct ListColumn {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_nullable: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Short,
    Int,
    Long,
    /// MySQL cuts silently what is longer.
    Text(&'static str),
}

pub const fn short(name: &'static str) -> ListColumn {
    ListColumn { name, kind: Kind::Short, is_nullable: false }
}

pub const fn int(name: &'static str) -> ListColumn {
    ListColumn { name, kind: Kind::Int, is_nullable: false }
}

pub const fn long(name: &'static str) -> ListColumn {
    ListColumn { name, kind: Kind::Long, is_nullable: false }
}

/// `mysql` is its type there.
pub const fn text(name: &'static str, mysql: &'static str) -> ListColumn {
    ListColumn { name, kind: Kind::Text(mysql), is_nullable: false }
}

impl ListColumn {
    /// An array of PostgreSQL cannot hold a NULL here; each kind has a value that no row has, and the text turns it back.
    pub const fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }
}

impl Kind {
    /// The type in MySQL, in PostgreSQL, and what stands for NULL in an array.
    pub(super) fn facts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Short => ("SMALLINT", "smallint", "-32768"),
            Self::Int => ("INT", "int", "-2147483648"),
            Self::Long => ("BIGINT", "bigint", "0"),
            Self::Text(mysql) => (mysql, "text", "''"),
        }
    }

    pub(super) fn array_type(self) -> ArrayType {
        match self {
            Self::Short => ArrayType::SmallInt,
            Self::Int => ArrayType::Int,
            Self::Long => ArrayType::BigInt,
            Self::Text(_) => ArrayType::String,
        }
    }

    pub(super) fn element(self, cell: Cell) -> Value {
        let (number, text) = match cell {
            Cell::Number(number) => (Some(number), ""),
            Cell::Text(text) => (None, text),
            Cell::Null => (None, ""),
        };
        match self {
            Self::Short => Value::SmallInt(Some(number.map_or(i16::MIN, |number| number as i16))),
            Self::Int => Value::Int(Some(number.map_or(i32::MIN, |number| number as i32))),
            Self::Long => Value::BigInt(Some(number.unwrap_or(0))),
            Self::Text(_) => Value::String(Some(text.to_owned())),
        }
    }
}

/// What a list holds of one column.
pub enum Cell<'a> {
    Number(i64),
    Text(&'a str),
    Null,
}

pub trait ToCell: Serialize {
    fn to_cell(&self) -> Cell<'_>;
}

/// A row of a list: one value, or a tuple in the order of its columns.
pub trait ListRow: Serialize {
    fn each_cell(&self, take: &mut dyn FnMut(usize, Cell<'_>));
}

macro_rules! numbers {
    ($($kind:ty),+) => { $(
        impl ToCell for $kind {
            fn to_cell(&self) -> Cell<'_> {
                Cell::Number((*self).into())
            }
        }
    )+ };
}
numbers!(i16, i32, i64);

impl ToCell for &str {
    fn to_cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }
}

impl ToCell for String {
    fn to_cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }
}

impl<T: ToCell> ToCell for Option<T> {
    fn to_cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, T::to_cell)
    }
}

impl ListRow for i64 {
    fn each_cell(&self, take: &mut dyn FnMut(usize, Cell<'_>)) {
        take(0, Cell::Number(*self));
    }
}

macro_rules! tuples {
    ($(($($kind:ident $at:tt),+))+) => { $(
        impl<$($kind: ToCell),+> ListRow for ($($kind,)+) {
            fn each_cell(&self, take: &mut dyn FnMut(usize, Cell<'_>)) {
                $( take($at, self.$at.to_cell()); )+
            }
        }
    )+ };
}
tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
}
