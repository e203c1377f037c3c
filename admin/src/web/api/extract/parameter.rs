//! Schemas of parameters.

use utoipa::PartialSchema;
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type};

use crate::web::api::view::time::Time;

pub fn id() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

pub fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

pub fn flag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean)
}

pub fn time() -> RefOr<Schema> {
    Time::schema()
}

/// A number with a default, from 1 to `max`.
pub fn number(default: u32, max: u32) -> ObjectBuilder {
    integer(1, Some(max)).default(Some(default.into()))
}

pub fn integer(min: u32, max: Option<u32>) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(min)).maximum(max)
}
