//! Reading JSON objects as tolerantly as Java's executors and admins do (Gson): a number may come as a string, null
//! and absence are the same, unknown members are ignored, and of a repeated member the last one counts.
//!
//! serde's derive cannot do that: it refuses a repeated member, also under an alias.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::lenient::repaired;

/// Deeper JSON than this is refused before it is parsed; the protocol itself needs four levels.
const MAX_DEPTH: usize = 16;

/// An object that is read member by member.
pub(crate) trait Members: Default {
    /// The name of the object in error messages.
    const WHAT: &'static str;

    /// Reads the value of the member `name`; ignores unknown members.
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

/// How an object is read: its name in error messages, then `"name of a member" => field: reader`. Unknown members are ignored.
macro_rules! members {
    ($object:ident: $what:literal { $($($name:literal)|+ => $($field:ident).+: $reader:ident,)+ }) => {
        impl $crate::members::Members for $object {
            const WHAT: &'static str = $what;

            fn member<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                name: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match name {
                    $($($name)|+ => self.$($field).+ = $crate::members::$reader(map, name)?,)+
                    _ => $crate::members::skip(map)?,
                }
                Ok(())
            }
        }

        impl<'de> serde::Deserialize<'de> for $object {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::members::read_object(from)
            }
        }
    };
}
pub(crate) use members;

/// Reads an object; any other value is an error that names the expected object.
pub(crate) fn read_object<'de, T: Members, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_map(ObjectVisitor(PhantomData))
}

/// Reads all members of an object that was already entered.
pub(crate) fn read_members<'de, T: Members, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    let mut object = T::default();
    while let Some(name) = map.next_key::<String>()? {
        object.member(&name, map)?;
    }
    Ok(object)
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Members> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(T::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        read_members(&mut map)
    }
}

/// Ignores the value of a member.
pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// A whole number, also as a string; null, absence and an empty string are 0.
pub(crate) fn int64<'de, A: MapAccess<'de>>(map: &mut A, name: &str) -> Result<i64, A::Error> {
    let number: Number = map.next_value().map_err(|e| named(name, e))?;
    Ok(number.0)
}

/// As [`int64`], within 32 bits.
pub(crate) fn int32<'de, A: MapAccess<'de>>(map: &mut A, name: &str) -> Result<i32, A::Error> {
    let number = int64(map, name)?;
    let message = || A::Error::custom(format!("{name}: {number} does not fit into 32 bits"));
    i32::try_from(number).map_err(|_| message())
}

/// A text; any other value becomes its JSON text; null is `None`. No tree of values is built, because that needs about 30
/// times the memory of the JSON.
pub(crate) fn optional_text<'de, A: MapAccess<'de>>(map: &mut A, _: &str) -> Result<Option<String>, A::Error> {
    map.next_value::<Text>().map(|text| text.0)
}

/// As [`optional_text`]; null is the empty text.
pub(crate) fn text<'de, A: MapAccess<'de>>(map: &mut A, name: &str) -> Result<String, A::Error> {
    optional_text(map, name).map(Option::unwrap_or_default)
}

/// True or false, also as a string; any other value is false.
pub(crate) fn boolean<'de, A: MapAccess<'de>>(map: &mut A, _: &str) -> Result<bool, A::Error> {
    let json: Box<RawValue> = map.next_value()?;
    Ok(matches!(json.get(), "true" | "\"true\""))
}

fn named<E: Error>(name: &str, error: E) -> E {
    E::custom(format!("{name}: {error}"))
}

struct Number(i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        let message = || E::custom(format!("{value} does not fit into 64 bits"));
        i64::try_from(value).map(Number).map_err(|_| message())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        // 2^53: beyond it a float cannot represent every whole number, so an id would be inexact.
        if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
            return Ok(Number(value as i64));
        }
        Err(E::custom(format!("{value} is not a whole number")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Number, E> {
        let digits = value.trim();
        if digits.is_empty() {
            return Ok(Number(0));
        }
        if let Ok(number) = digits.parse() {
            return Ok(Number(number));
        }
        // As Gson: also `200.0` and `2e2`.
        let number = digits.parse().ok().and_then(|number| self.visit_f64::<E>(number).ok());
        number.ok_or_else(|| E::custom(format!("\"{digits}\" is not a whole number")))
    }

    fn visit_unit<E: Error>(self) -> Result<Number, E> {
        Ok(Number(0))
    }
}

struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(from)?;
        read_text(&json).map(Text).map_err(D::Error::custom)
    }
}

fn read_text(json: &RawValue) -> Result<Option<String>, serde_json::Error> {
    let is_text = json.get().starts_with('"');
    match json.get() {
        "null" => Ok(None),
        text if is_text => serde_json::from_str(text).map(Some),
        other => Ok(Some(other.to_owned())),
    }
}

/// A value as its type reads it.
pub(crate) fn value<'de, T: Deserialize<'de>, A: MapAccess<'de>>(map: &mut A, _: &str) -> Result<T, A::Error> {
    map.next_value()
}

/// The JSON of a member, not parsed; null is `None`.
pub(crate) fn json<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Box<RawValue>>, A::Error> {
    let json: Box<RawValue> = map.next_value()?;
    Ok(Some(json).filter(|json| json.get() != "null"))
}

/// Collects at most `limit` items of a list.
pub(crate) fn list<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(seq: &mut A, limit: usize) -> Result<Vec<T>, A::Error> {
    let mut items = Vec::new();
    while let Some(item) = seq.next_element()? {
        if items.len() == limit {
            return Err(A::Error::custom(format!("more than {limit} items")));
        }
        items.push(item);
    }
    Ok(items)
}

/// Parses a body; refuses deep nesting. Texts that JSON does not allow are read as Java reads them.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    parse_strictly(body).or_else(|error| parse_strictly(repaired(body).as_bytes()).map_err(|_| error))
}

fn parse_strictly<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    if depth(body) > MAX_DEPTH {
        return Err(format!("JSON is nested deeper than {MAX_DEPTH} levels"));
    }
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

/// How deep objects and lists are nested, counted without parsing.
fn depth(body: &[u8]) -> usize {
    let (mut now, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for &byte in body {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => now += 1,
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn brackets_inside_text_are_not_depth() {
        assert_eq!(depth(br#"{"a":"[[[\"[[","b":[[1]]}"#), 3);
    }
}
