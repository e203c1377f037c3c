//! Lists, and where the next page begins.

use std::borrow::Cow;

use carillon_store::Page;
use serde::Serialize;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A page of a list. `K` is what the next page's parameter `after` takes.
#[derive(Serialize)]
pub struct List<T, K = Whole> {
    items: Vec<T>,
    next: Option<K>,
}

/// For lists that have no second page.
#[derive(Serialize)]
pub enum Whole {}

impl<T> List<T> {
    pub fn whole(items: impl IntoIterator<Item = T>) -> Self {
        Self { items: items.into_iter().collect(), next: None }
    }
}

impl<T, K> List<T, K> {
    pub fn from_page<S, P>(page: Page<S, P>, item: fn(S) -> T, key: impl FnOnce(P) -> K) -> Self {
        Self { items: page.items.into_iter().map(item).collect(), next: page.next.map(key) }
    }
}

impl PartialSchema for Whole {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Null).into()
    }
}

impl ToSchema for Whole {}

impl<T: ToSchema, K: PartialSchema> PartialSchema for List<T, K> {
    fn schema() -> RefOr<Schema> {
        let null = ObjectBuilder::new().schema_type(Type::Null);
        let next = OneOfBuilder::new()
            .item(K::schema())
            .item(null)
            .description(Some("The parameter `after` of the next page; null: this is the last one"));
        ObjectBuilder::new()
            .description(Some(format!("A page of a list of {} objects", T::name())))
            .property("items", ArrayBuilder::new().items(Ref::from_schema_name(T::name())))
            .property("next", next)
            .into()
    }
}

impl<T: ToSchema, K: PartialSchema> ToSchema for List<T, K> {
    fn name() -> Cow<'static, str> {
        format!("{}List", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into(), T::schema()));
        T::schemas(schemas);
    }
}
