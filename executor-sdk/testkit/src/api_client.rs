use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An HTTP client without a proxy, whose requests have this time limit.
pub fn http_client(limit: Duration) -> reqwest::Client {
    // The provider is set once in a process; a later test finds it set.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().timeout(limit).connect_timeout(Duration::from_secs(1));
    // A connection of before may have been cut by the node.
    client.pool_idle_timeout(Duration::from_secs(1)).build().unwrap()
}

/// A client of the management API.
#[derive(Clone)]
pub struct ApiClient {
    http: reqwest::Client,
    /// Addresses of one node or several: `http://host:port`.
    nodes: Vec<String>,
    /// The API token.
    pub token: String,
}

/// What the API answered.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; text if it is no JSON, `Null` if it is empty.
    pub json: Value,
}

impl Answer {
    /// The error as `status code field: message`.
    pub fn error(&self) -> String {
        let error = &self.json["error"];
        let field = error["field"].as_str().map_or(String::new(), |field| format!("{field}: "));
        let text = |name: &str| error[name].as_str().unwrap_or("?").to_owned();
        format!("{} {} {field}{}", self.status.as_u16(), text("code"), text("message"))
    }

    /// The body of a success.
    ///
    /// # Panics
    /// The response is an error.
    pub fn ok(self) -> Value {
        assert!(self.status.is_success(), "{}", self.error());
        self.json
    }

    /// The `items` of a list, by one member.
    ///
    /// # Panics
    /// The response is no list.
    pub fn column(&self, member: &str) -> Vec<Value> {
        let items = self.json["items"].as_array().unwrap_or_else(|| panic!("{}", self.error()));
        items.iter().map(|item| item[member].clone()).collect()
    }
}

impl ApiClient {
    /// `nodes`: `http://host:port` of each.
    pub fn new(nodes: impl IntoIterator<Item = impl Into<String>>, token: &str, limit: Duration) -> Self {
        let nodes = nodes.into_iter().map(Into::into).collect();
        Self { http: http_client(limit), nodes, token: token.to_owned() }
    }

    /// The address of the first node.
    pub fn url(&self) -> &str {
        &self.nodes[0]
    }

    /// A request without a token to any path of the first node, such as `/metrics`.
    pub fn at(&self, method: Method, path: &str) -> RequestBuilder {
        self.at_node(0, method, path)
    }

    /// As [`ApiClient::at`], to the node with this number (modulo their count).
    pub fn at_node(&self, node: usize, method: Method, path: &str) -> RequestBuilder {
        let root = &self.nodes[node % self.nodes.len()];
        self.http.request(method, format!("{root}/{}", path.trim_start_matches('/')))
    }

    /// A request without a token to a path of the API, such as `/jobs`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.at(method, &format!("api/v1/{}", path.trim_start_matches('/')))
    }

    /// The answer to a request; an error if none came, or none that could be read.
    ///
    /// # Errors
    /// As described.
    pub async fn try_send(&self, request: RequestBuilder) -> reqwest::Result<Answer> {
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await?;
        let json =
            if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap_or(Value::String(text)) };
        Ok(Answer { status, headers, json })
    }

    /// The answer to a request.
    ///
    /// # Panics
    /// No answer came. Also of the methods below.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        self.try_send(request).await.unwrap()
    }

    /// With the token.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path).bearer_auth(&self.token)).await
    }

    /// With the token.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).bearer_auth(&self.token).json(&body)).await
    }

    /// With the token.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).bearer_auth(&self.token).json(&body)).await
    }

    /// With the token.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path).bearer_auth(&self.token)).await
    }

    /// All items of a list that has pages.
    pub async fn pages<T: DeserializeOwned>(&self, list: &str, filter: &str) -> Vec<T> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let mut page = self.get(&format!("{list}?limit=1000&{filter}{after}")).await.ok();
            let items: Vec<T> = serde_json::from_value(page["items"].take()).unwrap();
            all.extend(items);
            after = match &page["next"] {
                Value::Null => return all,
                Value::String(next) => format!("&after={next}"),
                next => format!("&after={next}"),
            };
        }
    }

    /// The text of `/metrics`.
    pub async fn metrics(&self) -> String {
        let answer = self.send(self.at(Method::GET, "metrics").bearer_auth(&self.token)).await;
        answer.json.as_str().unwrap().to_owned()
    }

    /// The value of a metric; `name` with its labels, if it has any.
    ///
    /// # Panics
    /// There is no such metric.
    pub async fn metric(&self, name: &str) -> f64 {
        let text = self.metrics().await;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }
}
