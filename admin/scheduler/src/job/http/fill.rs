//! From a request with placeholders to the request of a run.

use super::draft::HttpDraft;
use super::template::{Escape, Part, filled};
use super::url::has_dot_segment;
use super::values::{HttpValues, Unfillable};

/// Maximum number of bytes of a URL, and of the value of a header, with their values: what servers take.
const LINE_BYTES: usize = 8_192;
/// Maximum number of bytes of a body with its values, 1 MiB.
const BODY_BYTES: usize = 1 << 20;

/// The request of one run.
#[derive(Debug, PartialEq, Eq)]
pub struct FilledRequest {
    /// With values in its path and its query escaped.
    pub url: String,
    /// Names and values; `Content-Type` is among them if there is a body.
    pub headers: Vec<(String, String)>,
    /// Empty: none.
    pub body: String,
}

impl HttpDraft {
    /// The request with all values.
    ///
    /// # Errors
    /// A secret is missing, or a value cannot stand in a header.
    pub fn fill(&self, values: &HttpValues<'_>) -> Result<FilledRequest, Unfillable> {
        let mut headers = Vec::with_capacity(self.headers.len() + 1);
        for (name, value) in &self.headers {
            let part = Part { name: &format!("the header {name}"), escape: Escape::None, most: LINE_BYTES };
            let value = filled(value, values, &part)?;
            if value.contains(|c: char| c.is_control() && c != '\t') {
                return Err(Unfillable::ControlCharacter(name.clone()));
            }
            headers.push((name.clone(), value));
        }
        let has_type = self.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
        if !has_type && !self.body.is_empty() {
            headers.push(("Content-Type".to_owned(), self.content_type().to_owned()));
        }
        let escape = if self.has_json_body() { Escape::Json } else { Escape::None };
        let url = Part { name: "the URL", escape: Escape::Url, most: LINE_BYTES };
        let body = Part { name: "the body", escape, most: BODY_BYTES };
        let url = filled(&self.url, values, &url)?;
        if has_dot_segment(&url) {
            return Err(Unfillable::DotSegment);
        }
        Ok(FilledRequest { url, headers, body: filled(&self.body, values, &body)? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::job::placeholders::PlaceholderValues;
    use crate::zone::Zone;

    fn fill(draft: &HttpDraft, params: &str) -> Result<FilledRequest, Unfillable> {
        let run = PlaceholderValues {
            scheduled_at: 1_751_587_200_000,
            zone: Zone::UTC,
            run_id: 4711,
            job_id: 7,
            attempt: 2,
            part: 0,
            parts: 1,
        };
        let secrets = BTreeMap::from([("KEY".to_owned(), "s/\"1".to_owned())]);
        draft.fill(&HttpValues { run, fire_key: "7:1", params, secrets: &secrets })
    }

    // covers: 001-44
    #[test]
    fn each_value_is_written_as_its_place_needs_it() {
        let mut draft = HttpDraft::new("https://a.example/d/{{scheduled_at|%F}}?k={{secret.KEY}}&p={{params#/name}}");
        draft.headers.insert("X-Run".into(), "{{run_id}}/{{attempt}} {{ fire_key }}".into());
        draft.body =
            r#"{"name":"{{params#/name}}","all":{{json params}},"n":{{json params#/n}},"t":"{{params}}"}"#.into();
        let params = r#"{"name": "a \"b\"", "n": 12}"#;
        let request = fill(&draft, params).unwrap();
        assert_eq!(request.url, "https://a.example/d/2025-07-04?k=s%2F%221&p=a%20%22b%22");
        assert_eq!(request.headers[0], ("X-Run".to_owned(), "4711/2 7:1".to_owned()));
        assert_eq!(request.headers[1], ("Content-Type".to_owned(), "application/json".to_owned()));
        let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!((&body["name"], &body["n"]), (&"a \"b\"".into(), &12.into()));
        assert_eq!((&body["all"]["n"], &body["t"]), (&12.into(), &params.into()));
    }

    #[test]
    fn a_request_that_cannot_be_made_says_why() {
        let mut draft = HttpDraft::new("https://a.example/");
        draft.headers.insert("X-P".into(), "{{params}}".into());
        assert_eq!(fill(&draft, "a\r\nHost: b"), Err(Unfillable::ControlCharacter("X-P".into())));
        draft.body = "{{secret.OTHER}}".into();
        assert_eq!(fill(&draft, "a").unwrap_err().to_string(), "the secret OTHER is not set");
    }

    // covers: 001-44
    #[test]
    fn a_value_does_not_lead_out_of_the_path() {
        for (url, value) in
            [("d/{{params}}/x", ".."), ("d/{{params}}", "."), ("d/.{{params}}?a", "."), ("{{params}}", "..")]
        {
            let draft = HttpDraft::new(format!("https://a.example/{url}"));
            assert_eq!(fill(&draft, value), Err(Unfillable::DotSegment), "{url} {value}");
        }
        let draft = HttpDraft::new("https://a.example/d/{{params}}?x={{params}}");
        assert_eq!(fill(&draft, "../e").unwrap().url, "https://a.example/d/..%2Fe?x=..%2Fe");
    }

    // covers: 001-44
    #[test]
    fn a_request_does_not_grow_beyond_its_limits() {
        let long = "x".repeat(8_000);
        let mut draft = HttpDraft::new("https://a.example/{{params}}");
        draft.body = "{{params}}".repeat(50);
        assert_eq!(fill(&draft, &long).unwrap().body.len(), 400_000);
        let refused = |draft: &HttpDraft, params: &str| fill(draft, params).unwrap_err().to_string();
        assert_eq!(refused(&draft, &"/".repeat(3_000)), "the URL would have more than 8192 bytes");
        draft.url = "https://a.example/".into();
        assert_eq!(refused(&draft, &"x".repeat(30_000)), "the body would have more than 1048576 bytes");
        draft.headers.insert("X-P".into(), "{{params}}{{params}}".into());
        assert_eq!(refused(&draft, &long), "the header X-P would have more than 8192 bytes");
    }
}
