//! The results that an executor sends to the admin.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::members::{self, Members, members};

/// Results that are read of one body.
pub const MAX_CALLBACK_ITEMS: usize = 100_000;
/// Results that cannot be used and are described.
const DESCRIBED: usize = 5;

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
    /// Carillon's own: when the executor received the request for the run, by its own clock, UTC epoch milliseconds; 0: not known.
    #[serde(rename = "receivedAt", skip_serializing_if = "is_zero")]
    pub received_at: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// The results of one body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callbacks {
    /// In their order, with repeats of a run.
    pub items: Vec<CallbackItem>,
    /// How many others there are, which no repetition makes readable: without a run's id, no object, or beyond
    /// [`MAX_CALLBACK_ITEMS`].
    pub unusable: usize,
    /// What is wrong with the first five of them, each in one line that names its place in the list, from 1.
    pub problems: Vec<String>,
}

impl Callbacks {
    fn add(&mut self, place: usize, item: Result<CallbackItem, String>) {
        let problem = match item {
            Ok(item) if item.log_id > 0 && self.items.len() < MAX_CALLBACK_ITEMS => return self.items.push(item),
            Ok(item) if item.log_id > 0 => format!("item {place} is one of more than {MAX_CALLBACK_ITEMS}"),
            Ok(_) => format!("logId of item {place} is missing or not a run"),
            Err(error) => format!("item {place}: {error}"),
        };
        self.unusable += 1;
        if self.problems.len() < DESCRIBED {
            self.problems.push(problem);
        }
    }
}

/// Parses the body of `POST /api/callback`: a list of results, one result, or `{"callbackList":[…]}`. Each result is judged alone.
///
/// # Errors
/// A message for the client: no JSON, or JSON of another form.
pub fn parse_callbacks(body: &[u8]) -> Result<Callbacks, String> {
    match members::parse::<Body>(body) {
        Ok(Body(items)) => {
            let mut callbacks = Callbacks::default();
            items.into_iter().zip(1..).for_each(|(item, place)| callbacks.add(place, Ok(item)));
            Ok(callbacks)
        }
        // At least one result is wrong, or all of it.
        Err(error) => one_by_one(body).ok_or(error),
    }
}

/// None: the body has another form.
fn one_by_one(body: &[u8]) -> Option<Callbacks> {
    let whole: Box<RawValue> = members::parse(body).ok()?;
    let whole_body = whole.get().as_bytes();
    if whole_body.starts_with(b"[") {
        return members::parse(whole_body).ok();
    }
    match members::parse::<Judged>(whole_body).ok()?.list {
        Some(list) => Some(list),
        None => {
            let mut callbacks = Callbacks::default();
            callbacks.add(1, parse_item(&whole));
            Some(callbacks)
        }
    }
}

/// What JSON does not allow may stand in one result: what skips over a text does not look into it.
fn parse_item(json: &RawValue) -> Result<CallbackItem, String> {
    members::parse(json.get().as_bytes())
}

/// An object that may hold a list.
#[derive(Deserialize)]
struct Judged {
    #[serde(rename = "callbackList")]
    list: Option<Callbacks>,
}

impl<'de> Deserialize<'de> for Callbacks {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(CallbacksVisitor)
    }
}

struct CallbacksVisitor;

impl<'de> Visitor<'de> for CallbacksVisitor {
    type Value = Callbacks;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a list of results")
    }

    /// What cannot be used is forgotten at once: a body may hold millions of it.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Callbacks, A::Error> {
        let (mut callbacks, mut place) = (Callbacks::default(), 0);
        while let Some(json) = seq.next_element::<Box<RawValue>>()? {
            place += 1;
            callbacks.add(place, parse_item(&json));
        }
        Ok(callbacks)
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

members! {
    Item: "a result, which is a JSON object" {
        "logId" => result.log_id: int64,
        "logDateTim" | "logDateTime" => result.log_date_time: int64,
        "handleCode" => result.code: int32,
        "handleMsg" => result.message: optional_text,
        "receivedAt" => result.received_at: int64,
        "executeResult" => nested: value,
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
        Item::deserialize(from).map(Self::from)
    }
}

#[derive(Default)]
struct ExecuteResult {
    code: i32,
    message: Option<String>,
}

members! {
    ExecuteResult: "executeResult, which is a JSON object" {
        "code" => code: int32,
        "msg" => message: optional_text,
    }
}
