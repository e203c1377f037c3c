//! Query strings: every parameter is checked by name, and one that does not exist is refused.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use carillon_scheduler::Millis;

use crate::web::api::error::Error;
use crate::web::api::view::time;

/// Page sizes: default and largest.
pub const LIMIT: u32 = 100;
pub const MAX_LIMIT: u32 = 1000;

/// The parameters of a request that the handler has not read yet.
pub struct Query {
    left: Vec<(String, String)>,
    asked: Vec<&'static str>,
}

impl FromRequest for Query {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let pairs = url::form_urlencoded::parse(request.query_string().as_bytes());
        ready(Ok(Self { left: pairs.into_owned().collect(), asked: vec![] }))
    }
}

impl Query {
    /// All values of a parameter, in their order.
    pub fn all(&mut self, name: &'static str) -> Vec<String> {
        self.asked.push(name);
        let (mine, rest) = std::mem::take(&mut self.left).into_iter().partition(|(given, _)| given == name);
        self.left = rest;
        let mine: Vec<(String, String)> = mine;
        mine.into_iter().map(|(_, value)| value).collect()
    }

    /// The value of a parameter; an empty one counts as absent.
    pub fn text(&mut self, name: &'static str) -> Result<Option<String>, Error> {
        let mut values = self.all(name);
        if values.len() > 1 {
            return Err(Error::field(name, format!("is given {} times; once is enough", values.len())));
        }
        if values.iter().any(|value| value.contains('\0')) {
            return Err(Error::field(name, "must not contain the character NUL"));
        }
        Ok(values.pop().filter(|value| !value.is_empty()))
    }

    fn parsed<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let wrong = || Error::field(name, format!("{text:?} is not allowed here; {wanted}"));
        parse(text.trim()).ok_or_else(wrong).map(Some)
    }

    pub fn id(&mut self, name: &'static str) -> Result<Option<i64>, Error> {
        self.parsed(name, "an id is a whole number above 0", |text| text.parse().ok().filter(|id| *id > 0))
    }

    pub fn time(&mut self, name: &'static str) -> Result<Option<Millis>, Error> {
        self.parsed(name, "a time is RFC 3339, such as 2025-07-04T15:00:00.000Z", time::read)
    }

    pub fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Error> {
        self.parsed(name, "`true` or `false`", |text| text.parse().ok())
    }

    /// A number from 1 to `max`.
    pub fn number(&mut self, name: &'static str, default: u32, max: u32) -> Result<u32, Error> {
        let in_range = |text: &str| text.parse().ok().filter(|number| (1..=max).contains(number));
        Ok(self.parsed(name, &format!("a number from 1 to {max}"), in_range)?.unwrap_or(default))
    }

    pub fn limit(&mut self) -> Result<u32, Error> {
        self.number("limit", LIMIT, MAX_LIMIT)
    }

    /// One word of a closed set.
    pub fn word<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Error> {
        let word = self.text(name)?;
        word.map(|word| word.parse().map_err(|e: T::Err| Error::field(name, e.to_string()))).transpose()
    }

    /// Any number of words of a closed set, repeated or separated by commas.
    pub fn words<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self, name: &'static str) -> Result<Vec<T>, Error> {
        let values = self.all(name).join(",");
        let words = values.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(|word| word.parse().map_err(|e: T::Err| Error::field(name, e.to_string()))).collect()
    }

    /// A value of another type; `wanted` describes it in the error.
    pub fn other<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.parsed(name, wanted, parse)
    }

    /// To be called last: refuses parameters that the handler has not read.
    pub fn finish(self) -> Result<(), Error> {
        let Some((name, _)) = self.left.into_iter().next() else {
            return Ok(());
        };
        let allowed = match self.asked.is_empty() {
            true => "this path has no parameters".to_owned(),
            false => format!("allowed: {}", self.asked.join(", ")),
        };
        let message = format!("there is no parameter `{name}`; {allowed}");
        Err(Error::field(name, message))
    }
}
