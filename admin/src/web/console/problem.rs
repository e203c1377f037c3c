//! What went wrong, in the console's frame: what happened, what to do, and a request id to find it in the log by.

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use askama::Template;

use crate::web::html::{self, Frame};
use crate::{pipeline, store};

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0}")]
    Bad(String),
    #[error("{0}")]
    Forbidden(String),
    /// The argument is what was looked for: "job", "run", "page".
    #[error("There is no such {0}")]
    Missing(&'static str),
    #[error("{0}")]
    Gone(String),
    /// The argument is the limit in bytes.
    #[error("What was sent is larger than {0} bytes")]
    TooLarge(usize),
    /// The node cannot take the request now.
    #[error("{0}")]
    Busy(&'static str),
    #[error("The database needed more than 5 s for this page and stopped")]
    TooSlow,
    /// Not for the reader, who gets a request id: it may name tables or addresses.
    #[error("{0}")]
    Internal(String),
}

impl Problem {
    fn advice(&self) -> &'static str {
        match self {
            Self::Bad(_) => "Go back, correct it and try again.",
            Self::Forbidden(_) => "Nothing was changed. Reload the page that you came from and try again.",
            Self::Missing(_) => "It may have been deleted, or the address is mistyped.",
            Self::TooLarge(_) => "Nothing was changed. Go back and shorten it.",
            Self::Busy(_) => "Nothing was changed.",
            Self::Gone(_) => "",
            Self::TooSlow => "Narrow the list by job, app, state or time.",
            Self::Internal(_) => {
                "Nothing is known about the outcome of what you did. Try again; if it stays, look for the request id in the log."
            }
        }
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Gone(_) => StatusCode::GONE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooSlow => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Bare; the guard makes the page, which needs the request.
    fn error_response(&self) -> HttpResponse<BoxBody> {
        HttpResponse::new(self.status_code())
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        if error.is_too_slow() {
            return Self::TooSlow;
        }
        Self::Internal(error.to_string())
    }
}

impl From<crate::web::password::Error> for Problem {
    fn from(error: crate::web::password::Error) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<pipeline::Error> for Problem {
    fn from(error: pipeline::Error) -> Self {
        match error {
            pipeline::Error::MissingJob => Self::Missing("job"),
            pipeline::Error::MissingRun => Self::Missing("run"),
            pipeline::Error::Store(inner) => inner.into(),
            other => Self::Bad(other.to_string()),
        }
    }
}

#[derive(Template)]
#[template(path = "error/page.html")]
struct Page {
    frame: Frame,
    status: u16,
    title: String,
    advice: &'static str,
}

/// The page for an answer that has a status and nothing else.
pub fn page(frame: Frame, status: StatusCode, problem: Option<&Problem>) -> HttpResponse {
    if let Some(Problem::Internal(text)) = problem {
        tracing::error!(request.id = %frame.request_id, address = %frame.here, "console request failed: {text}");
    }
    let title = match problem {
        Some(Problem::Internal(_)) => "Something went wrong here".to_owned(),
        Some(problem) => problem.to_string(),
        None => bare_title(status).to_owned(),
    };
    let advice = problem.map_or("", Problem::advice);
    let page = Page { frame, status: status.as_u16(), title, advice };
    html::page(&page, status)
}

fn bare_title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "There is no such page",
        StatusCode::METHOD_NOT_ALLOWED => "This address does not take that kind of request",
        StatusCode::PAYLOAD_TOO_LARGE => "What was sent is too large",
        StatusCode::BAD_REQUEST => "The request cannot be understood",
        _ => "Something went wrong here",
    }
}
