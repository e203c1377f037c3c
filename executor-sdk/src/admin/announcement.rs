//! Weight and labels, which every heartbeat carries.

use carillon_protocol::headers;

use crate::error::Error;

const MAX_LABELS: usize = 16;
const MAX_LABELS_CHARS: usize = 255;

/// What an executor announces about itself.
#[derive(Default)]
pub(crate) struct Announcement {
    pub(crate) weight: Option<u32>,
    pub(crate) labels: Vec<(String, String)>,
}

impl Announcement {
    /// The headers of a heartbeat that carry it.
    pub(crate) fn headers(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let weight = self.weight()?.map(|text| (headers::WEIGHT, text));
        let labels = self.labels()?.map(|text| (headers::LABELS, text));
        Ok(weight.into_iter().chain(labels).collect())
    }

    fn weight(&self) -> Result<Option<String>, Error> {
        match self.weight {
            Some(weight) if !(1..=100).contains(&weight) => {
                let problem = format!("{weight} is not within 1 and 100");
                Err(Error::setting("weight", problem))
            }
            weight => Ok(weight.map(|weight| weight.to_string())),
        }
    }

    fn labels(&self) -> Result<Option<String>, Error> {
        for (index, (key, value)) in self.labels.iter().enumerate() {
            let is_repeated = self.labels[..index].iter().any(|(known, _)| known == key);
            if is_repeated || !is_label(key) || !is_label(value) {
                let problem = format!(
                    "\"{key}\"=\"{value}\": a key, each once, and a value have 1 to 63 letters, digits, -, _, . and /"
                );
                return Err(Error::setting("label", problem));
            }
        }
        let pairs = self.labels.iter().map(|(key, value)| format!("{key}={value}"));
        let text = pairs.collect::<Vec<_>>().join(",");
        if self.labels.len() > MAX_LABELS || text.len() > MAX_LABELS_CHARS {
            let problem = "are too many: at most 16, and 255 characters with = and commas";
            return Err(Error::setting("label", problem));
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    }
}

fn is_label(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    (1..=63).contains(&text.len()) && text.chars().all(allowed)
}
