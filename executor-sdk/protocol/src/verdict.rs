//! What an HTTP answer means for the run it was about.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::codes::{SUCCESS, WRONG_TOKEN};
use crate::members::{self, Members};

/// The meaning of an answer. It decides whether a request may be repeated: a refused request was certainly not executed, an
/// unclear one may have been.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// HTTP 200 and code 200.
    Accepted {
        /// The text of the answer, often null.
        message: Option<String>,
        /// Payload as its JSON: `content`, or `data` if that is null. `None`: both are null or missing.
        content: Option<String>,
    },
    /// HTTP 200 and another code, or an HTTP status 4xx but 408: not executed.
    Refused {
        /// The code in the body, or the HTTP status.
        code: i32,
        /// The reason given, never empty.
        message: String,
    },
    /// Any other answer, such as a proxy's 502 or an HTML page: it is unknown whether the request was executed.
    Unclear {
        /// What was received instead.
        why: String,
    },
}

impl Verdict {
    /// Whether this refusal says that the executor already has the run ("repeat trigger job, logId:7", in Java's two
    /// spellings), so it accepted an earlier request.
    pub fn is_duplicate_of(&self, log_id: i64) -> bool {
        let Self::Refused { message, .. } = self else {
            return false;
        };
        ["repeate trigger job, logId:", "repeat trigger job, logId:"]
            .iter()
            .filter_map(|start| message.strip_prefix(start))
            .any(|id| id.trim() == log_id.to_string())
    }

    /// Whether this refusal is because of the access token.
    pub fn is_wrong_token(&self) -> bool {
        matches!(self, Self::Refused { message, .. } if message == WRONG_TOKEN)
    }
}

/// Parses the answer to a request of the protocol; the content type is ignored.
pub fn parse_answer(http_status: u16, body: &[u8]) -> Verdict {
    match http_status {
        200 => {}
        400..=499 if http_status != 408 => {
            return Verdict::Refused {
                code: i32::from(http_status),
                message: format!("HTTP {http_status}{}", excerpt(body)),
            };
        }
        _ => return unclear(format!("HTTP {http_status}"), body),
    }
    match members::parse::<Body>(body) {
        Ok(Body::Object(Envelope { code: Some(code), message, content })) => judge(code, message, content),
        Ok(Body::Items(Some(item))) if item.code.is_some_and(|code| code != SUCCESS) => {
            judge(item.code.unwrap_or_default(), item.message, None)
        }
        Ok(_) => unclear("an answer without a code".to_owned(), body),
        Err(_) => unclear("an answer that is not of the protocol".to_owned(), body),
    }
}

fn judge(code: i32, message: Option<String>, content: Option<Box<RawValue>>) -> Verdict {
    if code == SUCCESS {
        let content = content.map(|json| String::from(Box::<str>::from(json)));
        return Verdict::Accepted { message, content };
    }
    let message = message.filter(|text| !text.trim().is_empty());
    Verdict::Refused { code, message: message.unwrap_or_else(|| format!("code {code} without a reason")) }
}

fn unclear(what: String, body: &[u8]) -> Verdict {
    Verdict::Unclear { why: what + &excerpt(body) }
}

/// The start of a body, for a message: `: text`, or nothing.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(400)]);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(160).collect();
    if short.is_empty() { String::new() } else { format!(": {short}") }
}

/// An envelope, or the Go client's list of results, of which the first counts.
enum Body {
    Object(Envelope),
    Items(Option<Envelope>),
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(BodyVisitor)
    }
}

struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = Body;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object with a code")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
        members::read_members(&mut map).map(Body::Object)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Body, A::Error> {
        let items: Vec<Envelope> = members::list(&mut seq, 100)?;
        Ok(Body::Items(items.into_iter().next()))
    }
}

#[derive(Default)]
pub(crate) struct Envelope {
    pub(crate) code: Option<i32>,
    pub(crate) message: Option<String>,
    pub(crate) content: Option<Box<RawValue>>,
}

impl Members for Envelope {
    const WHAT: &'static str = "an answer, which is a JSON object";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "code" | "handleCode" => self.code = Some(members::int32(map, name)?),
            "msg" | "handleMsg" => self.message = members::optional_text(map, name)?,
            "content" | "data" => {
                let payload = members::json(map)?;
                self.content = self.content.take().or(payload);
            }
            _ => members::skip(map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        members::read_object(from)
    }
}
