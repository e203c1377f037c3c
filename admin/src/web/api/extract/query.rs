//! Query strings. The route's description names its parameters; others are refused before the handler runs.

use carillon_scheduler::Millis;

use crate::web::api::error::Error;
use crate::web::api::view::time;
use crate::web::from_request::from_request;

/// Page sizes: default and largest.
pub const LIMIT: u32 = 100;
pub const MAX_LIMIT: u32 = 1000;

/// What [`Query::after`] reads.
pub fn place((first, second): (i64, i64)) -> String {
    format!("{first}-{second}")
}

/// The parameters of a request.
pub struct Query(Vec<(String, String)>);

from_request!(Query: Error, |request| {
    Ok(Self(url::form_urlencoded::parse(request.query_string().as_bytes()).into_owned().collect()))
});

impl Query {
    /// All values of a parameter, in their order.
    fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(given, _)| given == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The value of a parameter; an empty one counts as absent.
    pub fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let values = self.all(name);
        if values.len() > 1 {
            return Err(Error::field(name, format!("is given {} times; once is enough", values.len())));
        }
        if values.iter().any(|value| value.contains('\0')) {
            return Err(Error::field(name, "must not contain the character NUL"));
        }
        Ok(values.first().filter(|value| !value.is_empty()).map(|value| (*value).to_owned()))
    }

    /// A value of another type; `wanted` describes it in the error.
    pub fn parsed<T>(&self, name: &str, wanted: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Error> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let wrong = || Error::field(name, format!("{text:?} is not allowed here; {wanted}"));
        parse(text.trim()).ok_or_else(wrong).map(Some)
    }

    pub fn id(&self, name: &str) -> Result<Option<i64>, Error> {
        self.parsed(name, "an id is a whole number above 0", |text| text.parse().ok().filter(|id| *id > 0))
    }

    pub fn time(&self, name: &str) -> Result<Option<Millis>, Error> {
        self.parsed(name, "a time is RFC 3339, such as 2025-07-04T15:00:00.000Z", time::read)
    }

    pub fn flag(&self, name: &str) -> Result<Option<bool>, Error> {
        self.parsed(name, "`true` or `false`", |text| text.parse().ok())
    }

    /// A number from 1 to `max`.
    pub fn number(&self, name: &str, default: u32, max: u32) -> Result<u32, Error> {
        let in_range = |text: &str| text.parse().ok().filter(|number| (1..=max).contains(number));
        Ok(self.parsed(name, &format!("a number from 1 to {max}"), in_range)?.unwrap_or(default))
    }

    /// The place behind which a page begins: two numbers, as [`place`] writes them.
    pub fn after(&self) -> Result<Option<(i64, i64)>, Error> {
        self.parsed("after", "give back `next` of the page before", |text| {
            let (first, second) = text.split_once('-')?;
            Some((first.parse().ok()?, second.parse().ok()?))
        })
    }

    pub fn limit(&self) -> Result<u32, Error> {
        self.number("limit", LIMIT, MAX_LIMIT)
    }

    /// One word of a closed set.
    pub fn word<T: std::str::FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<Option<T>, Error> {
        let word = self.text(name)?;
        word.map(|word| word.parse().map_err(|e: T::Err| Error::field(name, e.to_string()))).transpose()
    }

    /// Any number of words of a closed set, repeated or separated by commas.
    pub fn words<T: std::str::FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<Vec<T>, Error> {
        let values = self.all(name).join(",");
        let words = values.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(|word| word.parse().map_err(|e: T::Err| Error::field(name, e.to_string()))).collect()
    }

    /// Refuses parameters that the route does not have.
    pub fn check_names(&self, allowed: &[&str]) -> Result<(), Error> {
        let Some((name, _)) = self.0.iter().find(|(name, _)| !allowed.contains(&name.as_str())) else {
            return Ok(());
        };
        let allowed = match allowed {
            [] => "this path has no parameters".to_owned(),
            names => format!("allowed: {}", names.join(", ")),
        };
        Err(Error::field(name.as_str(), format!("there is no parameter `{name}`; {allowed}")))
    }
}
