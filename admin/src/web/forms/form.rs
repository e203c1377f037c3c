//! A form as it was filled in, with the errors of its fields: nothing that was typed is lost.

use std::collections::{BTreeSet, HashMap};

use actix_web::HttpMessage as _;
use actix_web::http::StatusCode;
use carillon_engine::manage::Error;
use carillon_scheduler::FieldError;

use crate::web::forms::fields::Fields;
use crate::web::forms::workflow_fault::at_field;
use crate::web::from_request::from_request;

/// The field of the password that a form asks for again.
pub const OWN_PASSWORD: &str = "own_password";

/// The field with the names of those that were locked when the form was made.
pub const LOCKED: &str = "locked";

#[derive(Clone, Debug, Default)]
pub struct Form {
    values: HashMap<String, String>,
    errors: Vec<(String, String)>,
    /// Fields that are shown and cannot be changed.
    locked: BTreeSet<String>,
}

impl Form {
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.values.insert(name.to_owned(), value.into());
    }

    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    /// It does not go back into the page.
    pub fn take_own_password(&mut self) -> String {
        self.values.remove(OWN_PASSWORD).unwrap_or_default()
    }

    pub fn value(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// The values of a field that may be sent several times.
    pub fn items(&self, name: &str) -> Vec<String> {
        let items = self.value(name).lines().map(str::to_owned);
        items.filter(|item| !item.is_empty()).collect()
    }

    /// These fields get the values of another form, and cannot be changed.
    pub fn lock(&mut self, names: &[&str], stored: &Self) {
        for name in names {
            self.set(name, stored.value(name));
            self.locked.insert((*name).to_owned());
        }
        let locked: Vec<&str> = self.locked.iter().map(String::as_str).collect();
        let locked = locked.join("\n");
        self.set(LOCKED, locked);
    }

    /// The fields that were locked when the form was made get the values of another form: browsers do not send them.
    pub fn keep_locked(&mut self, stored: &Self) {
        for name in self.items(LOCKED).into_iter().filter(|name| stored.values.contains_key(name)) {
            self.set(&name, stored.value(&name));
        }
        self.set(LOCKED, "");
    }

    pub fn is_locked(&self, name: &str) -> bool {
        self.locked.contains(name)
    }

    /// Whether this is one of them.
    pub fn has(&self, name: &str, item: &str) -> bool {
        self.value(name).lines().any(|chosen| chosen == item)
    }

    /// Whether the field has this value.
    pub fn is(&self, name: &str, value: &str) -> bool {
        self.value(name) == value
    }

    pub fn error(&self, name: &str) -> Option<&str> {
        let found = self.errors.iter().find(|(field, _)| field == name);
        found.map(|(_, message)| message.as_str())
    }

    /// All errors in the order in which they were added: field and message.
    pub fn errors(&self) -> &[(String, String)] {
        &self.errors
    }

    /// Puts the errors in the order of the fields.
    pub fn sort_errors(&mut self, fields: &[(&str, &str)]) {
        self.errors.sort_by_key(|(name, _)| fields.iter().position(|(field, _)| field == name));
    }

    /// Before the values are checked again.
    pub fn forget_errors(&mut self) {
        self.errors.clear();
    }

    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Of the answer that shows the form again.
    pub fn status(&self) -> StatusCode {
        match self.is_valid() {
            true => StatusCode::OK,
            false => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    pub fn add_error(&mut self, name: &str, message: impl Into<String>) {
        if self.error(name).is_none() {
            self.errors.push((name.to_owned(), message.into()));
        }
    }

    /// Beside other errors of the field, such as those of the entries of a list.
    pub fn add_further_error(&mut self, name: &str, message: impl Into<String>) {
        self.errors.push((name.to_owned(), message.into()));
    }

    /// All errors of a field.
    pub fn errors_of(&self, name: &str) -> Vec<&str> {
        self.errors.iter().filter(|(field, _)| field == name).map(|(_, message)| message.as_str()).collect()
    }

    /// Adds the errors of the rules: that of `schedule.seconds` belongs to the field `seconds`, those of a workflow to its one field.
    pub fn add_errors(&mut self, errors: Vec<FieldError>) {
        for error in errors {
            if let Some((name, message)) = at_field(&error) {
                self.add_further_error(name, message);
                continue;
            }
            // Those of the request of an HTTP job have fields of their own.
            if let Some(member) = error.field.strip_prefix("http.") {
                self.add_further_error(&format!("http_{}", member.replace('.', "_")), error.message);
                continue;
            }
            self.add_error(field_of(&error.field), error.message);
        }
    }

    /// What was made of the form. None: the form has the errors.
    ///
    /// # Errors
    /// Those that do not name a field.
    pub fn accept<T>(&mut self, made: Result<T, Error>) -> Result<Option<T>, Error> {
        match made {
            Ok(made) => return Ok(Some(made)),
            Err(Error::Invalid(errors)) => self.add_errors(errors),
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// The same of an object with a name; `text` is the error where another object has the name.
    ///
    /// # Errors
    /// Those that do not name a field.
    pub fn accept_named<T>(&mut self, text: &str, made: Result<T, Error>) -> Result<Option<T>, Error> {
        match made {
            Err(Error::Taken(_)) => self.add_error("name", text),
            made => return self.accept(made),
        }
        Ok(None)
    }

    /// The same; `name` is the field of an error that other objects cause.
    ///
    /// # Errors
    /// Those that do not name a field.
    pub fn accept_at<T>(&mut self, name: &str, made: Result<T, Error>) -> Result<Option<T>, Error> {
        match made {
            Err(Error::InUse(text)) => self.add_error(name, text),
            made => return self.accept(made),
        }
        Ok(None)
    }

    /// The text without blanks around it. None: it is empty.
    pub fn given(&self, name: &str) -> Option<String> {
        Some(self.value(name).trim()).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// None: the field is empty. The default stands for a text that is no whole number.
    pub fn optional_number<T: TryFrom<i64>>(&mut self, name: &str, default: T) -> Option<T> {
        self.given(name).map(|_| self.number(name, default))
    }

    /// Our words that were chosen.
    pub fn words<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Vec<T> {
        let mut words = vec![];
        for item in self.items(name) {
            match item.parse::<T>() {
                Ok(word) => words.push(word),
                Err(error) => self.add_error(name, error.to_string()),
            }
        }
        words
    }

    /// A whole number; empty means the default.
    pub fn number<T: TryFrom<i64>>(&mut self, name: &str, default: T) -> T {
        let text = self.value(name).trim().to_owned();
        if text.is_empty() {
            return default;
        }
        match text.parse::<i64>().map(T::try_from) {
            Ok(Ok(number)) => number,
            Ok(Err(_)) => {
                self.add_error(name, format!("{text} is out of range"));
                default
            }
            Err(_) => {
                self.add_error(name, format!("`{text}` is not a whole number; write digits, such as 300"));
                default
            }
        }
    }

    /// A time in whole seconds, also with units such as `5m` and `1h 30m`; empty means the default.
    pub fn seconds<T: TryFrom<i64>>(&mut self, name: &str, default: T) -> T {
        let text = self.value(name).trim().to_owned();
        match (text.is_empty(), seconds(&text).map(T::try_from)) {
            (true, _) => default,
            (_, Some(Ok(seconds))) => seconds,
            (_, Some(Err(_))) => {
                self.add_error(name, format!("{text:.32} is out of range"));
                default
            }
            (_, None) => {
                self.add_error(name, not_a_time(&text));
                default
            }
        }
    }

    /// One of our words; empty means the default.
    pub fn word<T: Default + std::str::FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> T {
        let text = self.value(name).to_owned();
        if text.is_empty() {
            return T::default();
        }
        match text.parse() {
            Ok(word) => word,
            Err(error) => {
                self.add_error(name, format!("{error}"));
                T::default()
            }
        }
    }
}

/// The field of a member that has an error: its name, unless it shares the field of another one.
pub fn field_of(member: &str) -> &str {
    match member.rsplit('.').next().unwrap_or(member) {
        "milliseconds" => "seconds",
        // What a job runs, and the kind of its schedule.
        "script" | "http" => "runs",
        "schedule" => "kind",
        name => name,
    }
}

/// The milliseconds of a text such as `50ms`; None: it has another unit, or none.
pub fn milliseconds(text: &str) -> Option<i64> {
    text.strip_suffix("ms")?.trim_end().parse().ok()
}

/// The seconds of a text; None: it is not a time, or has a part of a second.
pub fn seconds(text: &str) -> Option<i64> {
    let time = || humantime::parse_duration(text).ok().filter(|time| time.subsec_nanos() == 0);
    text.parse().ok().or_else(|| i64::try_from(time()?.as_secs()).ok())
}

pub fn not_a_time(text: &str) -> String {
    format!("“{text:.32}” is not a time; write seconds, or a time such as 5m or 1h 30m")
}

from_request!(Form: actix_web::Error, |request| {
    Ok(Self::from(request.extensions_mut().remove::<Fields>().unwrap_or_default()))
});

impl From<Fields> for Form {
    /// The values of a repeated field are joined by line ends.
    fn from(fields: Fields) -> Self {
        let mut values: HashMap<String, String> = HashMap::new();
        for (name, value) in fields.0 {
            match values.get_mut(&name) {
                Some(before) => {
                    before.push('\n');
                    before.push_str(&value);
                }
                None => drop(values.insert(name, value)),
            }
        }
        Self { values, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carillon_scheduler::RouteStrategy;

    #[test]
    fn wrong_values_stay_and_are_named() {
        let mut form = Form::default().with("retries", "many").with("route", "nearest");
        assert_eq!(form.number("retries", 0_i32), 0);
        assert_eq!(form.number("timeout", 7_i64), 7, "empty means the default");
        assert_eq!(form.word::<RouteStrategy>("route"), RouteStrategy::RoundRobin);
        assert_eq!(form.value("retries"), "many");
        assert_eq!(form.error("retries"), Some("`many` is not a whole number; write digits, such as 300"));
        assert!(form.error("route").is_some_and(|text| text.contains("allowed: round_robin")));
        form.add_errors(vec![FieldError::new("schedule.expression", "six fields")]);
        assert_eq!(form.error("expression"), Some("six fields"));
        assert_eq!(form.errors().len(), 3);
    }

    #[test]
    fn times_are_seconds_or_have_units() {
        for (text, expected) in [("", 7), ("90", 90), (" 5m ", 300), ("1h 30m", 5400), ("-1", -1)] {
            let mut form = Form::default().with("timeout_seconds", text);
            assert_eq!((form.seconds("timeout_seconds", 7_i32), form.errors().len()), (expected, 0), "{text}");
        }
        for (text, error) in [("soon", "is not a time"), ("500ms", "is not a time"), ("3000000000", "out of range")] {
            let mut form = Form::default().with("timeout_seconds", text);
            assert_eq!(form.seconds("timeout_seconds", 7_i32), 7);
            assert!(form.error("timeout_seconds").is_some_and(|said| said.contains(error)), "{text}");
        }
    }
}
