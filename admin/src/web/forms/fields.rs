//! The fields of a request as they were sent.

use actix_web::HttpMessage as _;

use crate::web::from_request::from_request;

/// The fields of a form that passed the guard, in their order.
#[derive(Clone, Debug, Default)]
pub struct Fields(pub Vec<(String, String)>);

impl Fields {
    /// The last value of that name; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

from_request!(Fields: actix_web::Error, |request| Ok(request.extensions_mut().remove::<Self>().unwrap_or_default()));
