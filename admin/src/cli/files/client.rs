//! Requests to the HTTP API of a server.

use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use url::Url;

use crate::cli::secret_files::given_or_in_file;

/// Limit of one request.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Tries of a request that a server refuses because there are too many.
const TRIES: u32 = 30;

#[derive(Args, Clone)]
pub struct ServerArgs {
    /// Address of the server
    #[arg(long, env = "CARILLON_SERVER", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    server: Url,
    /// A personal token, or the API token; better in a file or in the environment, where other users do not see it
    #[arg(long, env = "CARILLON_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File with what --token would hold
    #[arg(long, env = "CARILLON_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<String>,
}

/// Why a request had no success.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("{0}")]
    Transport(String),
    /// What the server answered.
    #[error("the server answers {status}: {message}")]
    Refused { status: StatusCode, message: String, faults: Vec<(String, String)> },
}

impl RequestError {
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::CONFLICT, .. })
    }

    /// There is no such thing.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::NOT_FOUND, .. })
    }

    /// The token may not do it.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::FORBIDDEN, .. })
    }

    /// The wrong members and what is wrong with them.
    pub fn faults(&self) -> &[(String, String)] {
        match self {
            Self::Refused { faults, .. } => faults,
            Self::Transport(_) => &[],
        }
    }
}

pub struct Client {
    http: reqwest::Client,
    root: String,
    token: String,
}

impl Client {
    /// # Errors
    /// There is no token.
    pub fn new(args: &ServerArgs) -> anyhow::Result<Self> {
        let token = given_or_in_file("token-file", args.token.as_deref(), args.token_file.as_deref());
        let token = token.map_err(|problem| anyhow::anyhow!("{problem}"))?;
        let token = token
            .context("there is no token; make one on the page `Your account` and set CARILLON_TOKEN or --token-file")?;
        let builder = || reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none());
        // A machine without authorities, such as a minimal container: http:// works, https:// is refused.
        let http = builder().build().or_else(|_| builder().tls_certs_only([]).build())?;
        let root = format!("{}/api/v1", args.server.as_str().trim_end_matches('/'));
        Ok(Self { http, root, token })
    }

    pub async fn get(&self, path: &str) -> Result<Value, RequestError> {
        self.send(Method::GET, path, None).await
    }

    /// Every item of a list.
    pub async fn list(&self, path: &str) -> Result<Vec<Value>, RequestError> {
        let (mut items, mut after) = (vec![], String::new());
        loop {
            let mut page = self.get(&format!("{path}?limit=1000{after}")).await?;
            if let Value::Array(more) = page["items"].take() {
                items.extend(more);
            }
            match &page["next"] {
                Value::Null => return Ok(items),
                next => after = format!("&after={next}"),
            }
        }
    }

    /// Sends a request, again after a pause if the server asks for one. A request that was refused for this has done nothing.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, RequestError> {
        let mut tries = 0;
        loop {
            let url = format!("{}{path}", self.root);
            let mut request = self.http.request(method.clone(), &url).bearer_auth(&self.token);
            if let Some(body) = body {
                request = request.json(body);
            }
            let transport = |error: reqwest::Error| RequestError::Transport(format!("{url}: {}", causes(&error)));
            let answer = request.send().await.map_err(transport)?;
            let (status, wait) = (answer.status(), retry_after(&answer));
            tries += 1;
            if status == StatusCode::TOO_MANY_REQUESTS && tries < TRIES {
                tokio::time::sleep(wait).await;
                continue;
            }
            let bytes = answer.bytes().await.map_err(transport)?;
            let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            return if status.is_success() { Ok(value) } else { Err(refused(status, &value)) };
        }
    }
}

fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn retry_after(answer: &reqwest::Response) -> Duration {
    let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1).clamp(1, 10))
}

fn refused(status: StatusCode, answer: &Value) -> RequestError {
    let error = &answer["error"];
    let fault = |fault: &Value| Some((fault["field"].as_str()?.to_owned(), fault["message"].as_str()?.to_owned()));
    // Other answers are about the request, not about a member.
    let faults = match error["errors"].as_array() {
        _ if status != StatusCode::BAD_REQUEST => vec![],
        Some(all) if !all.is_empty() => all.iter().filter_map(fault).collect(),
        _ => fault(error).into_iter().collect(),
    };
    let message = match (error["field"].as_str(), error["message"].as_str()) {
        (Some(field), Some(message)) => format!("{field}: {message}"),
        (None, Some(message)) => message.to_owned(),
        _ => "no reason; is this the address of a Carillon server?".to_owned(),
    };
    RequestError::Refused { status, message, faults }
}
