//! Objects that were read, changed and sent back. A body has the members of the object, the revision that the client has seen, and members of
//! the answer that cannot be set.

use serde_json::Value;
use utoipa::openapi::{AllOfBuilder, ObjectBuilder, Ref, RefOr, Schema};

use super::parameter::id;
use crate::web::api::error::Error;

/// The members of an answer that a body may have beside those of the object.
pub struct ReadOnly {
    /// The member with the revision.
    pub revision: &'static str,
    /// Members that are ignored.
    pub ignored: &'static [&'static str],
}

impl ReadOnly {
    /// Takes these members out of a body.
    ///
    /// # Errors
    /// The revision is no number.
    pub fn take_out(&self, value: &mut Value) -> Result<Option<i64>, Error> {
        let Some(members) = value.as_object_mut() else {
            return Ok(None);
        };
        let wrong = || Error::field(self.revision, "must be a whole number");
        let seen = members.remove(self.revision).map(|given| given.as_i64().ok_or_else(wrong)).transpose()?;
        members.retain(|name, _| !self.ignored.contains(&name.as_str()));
        Ok(seen)
    }

    /// The schema of the members of `object` with these. `what` names the object in the description.
    pub fn schema(&self, object: Ref, what: &str, description: &str) -> RefOr<Schema> {
        let seen = format!(
            "The {0} that you have seen: the update is refused (409 `changed`) if the {what} has another one by now",
            self.revision
        );
        let mut own = ObjectBuilder::new().property(self.revision, id().description(Some(seen)));
        for name in self.ignored {
            own = own.property(*name, ignored());
        }
        AllOfBuilder::new().item(object).item(own).description(Some(description)).into()
    }
}

/// Declares a body that is an object which was read, changed and sent back: its schema, and what it is, for errors.
macro_rules! edited {
    ($name:ident: $what:literal of $members:ty, $read_only:expr, $body:expr, $description:literal) => {
        pub struct $name {
            /// Without the read-only members.
            pub value: serde_json::Value,
            /// The revision that the client has seen.
            pub revision: Option<i64>,
        }

        impl $crate::web::api::extract::RequestBody for $name {
            type Schema = Self;
            const WHAT: &'static str = $body;

            fn read(mut value: serde_json::Value) -> Result<Self, $crate::web::api::error::Error> {
                let revision = $read_only.take_out(&mut value)?;
                Ok(Self { value, revision })
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let members = utoipa::openapi::Ref::from_schema_name(<$members as utoipa::ToSchema>::name());
                $read_only.schema(members, $what, $description)
            }
        }

        impl utoipa::ToSchema for $name {
            fn schemas(schemas: &mut $crate::web::api::extract::parameter::Schemas) {
                $crate::web::api::extract::parameter::add::<$members>(schemas);
            }
        }
    };
}

pub(crate) use edited;

fn ignored() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::SchemaType::AnyValue)
        .description(Some("Taken from an answer, ignored here"))
}
