//! One method of one path: its handler and its description. The handler's signature describes its body and its answer.

use actix_web::http::Method;
use actix_web::web::Json;
use actix_web::{Either, FromRequest, Handler, HttpRequest, HttpResponse, Responder};
use carillon_store::MAX_KEY_CHARS;
use utoipa::ToSchema;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{Content, ObjectBuilder, Ref, RefOr, Required, ResponseBuilder, Schema};

use super::answer::{Error, NoContent, Reply};
use super::extract::parameter::{Schemas, add, number, positive_id, text_of};
use super::extract::{
    Body, Caller, Id, JobKey, KEY_HEADER, Key, LIMIT, MAX_LIMIT, Name, Query, RequestBody, RevisionNumber,
    ScriptNumber, TokenId, Trace,
};
use crate::web::access::{Access, Route};
use crate::web::state::Shared;

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
    /// An endpoint that can fail as all of them can.
    pub fn new<F, Args>(method: Method, path: &'static str, access: Access, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + Signature + 'static,
        F::Output: Responder + Signature + 'static,
    {
        let route = Route::new(method, path, access, handler);
        let endpoint = Self { route, operation: OperationBuilder::new(), queries: vec![], schemas: vec![] };
        let mut endpoint = F::Output::describe(Args::describe(endpoint));
        if access == Access::Open {
            endpoint.operation = endpoint.operation.securities(Some([]));
            return endpoint.fails([400, 500]);
        }
        endpoint.fails([400, 401, 403, 429, 500, 503])
    }

    /// `id` names the operation in generated clients.
    pub fn describe(mut self, tag: &str, id: &str, summary: &str) -> Self {
        self.operation = self.operation.tag(tag).operation_id(Some(id)).summary(Some(summary));
        self
    }

    /// A parameter of the query string.
    pub fn query(mut self, name: &'static str, schema: impl Into<RefOr<Schema>>, description: &str) -> Self {
        self.queries.push(name);
        self.parameter(ParameterIn::Query, Required::False, (name, description), schema)
    }

    /// A parameter of the query string that must be given.
    pub fn needs(mut self, name: &'static str, schema: impl Into<RefOr<Schema>>, description: &str) -> Self {
        self.queries.push(name);
        self.parameter(ParameterIn::Query, Required::True, (name, description), schema)
    }

    /// The parameters of a page of a list.
    pub fn page(self, after: ObjectBuilder) -> Self {
        let page = self.query("after", after, "`next` of the page before");
        page.query("limit", number(LIMIT, MAX_LIMIT), "Items on a page")
    }

    /// A parameter of the path: there may be no such object.
    pub fn path(self, name: &str, schema: ObjectBuilder) -> Self {
        self.parameter(ParameterIn::Path, Required::True, (name, ""), schema).fails([404])
    }

    /// The endpoint takes an idempotency key.
    pub fn key(self) -> Self {
        let description =
            "A request that is repeated with the same key creates nothing; it is answered like the first one";
        self.parameter(ParameterIn::Header, Required::False, (KEY_HEADER, description), text_of(1, MAX_KEY_CHARS))
    }

    fn trace(self) -> Self {
        let description = "A W3C trace context, which the runs continue; what is none is ignored";
        self.parameter(ParameterIn::Header, Required::False, ("traceparent", description), text_of(55, 200))
    }

    pub fn body<T: ToSchema>(mut self, required: Required) -> Self {
        let body = RequestBodyBuilder::new().content("application/json", content::<T>()).required(Some(required));
        self.operation = self.operation.request_body(Some(body.build()));
        self.schemas.push(add::<T>);
        self.fails([413])
    }

    pub fn answers<T: ToSchema>(mut self, status: u16) -> Self {
        self.schemas.push(add::<T>);
        self.responds(status, "Done", &[("application/json", content::<T>())])
    }

    /// An answer of these content types.
    pub fn responds(mut self, status: u16, description: &str, contents: &[(&str, Content)]) -> Self {
        let response = ResponseBuilder::new().description(description);
        let response = contents.iter().fold(response, |it, (kind, content)| it.content(*kind, content.clone()));
        self.operation = self.operation.response(status.to_string(), response);
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
        required: Required,
        (name, description): (&str, &str),
        schema: impl Into<RefOr<Schema>>,
    ) -> Self {
        let description = Some(description).filter(|text| !text.is_empty());
        let parameter = ParameterBuilder::new().name(name).parameter_in(place).required(required);
        self.operation = self.operation.parameter(parameter.description(description).schema(Some(schema)));
        self
    }
}

fn content<T: ToSchema>() -> Content {
    Content::new(Some(Ref::from_schema_name(T::name())))
}

/// What the arguments and the result of a handler say about its endpoint.
pub trait Signature {
    fn describe(endpoint: Endpoint) -> Endpoint;
}

macro_rules! signature {
    ($($type:ty $(where $param:ident: $bound:ident)? => |$endpoint:ident| $described:expr;)+) => { $(
        impl$(<$param: $bound>)? Signature for $type {
            fn describe($endpoint: Endpoint) -> Endpoint {
                $described
            }
        }
    )+ };
}

signature! {
    Shared => |it| it;
    HttpRequest => |it| it;
    Caller => |it| it;
    Query => |it| it;
    Id => |it| it.path("id", positive_id());
    TokenId => |it| it.path("token", positive_id());
    RevisionNumber => |it| it.path("revision", positive_id());
    ScriptNumber => |it| it.path("version", positive_id());
    JobKey => |it| it.path("key", text_of(1, 64));
    Name => |it| it.path("name", text_of(1, 64));
    Key => |it| it.key();
    Trace => |it| it.trace();
    Body<T> where T: RequestBody => |it| it.body::<T::Schema>(T::REQUIRED);
    HttpResponse => |it| it;
    Result<T, Error> where T: Signature => |it| T::describe(it);
    Json<T> where T: ToSchema => |it| it.answers::<T>(200);
    NoContent => |it| it.responds(204, "Done", &[]);
}

impl<const STATUS: u16, T: ToSchema> Signature for Reply<STATUS, T> {
    fn describe(endpoint: Endpoint) -> Endpoint {
        endpoint.answers::<T>(STATUS)
    }
}

impl<L: Signature, R: Signature> Signature for Either<L, R> {
    fn describe(endpoint: Endpoint) -> Endpoint {
        R::describe(L::describe(endpoint))
    }
}

macro_rules! arguments {
    ($($($part:ident)*;)+) => { $(
        impl<$($part: Signature),*> Signature for ($($part,)*) {
            fn describe(endpoint: Endpoint) -> Endpoint {
                $( let endpoint = $part::describe(endpoint); )*
                endpoint
            }
        }
    )+ };
}

arguments! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}
