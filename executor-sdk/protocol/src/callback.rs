//! The results that an executor sends to the admin.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::members::{self, Members};

/// More results than this in one body are refused.
pub const MAX_CALLBACK_ITEMS: usize = 5_000;

/// The result of one run. Written in the spelling of xxl-job up to 3.4 (`logDateTim`), which every admin reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallbackItem {
    /// The run; the only member that identifies it.
    #[serde(rename = "logId")]
    pub log_id: i64,
    /// UTC epoch milliseconds. Not reliable: several clients send the time of their own clock.
    #[serde(rename = "logDateTim")]
    pub log_date_time: i64,
    /// 200 success, 502 time-out, anything else failure; 0 when the client named none.
    #[serde(rename = "handleCode")]
    pub code: i32,
    /// Result text; a value that is not a string is kept as its JSON.
    #[serde(rename = "handleMsg")]
    pub message: Option<String>,
}

/// Parses the body of `POST /api/callback`: a list of results, one result, or `{"callbackList":[…]}`. Repeats of a run
/// are kept, in their order.
///
/// # Errors
/// A message for the client: invalid JSON, more than [`MAX_CALLBACK_ITEMS`], or a result without a run id.
pub fn parse_callbacks(body: &[u8]) -> Result<Vec<CallbackItem>, String> {
    let items = members::parse::<Body>(body)?.0;
    match items.iter().position(|item| item.log_id <= 0) {
        Some(index) => Err(format!("logId of item {} is missing or not a run", index + 1)),
        None => Ok(items),
    }
}

struct Body(Vec<CallbackItem>);

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(BodyVisitor)
    }
}

struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = Body;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a list of results, one result, or an object with callbackList")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Body, A::Error> {
        members::list(&mut seq, MAX_CALLBACK_ITEMS).map(Body)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
        let object: Wrapped = members::read_members(&mut map)?;
        Ok(Body(match object.list {
            Some(list) => list,
            None => vec![object.single.into()],
        }))
    }
}

/// An object that may be a result itself or hold a list of them.
#[derive(Default)]
struct Wrapped {
    list: Option<Vec<CallbackItem>>,
    single: Item,
}

impl Members for Wrapped {
    const WHAT: &'static str = "a result or an object with callbackList";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        if name != "callbackList" {
            return self.single.member(name, map);
        }
        self.list = Some(map.next_value::<List>()?.0);
        Ok(())
    }
}

/// Only a list, because the forms of the body must not nest.
struct List(Vec<CallbackItem>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = List;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a list of results in callbackList")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List, A::Error> {
        members::list(&mut seq, MAX_CALLBACK_ITEMS).map(List)
    }
}

/// A result as clients send it: xxl-job 2.2 nests code and text in `executeResult`, some clients send both forms.
#[derive(Default)]
struct Item {
    result: CallbackItem,
    nested: Option<ExecuteResult>,
}

impl Members for Item {
    const WHAT: &'static str = "a result, which is a JSON object";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "logId" => self.result.log_id = members::int64(map, name)?,
            "logDateTim" | "logDateTime" => {
                self.result.log_date_time = members::int64(map, name)?;
            }
            "handleCode" => self.result.code = members::int32(map, name)?,
            "handleMsg" => self.result.message = members::text(map)?,
            "executeResult" => self.nested = map.next_value()?,
            _ => members::skip(map)?,
        }
        Ok(())
    }
}

impl From<Item> for CallbackItem {
    fn from(item: Item) -> Self {
        let mut result = item.result;
        if let Some(nested) = item.nested.filter(|_| result.code == 0) {
            result.code = nested.code;
            result.message = result.message.or(nested.message);
        }
        result
    }
}

impl<'de> Deserialize<'de> for CallbackItem {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        members::read_object::<Item, D>(from).map(Self::from)
    }
}

#[derive(Default)]
struct ExecuteResult {
    code: i32,
    message: Option<String>,
}

impl Members for ExecuteResult {
    const WHAT: &'static str = "executeResult, which is a JSON object";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "code" => self.code = members::int32(map, name)?,
            "msg" => self.message = members::text(map)?,
            _ => members::skip(map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for ExecuteResult {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        members::read_object(from)
    }
}
