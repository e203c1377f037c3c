//! The answer to a call that failed: a code for programs, a text for people, and the member that it is about.

use std::fmt;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use carillon_engine::manage;
use carillon_scheduler::FieldError;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use crate::web::guard::bearer::Refusal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: StatusCode,
    code: &'static str,
    message: Box<str>,
    field: Option<Box<str>>,
    header: Option<Box<(header::HeaderName, String)>>,
    /// Every fault if there is more than one; this error is the first of them.
    faults: Vec<Fault>,
}

/// The answer to a call that failed
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub struct ErrorBody<'a> {
    #[schema(inline)]
    error: ErrorDetails<'a>,
}

/// What went wrong: the first fault that was found
#[derive(Serialize, ToSchema)]
struct ErrorDetails<'a> {
    #[schema(inline, schema_with = codes)]
    code: &'static str,
    /// For people: what is wrong, and what would be right
    message: &'a str,
    /// The member, parameter or header that it is about
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("schedule.expression", "[3].schedule.expression"))]
    field: Option<&'a str>,
    /// Every fault, if there is more than one
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<Fault>, inline, required = false, max_items = 100)]
    errors: &'a [Fault],
}

fn codes() -> ObjectBuilder {
    let codes = CODES.iter().map(|(code, ..)| *code);
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(codes))
        .description(Some("What went wrong, for programs"))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Fault {
    #[schema(value_type = Option<String>)]
    field: Option<Box<str>>,
    #[schema(value_type = String)]
    message: Box<str>,
}

/// Faults in one answer; a batch of a thousand jobs may have many more.
const MAX_FAULTS: usize = 100;

/// Every code with its status, for the OpenAPI document.
pub const CODES: &[(&str, u16, &str)] = &[
    ("invalid_json", 400, "the body is no JSON; the text names line and column"),
    ("invalid", 400, "a member or parameter is missing, unknown or wrong; `field` names it"),
    ("unauthorized", 401, "no API token, a wrong one, or one that has expired"),
    ("forbidden", 403, "the role of the caller does not allow it; the text names the role that does"),
    ("not_found", 404, "there is no such object, path or log"),
    ("method_not_allowed", 405, "the path has other methods; see the header Allow"),
    ("taken", 409, "a name that must be unique is in use"),
    ("changed", 409, "it was changed meanwhile: `revision` or `version` is not the present one"),
    ("in_use", 409, "other objects need it; the text names them"),
    ("unusable", 409, "the stored object cannot be used for this; change it first"),
    ("too_large", 413, "the body is larger than the path takes"),
    (
        "too_many",
        429,
        "more requests a second than one account or token may make; the header Retry-After says when to go on",
    ),
    ("internal", 500, "an error of the server; its log has more"),
    ("executor_unavailable", 502, "the executor could not be asked"),
    ("too_slow", 503, "the database needed too long and stopped; ask for less: by job, app, state or time"),
    (
        "unavailable",
        503,
        "the database cannot be reached or is too busy, or the node has no memory for the body; try again",
    ),
];

impl Error {
    fn new(code: &'static str, message: impl Into<Box<str>>) -> Self {
        let status = CODES.iter().find(|(known, ..)| *known == code).map_or(500, |(_, status, _)| *status);
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            code,
            message: message.into(),
            field: None,
            header: None,
            faults: vec![],
        }
    }

    fn with_header(self, name: header::HeaderName, value: impl Into<String>) -> Self {
        Self { header: Some(Box::new((name, value.into()))), ..self }
    }

    /// Code and message of the first error, with the list of all.
    pub fn all(errors: Vec<Self>) -> Self {
        let mut faults = Vec::new();
        for error in &errors {
            if error.faults.is_empty() {
                let (field, message) = (error.field.clone(), error.message.clone());
                faults.push(Fault { field, message });
            }
            faults.extend(error.faults.iter().cloned());
        }
        faults.truncate(MAX_FAULTS);
        let first = errors.into_iter().next().unwrap_or_else(Self::internal);
        let faults = if faults.len() > 1 { faults } else { vec![] };
        Self { faults, ..first }
    }

    /// The member that it is about.
    pub fn of_field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    pub fn invalid_json(message: impl Into<Box<str>>) -> Self {
        Self::new("invalid_json", message)
    }

    /// An error of the whole body, which has no member to name.
    pub fn invalid(message: impl Into<Box<str>>) -> Self {
        Self::new("invalid", message)
    }

    pub fn field(field: impl Into<Box<str>>, message: impl Into<Box<str>>) -> Self {
        Self { field: Some(field.into()), ..Self::invalid(message) }
    }

    /// The same about another member.
    pub fn at(self, field: impl Into<Box<str>>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    pub fn not_found(message: impl Into<Box<str>>) -> Self {
        Self::new("not_found", message)
    }

    pub fn wrong_method(given: &str, allowed: &[String]) -> Self {
        let allowed = allowed.join(", ");
        let message = format!("{given} is not for this path; allowed: {allowed}");
        Self::new("method_not_allowed", message).with_header(header::ALLOW, allowed)
    }

    pub fn too_large(limit: usize) -> Self {
        Self::new("too_large", format!("the body has more than {limit} bytes, which is the limit of this path"))
    }

    pub fn internal() -> Self {
        Self::new("internal", "something went wrong here; the server's log says what")
    }

    pub fn too_many(seconds: u64) -> Self {
        let message = format!("more requests a second than one account or token may make; try again in {seconds} s");
        Self::new("too_many", message).with_header(header::RETRY_AFTER, seconds.to_string())
    }

    /// Too many failed sign-ins.
    pub fn too_many_failures(seconds: i64) -> Self {
        let message = format!("too many failed attempts; try again in {seconds} s");
        Self::new("too_many", message).with_header(header::RETRY_AFTER, seconds.to_string())
    }

    pub fn unavailable(message: impl Into<Box<str>>) -> Self {
        Self::new("unavailable", message).with_header(header::RETRY_AFTER, "1")
    }

    /// The same error, of a member inside `outer` (such as `[3]`).
    pub fn inside(mut self, outer: &str) -> Self {
        let within = |field: Option<Box<str>>| match field {
            Some(field) => Some(format!("{outer}.{field}").into()),
            None => Some(outer.into()),
        };
        self.field = within(self.field);
        for fault in &mut self.faults {
            fault.field = within(fault.field.take());
        }
        self
    }
}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Self::field(error.field, error.message)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        if refusal == Refusal::TooMany {
            return Self::new("too_many", refusal.to_string()).with_header(header::RETRY_AFTER, "1");
        }
        Self::new("unauthorized", refusal.to_string()).with_header(header::WWW_AUTHENTICATE, "Bearer")
    }
}

impl From<carillon_store::Error> for Error {
    fn from(error: carillon_store::Error) -> Self {
        manage::Error::from(error).into()
    }
}

impl From<manage::Error> for Error {
    fn from(error: manage::Error) -> Self {
        use manage::Error as E;
        match error {
            E::Invalid(errors) => Self::all(errors.into_iter().map(Self::from).collect()),
            E::Forbidden(text) => Self::new("forbidden", text),
            E::Missing(_) => Self::not_found(error.to_string()),
            E::Taken(_) => Self::new("taken", error.to_string()),
            E::Changed(text) => Self::new("changed", text),
            E::InUse(text) => Self::new("in_use", text),
            E::Unusable(FieldError { field, message }) => {
                Self { field: Some(field.into()), ..Self::new("unusable", message) }
            }
            E::NotOpen(_) | E::NotScheduled(_) => Self::new("unusable", error.to_string()),
            E::NoLog(why) => Self::not_found(why),
            E::Executor(why) => Self::new("executor_unavailable", why),
            E::TooMany(seconds) => {
                Self::new("too_many", error.to_string()).with_header(header::RETRY_AFTER, seconds.to_string())
            }
            E::Store(carillon_store::Error::Busy) => Self::unavailable(error.to_string()),
            E::Store(error) if error.is_too_slow() => {
                tracing::warn!(%error, "a call of the management API asked for too much at once");
                Self::new(
                    "too_slow",
                    "the database needed more than 5 s for this and stopped; narrow it by job, app, state or time",
                )
            }
            E::Store(error) if error.is_transient() => {
                tracing::warn!(%error, "a call of the management API could not reach the database");
                Self::unavailable("the database cannot be reached or is too busy; try again")
            }
            E::Store(error) => {
                tracing::error!(%error, "a call of the management API failed");
                Self::internal()
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let error = ErrorDetails {
            code: self.code,
            message: &self.message,
            field: self.field.as_deref(),
            errors: &self.faults,
        };
        let mut response = HttpResponse::build(self.status);
        if let Some((name, value)) = self.header.as_deref() {
            response.insert_header((name, value.as_str()));
        }
        response.json(ErrorBody { error })
    }
}
