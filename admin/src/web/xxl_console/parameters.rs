//! The parameters of a call: of its query string, then of its form.

use serde_json::Value;

use crate::web::api::Error;

#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub fn read(query: &str, form: &[u8]) -> Self {
        let pairs = |bytes| url::form_urlencoded::parse(bytes).into_owned();
        Self(pairs(query.as_bytes()).chain(pairs(form)).collect())
    }

    /// The members of a JSON object; null counts as absent.
    ///
    /// # Errors
    /// It is no object.
    pub fn from_json(body: &[u8]) -> Result<Self, Error> {
        let members: serde_json::Map<String, Value> =
            serde_json::from_slice(body).map_err(|error| Error::invalid_json(format!("the body: {error}")))?;
        let text = |(name, value): (String, Value)| match value {
            Value::Null => None,
            Value::String(text) => Some((name, text)),
            other => Some((name, other.to_string())),
        };
        Ok(Self(members.into_iter().filter_map(text).collect()))
    }

    /// The last value of that name. None: it was not sent.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// What was sent under one of these names; None also for a blank text.
    pub fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.find(name)).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Whether the text that is looked for under one of these names, if there is one, is a part of this one, in any case.
    pub fn fits(&self, names: &[&str], text: &str) -> bool {
        self.text(names).is_none_or(|sought| text.to_lowercase().contains(&sought.to_lowercase()))
    }

    /// # Errors
    /// It is no number.
    pub fn number(&self, name: &str) -> Result<Option<i64>, Error> {
        let wrong = |text: &str| Error::field(name.to_owned(), format!("“{text:.64}” is no number"));
        self.text(&[name]).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    /// # Errors
    /// It is missing, or no number of an object.
    pub fn id(&self, name: &str) -> Result<i64, Error> {
        let id = self.number(name)?.filter(|id| *id > 0);
        id.ok_or_else(|| Error::field(name.to_owned(), "is missing; write the number of an object"))
    }

    /// `id`, or the only one of `ids[]`.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn one_id(&self) -> Result<i64, Error> {
        let sent = self.0.iter().filter(|(name, _)| matches!(name.as_str(), "ids[]" | "ids"));
        let ids: Vec<&str> = sent.flat_map(|(_, value)| value.split(',')).map(str::trim).collect();
        match ids[..] {
            [] => self.id("id"),
            [id] => {
                id.parse().ok().filter(|id| *id > 0).ok_or_else(|| Error::field("ids", "is no number of an object"))
            }
            _ => Err(Error::field("ids", "names several objects; write one")),
        }
    }

    /// Whether a value holds what no database stores. Parameters of jobs are checked with the job.
    pub fn has_nul(&self) -> bool {
        self.0.iter().any(|(name, value)| name != "executorParam" && value.contains('\0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_parameter_differs_from_an_empty_one() {
        let sent = Parameters::read("id=7&author=", b"executorParam=&jobDesc=a+b&jobDesc=c%26d&ids%5B%5D=9");
        assert_eq!((sent.find("executorParam"), sent.find("addressList")), (Some(""), None));
        assert_eq!((sent.text(&["author"]), sent.text(&["name", "jobDesc"])), (None, Some("c&d")));
        assert_eq!((sent.id("id").ok(), sent.one_id().ok()), (Some(7), Some(9)));
        assert!(Parameters::read("ids[]=1&ids[]=2", b"").one_id().is_err());
        assert_eq!(Parameters::read("id=x", b"").id("id").unwrap_err().to_string(), "id: “x” is no number");
        let sent = Parameters::from_json(br#"{"id":7,"executorParam":null,"name":"n"}"#).unwrap();
        assert_eq!((sent.id("id").ok(), sent.has("executorParam"), sent.find("name")), (Some(7), false, Some("n")));
    }
}
