//! One method of one path: its handler and its description.

use actix_web::http::Method;
use actix_web::{FromRequest, Handler, Responder};
use carillon_store::MAX_KEY_CHARS;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{
    Content, KnownFormat, ObjectBuilder, Ref, RefOr, Required, ResponseBuilder, Schema, SchemaFormat, Type,
};

use super::error::Answer;
use super::extract::parameter::{integer, number};
use super::extract::{KEY_HEADER, LIMIT, MAX_LIMIT};
use crate::web::access::{Access, Route};

/// Schemas by name.
pub type Schemas = Vec<(String, RefOr<Schema>)>;

pub struct Endpoint {
    /// Its path is below `/api/v1`.
    pub route: Route,
    pub operation: OperationBuilder,
    /// The names of the query's parameters.
    pub queries: Vec<&'static str>,
    /// Each adds a type of a body or an answer, with the types of its members.
    pub schemas: Vec<fn(&mut Schemas)>,
}

impl Endpoint {
    /// An endpoint that needs the token; it can fail as all of them can.
    pub fn new<F, Args>(method: Method, path: &'static str, access: Access, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let endpoint = Self::bare(method, path, access, handler).fails([400, 401, 403, 429, 500, 503]);
        if path.contains("{id}") {
            let others = ["token", "revision"].into_iter().filter(|name| path.contains(&format!("{{{name}}}")));
            let endpoint = others.fold(endpoint, |it, name| it.parameter(ParameterIn::Path, name, "", id()));
            return endpoint.parameter(ParameterIn::Path, "id", "", id()).fails([404]);
        }
        if path.contains("{name}") {
            return endpoint.parameter(ParameterIn::Path, "name", "", text(64)).fails([404]);
        }
        endpoint
    }

    /// An endpoint that answers 200 with what its handler returns.
    pub fn json<F, Args, T>(method: Method, path: &'static str, access: Access, handler: F) -> Self
    where
        F: Handler<Args, Output = Answer<T>>,
        Args: FromRequest + 'static,
        T: Serialize + ToSchema + 'static,
    {
        Self::new(method, path, access, handler).answers::<T>(200)
    }

    /// An endpoint that needs no token.
    pub fn open<F, Args>(method: Method, path: &'static str, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let mut endpoint = Self::bare(method, path, Access::Open, handler).fails([400, 500]);
        endpoint.operation = endpoint.operation.securities(Some([]));
        endpoint
    }

    fn bare<F, Args>(method: Method, path: &'static str, access: Access, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = Route::new(method, path, access, handler);
        Self { route, operation: OperationBuilder::new(), queries: vec![], schemas: vec![] }
    }

    /// `id` names the operation in generated clients.
    pub fn describe(mut self, tag: &str, id: &str, summary: &str) -> Self {
        self.operation = self.operation.tag(tag).operation_id(Some(id)).summary(Some(summary));
        self
    }

    /// A parameter of the query string.
    pub fn query(mut self, name: &'static str, description: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        self.queries.push(name);
        self.parameter(ParameterIn::Query, name, description, schema)
    }

    /// The parameters of a page of a list.
    pub fn page(self, after: ObjectBuilder) -> Self {
        let page = self.query("after", "`next` of the page before", after);
        page.query("limit", "Items on a page", number(LIMIT, MAX_LIMIT))
    }

    pub fn required_query(mut self, name: &'static str, description: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        self.queries.push(name);
        let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query).schema(Some(schema));
        self.operation = self.operation.parameter(parameter.required(Required::True).description(Some(description)));
        self
    }

    /// The endpoint takes an idempotency key.
    pub fn takes_key(self) -> Self {
        let description =
            "A request that is repeated with the same key creates nothing; it is answered like the first one";
        self.parameter(ParameterIn::Header, KEY_HEADER, description, text(MAX_KEY_CHARS))
    }

    pub fn body<T: ToSchema>(self) -> Self {
        self.with_body::<T>(Required::True)
    }

    pub fn optional_body<T: ToSchema>(self) -> Self {
        self.with_body::<T>(Required::False)
    }

    fn with_body<T: ToSchema>(mut self, required: Required) -> Self {
        let body = RequestBodyBuilder::new().content("application/json", content::<T>()).required(Some(required));
        self.operation = self.operation.request_body(Some(body.build()));
        self.schemas.push(add::<T>);
        self.fails([413])
    }

    pub fn answers<T: ToSchema>(mut self, status: u16) -> Self {
        let response = ResponseBuilder::new().description("Done").content("application/json", content::<T>());
        self.operation = self.operation.response(status.to_string(), response);
        self.schemas.push(add::<T>);
        self
    }

    pub fn answers_nothing(mut self) -> Self {
        self.operation = self.operation.response("204", ResponseBuilder::new().description("Done"));
        self
    }

    pub fn fails<const N: usize>(mut self, statuses: [u16; N]) -> Self {
        for status in statuses {
            let response = Ref::from_response_name(format!("Error{status}"));
            self.operation = self.operation.response(status.to_string(), response);
        }
        self
    }

    fn parameter(
        mut self,
        place: ParameterIn,
        name: &str,
        description: &str,
        schema: impl Into<RefOr<Schema>>,
    ) -> Self {
        let required = if place == ParameterIn::Path { Required::True } else { Required::False };
        let description = Some(description).filter(|text| !text.is_empty());
        let parameter = ParameterBuilder::new().name(name).parameter_in(place).required(required);
        self.operation = self.operation.parameter(parameter.description(description).schema(Some(schema)));
        self
    }
}

fn add<T: ToSchema>(schemas: &mut Schemas) {
    schemas.push((T::name().into(), T::schema()));
    T::schemas(schemas);
}

fn content<T: ToSchema>() -> Content {
    Content::new(Some(Ref::from_schema_name(T::name())))
}

/// An id that must be given.
fn id() -> ObjectBuilder {
    integer(1, None).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// A text of 1 to `max` characters.
fn text(max: usize) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(max))
}
