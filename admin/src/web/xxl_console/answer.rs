//! The envelopes of answers.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::{Value, json};

use crate::web::api::Error;

/// What a handler returns. An error becomes an envelope of the call's dialect in the guard.
pub type Reply = Result<HttpResponse, Error>;

/// How a script reads answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Up to 3.1: the payload is `content`.
    Old,
    /// From 3.2 on: the payload is `content` in 3.2 and `data` from 3.3 on, so both are there.
    New,
}

impl Dialect {
    pub fn success(self, payload: &Value) -> HttpResponse {
        HttpResponse::Ok().json(self.envelope(200, None, payload))
    }

    /// `code`: 500, but for the OpenAPI.
    pub fn failure(self, status: StatusCode, code: u16, message: &str) -> HttpResponse {
        HttpResponse::build(status).json(self.envelope(code, Some(message), &Value::Null))
    }

    fn envelope(self, code: u16, message: Option<&str>, payload: &Value) -> Value {
        match self {
            Self::Old => json!({"code": code, "msg": message, "content": payload}),
            Self::New => {
                json!({"code": code, "msg": message, "content": payload, "data": payload, "success": code == 200})
            }
        }
    }
}
