//! The fields of a request as they were sent.

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};

/// The fields of a form that passed the guard, in their order.
#[derive(Clone, Debug, Default)]
pub struct Fields(pub Vec<(String, String)>);

impl Fields {
    /// The last value of that name; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

impl FromRequest for Fields {
    type Error = actix_web::Error;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let fields = request.extensions_mut().remove::<Fields>();
        std::future::ready(Ok(fields.unwrap_or_default()))
    }
}
