//! What the arguments and the result of a handler say about its endpoint.

use actix_web::web::Json;
use actix_web::{Either, HttpRequest, HttpResponse};
use utoipa::ToSchema;

use super::answer::{NoContent, Reply};
use super::endpoint::Endpoint;
use super::error::Error;
use super::extract::parameter::{positive_id, text_of};
use super::extract::{Body, Caller, Id, Key, Name, Query, RequestBody, RevisionNumber, TokenId};
use crate::web::state::Shared;

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
    Name => |it| it.path("name", text_of(1, 64));
    Key => |it| it.key();
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
}
