//! What handlers return.

use actix_web::body::BoxBody;
use actix_web::http::{StatusCode, header};
use actix_web::web::Json;
use actix_web::{HttpRequest, HttpResponse, Responder};
use serde::Serialize;

pub use super::error::Error;

/// 200 with a view.
pub type Answer<T> = Result<Json<T>, Error>;

/// An answer of another status than 200.
pub struct Reply<const STATUS: u16, T> {
    view: T,
    /// The path of the new object.
    location: Option<String>,
}

pub type Created<T> = Reply<201, T>;
pub type Accepted<T> = Reply<202, T>;

/// 204.
pub struct NoContent;

impl<const STATUS: u16, T> Reply<STATUS, T> {
    pub fn new(view: impl Into<T>) -> Self {
        Self { view: view.into(), location: None }
    }

    pub fn at(location: String, view: impl Into<T>) -> Self {
        Self { view: view.into(), location: Some(location) }
    }
}

impl<const STATUS: u16, T: Serialize> Responder for Reply<STATUS, T> {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        let mut response = HttpResponse::build(StatusCode::from_u16(STATUS).unwrap_or_default());
        if let Some(location) = self.location {
            response.insert_header((header::LOCATION, location));
        }
        response.json(self.view)
    }
}

impl Responder for NoContent {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::NoContent().finish()
    }
}
