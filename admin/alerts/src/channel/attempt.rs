//! One try to send a message: the request of a channel that is called by HTTP, and what became of it.

use std::time::Duration;

use serde_json::Value;

/// A POST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: String,
}

impl Call {
    pub fn json(url: &str, body: &Value) -> Self {
        Self { url: url.to_owned(), headers: vec![], body: body.to_string() }
    }
}

/// An answer over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The channel has taken it.
    Delivered { answer: String },
    /// It has not, or it is not known. `after`: what it asks to wait. `is_down`: the other messages to the channel wait too.
    Again { answer: String, after: Option<Duration>, is_down: bool },
}

impl Attempt {
    pub fn again(answer: impl Into<String>) -> Self {
        Self::Again { answer: answer.into(), after: None, is_down: false }
    }

    /// The channel cannot be reached.
    pub fn down(answer: impl Into<String>) -> Self {
        Self::Again { answer: answer.into(), after: None, is_down: true }
    }

    /// With another text.
    pub fn map_answer(self, change: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::Delivered { answer } => Self::Delivered { answer: change(&answer) },
            Self::Again { answer, after, is_down } => Self::Again { answer: change(&answer), after, is_down },
        }
    }
}

impl Answer {
    /// Taken with any status of success.
    pub fn by_status(&self) -> Attempt {
        let answer = format!("HTTP {}: {}", self.status, self.body);
        match self.status {
            200..=299 => Attempt::Delivered { answer },
            _ => self.refused(answer),
        }
    }

    /// Delivered only if the JSON answer has at least one of these members and each of them that it has is 0: these services refuse with
    /// status 200.
    pub fn by_code(&self, members: &[&str]) -> Attempt {
        let by_status = self.by_status();
        let Attempt::Delivered { answer } = by_status else {
            return by_status;
        };
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let mut codes = members.iter().filter_map(|member| body.get(*member)).peekable();
        match codes.peek().is_some() && codes.all(|code| code.as_i64() == Some(0)) {
            true => Attempt::Delivered { answer },
            false => self.refused(answer),
        }
    }

    fn refused(&self, answer: String) -> Attempt {
        Attempt::Again { answer, after: self.retry_after, is_down: self.retry_after.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_with_status_200_is_a_refusal() {
        let answer = |status, body: &str| Answer { status, body: body.to_owned(), retry_after: None };
        let is_taken = |attempt| matches!(attempt, Attempt::Delivered { .. });
        assert!(is_taken(answer(202, "").by_status()) && !is_taken(answer(302, "").by_status()));
        assert!(is_taken(answer(200, r#"{"errcode":0,"errmsg":"ok"}"#).by_code(&["errcode"])));
        for refused in [answer(200, r#"{"errcode":310000}"#), answer(200, "<html>"), answer(500, r#"{"errcode":0}"#)] {
            assert!(!is_taken(refused.by_code(&["errcode"])), "{refused:?}");
        }
        let both = ["code", "StatusCode"];
        assert!(is_taken(answer(200, r#"{"StatusCode":0,"code":0}"#).by_code(&both)));
        assert!(!is_taken(answer(200, r#"{"StatusCode":0,"code":9499}"#).by_code(&both)), "one of them names a fault");
    }
}
