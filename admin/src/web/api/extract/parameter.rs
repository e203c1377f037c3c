//! Schemas of parameters, and the list of schemas.

use utoipa::openapi::{ArrayBuilder, KnownFormat, ObjectBuilder, Ref, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::web::api::view::time::Time;

/// Schemas by name.
pub type Schemas = Vec<(String, RefOr<Schema>)>;

/// Adds a type with the types of its members.
pub fn add<T: ToSchema>(schemas: &mut Schemas) {
    schemas.push((T::name().into(), T::schema()));
    T::schemas(schemas);
}

pub fn id() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

pub fn positive_id() -> ObjectBuilder {
    id().minimum(Some(1))
}

pub fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

pub fn object() -> ObjectBuilder {
    ObjectBuilder::new()
}

/// A text of `min` to `max` characters.
pub fn text_of(min: usize, max: usize) -> ObjectBuilder {
    text().min_length(Some(min)).max_length(Some(max))
}

/// Words of the set whose schema has this name.
pub fn any_of(set: &str) -> ArrayBuilder {
    ArrayBuilder::new().items(Ref::from_schema_name(set))
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
