//! Error pages: what happened, what to do, and a request id with which to find it in the log.

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use askama::Template;
use carillon_engine::manage;
use carillon_scheduler::FieldError;

use crate::web::page::answer::render;
use crate::web::page::context::PageContext;

#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("{0}")]
    Bad(String),
    /// Members of a request that has no form to show them in.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<FieldError>),
    #[error("{0}")]
    Forbidden(String),
    /// The role does not allow it.
    #[error("{0}")]
    NotAllowed(String),
    /// The argument is what was looked for: "job", "run", "page".
    #[error("There is no such {0}")]
    Missing(String),
    #[error("{0}")]
    Gone(String),
    /// The browser asked for another host than the console's.
    #[error("The address of this console is {0}")]
    Misdirected(String),
    /// The argument is the limit in bytes.
    #[error("The request is larger than {0} bytes")]
    TooLarge(usize),
    /// The argument says after how many seconds the next request is allowed.
    #[error("More requests a second than one account may make; try again in {0} s")]
    TooMany(u64),
    /// The node cannot take the request now.
    #[error("{0}")]
    Busy(&'static str),
    #[error("The database needed more than 5 s for this page and stopped")]
    TooSlow,
    /// The text goes to the log alone, as it may name tables or addresses; the page shows a request id.
    #[error("{0}")]
    Internal(String),
}

/// What a handler of the console returns.
pub type PageResult = Result<HttpResponse, PageError>;

impl PageError {
    /// A cookie of this program that cannot be written.
    pub fn from_cookie(error: impl std::fmt::Display) -> Self {
        Self::Internal(format!("cookie: {error}"))
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Bad(_) | Self::Invalid(_) => "Go back, correct it and try again.",
            Self::Forbidden(_) => "Nothing was changed. Reload the page that you came from and try again.",
            Self::NotAllowed(_) => "Nothing was changed. An administrator can give you this role.",
            Self::Missing(_) => "It may have been deleted, or the address is mistyped.",
            Self::TooLarge(_) => "Nothing was changed. Go back and shorten it.",
            Self::TooMany(_) | Self::Busy(_) => "Nothing was changed.",
            Self::Gone(_) | Self::Misdirected(_) => "",
            Self::TooSlow => "Narrow the list by job, app, state or time.",
            Self::Internal(_) => {
                "It is not known whether your change was made. Try again; if the error stays, look for the request id in the log."
            }
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Bad(_) | Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Forbidden(_) | Self::NotAllowed(_) => StatusCode::FORBIDDEN,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Gone(_) => StatusCode::GONE,
            Self::Misdirected(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooSlow => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Empty; the guard renders the page, which needs the request.
    fn error_response(&self) -> HttpResponse<BoxBody> {
        HttpResponse::new(self.status_code())
    }
}

impl From<carillon_store::Error> for PageError {
    fn from(error: carillon_store::Error) -> Self {
        manage::Error::from(error).into()
    }
}

impl From<carillon_accounts::password::Error> for PageError {
    fn from(error: carillon_accounts::password::Error) -> Self {
        use carillon_accounts::password::Error as E;
        match error {
            E::Refused(text) => Self::Bad(text),
            E::Forbidden(text) => Self::NotAllowed(sentence(&text)),
            E::Store(error) => error.into(),
            E::Hash(_) => Self::Internal(error.to_string()),
            E::Busy => Self::TooMany(5),
        }
    }
}

impl From<manage::Error> for PageError {
    fn from(error: manage::Error) -> Self {
        use manage::Error as E;
        match error {
            // The kind of object, without its id.
            E::Missing(object) => Self::Missing(object.split(' ').next().unwrap_or_default().to_owned()),
            E::Forbidden(text) => Self::NotAllowed(sentence(&text)),
            E::Invalid(errors) => Self::Invalid(errors),
            E::Unusable(error) => Self::Invalid(vec![error]),
            E::TooMany(seconds) => Self::TooMany(seconds),
            E::Store(error) if error.is_too_slow() => Self::TooSlow,
            E::Store(error) => Self::Internal(error.to_string()),
            other => Self::Bad(other.to_string()),
        }
    }
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[derive(Template)]
#[template(path = "error/page.html")]
struct Page {
    context: PageContext,
    status: u16,
    title: String,
    advice: String,
}

/// The page for an answer that has only a status.
pub fn page(context: PageContext, status: StatusCode, error: Option<&PageError>) -> HttpResponse {
    if let Some(PageError::Internal(text)) = error {
        tracing::error!(request.id = %context.request_id, request.url = %context.here, "console request failed: {text}");
    }
    let title = match error {
        Some(PageError::Internal(_)) => context.say("Something went wrong here"),
        Some(PageError::Invalid(errors)) => {
            let faults = errors.iter().map(|error| context.fault(&error.field, &error.message).to_string());
            faults.collect::<Vec<_>>().join("; ")
        }
        Some(error) => context.say(&error.to_string()),
        None => context.say(bare_title(status)),
    };
    let advice = context.say(error.map_or("", PageError::advice));
    let page = Page { context, status: status.as_u16(), title, advice };
    render(&page, status)
}

fn bare_title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "There is no such page",
        StatusCode::METHOD_NOT_ALLOWED => "This address does not accept this method",
        StatusCode::PAYLOAD_TOO_LARGE => "The request is too large",
        StatusCode::BAD_REQUEST => "The request cannot be understood",
        _ => "Something went wrong here",
    }
}
