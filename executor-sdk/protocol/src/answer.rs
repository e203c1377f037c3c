//! The envelope of every answer, in both directions.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Value;

use crate::codes::{FAILURE, SUCCESS};

/// An answer, always with HTTP status 200: `code` says whether the request succeeded.
///
/// The payload is written twice, as `content` (xxl-job up to 3.2) and as `data` (since 3.3), and nulls are included: every
/// known client accepts that. In answers to `/api/…` it must be null or a text: one client parses nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// 200, or a failure.
    pub code: i32,
    /// Text of a failure.
    pub msg: Option<String>,
    /// Payload, or null.
    pub content: Value,
}

impl Answer {
    /// Success without payload: `{"code":200,"msg":null,"content":null,"data":null}`.
    pub fn ok() -> Self {
        Self::ok_with(Value::Null)
    }

    /// Success with a payload.
    pub fn ok_with(payload: impl Into<Value>) -> Self {
        Self { code: SUCCESS, msg: None, content: payload.into() }
    }

    /// Failure (code 500) with its text.
    pub fn fail(msg: impl Into<String>) -> Self {
        Self { code: FAILURE, msg: Some(msg.into()), content: Value::Null }
    }

    /// The same answer with a text.
    #[must_use]
    pub fn with_msg(mut self, msg: impl Into<String>) -> Self {
        self.msg = Some(msg.into());
        self
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_struct("Answer", 4)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("msg", &self.msg)?;
        object.serialize_field("content", &self.content)?;
        object.serialize_field("data", &self.content)?;
        object.end()
    }
}
