use std::time::Duration;

use carillon_protocol::{SIGNED_FOR_ADMIN, SignedRequest, SigningKey, headers};
use serde_json::{Value, json};

use crate::api_client::http_client;
use crate::clock::now_ms;

/// An executor's way to its admins: heartbeats and results. Of several admins the first that accepts is enough.
#[derive(Clone)]
pub struct AdminClient {
    http: reqwest::Client,
    admins: Vec<String>,
    token: String,
    /// Announced with each registration.
    capabilities: &'static str,
}

impl AdminClient {
    /// `token` is the access token of executors. A request takes at most 3 s.
    pub fn new(admins: impl IntoIterator<Item = impl Into<String>>, token: &str) -> Self {
        let admins = admins.into_iter().map(Into::into).collect();
        Self { http: http_client(Duration::from_secs(3)), admins, token: token.to_owned(), capabilities: "" }
    }

    /// The same, for executors that announce this comma list. With `signed` in it requests are signed and carry no token.
    pub fn with_capabilities(self, capabilities: &'static str) -> Self {
        Self { capabilities, ..self }
    }

    /// Whether the executor of this app is registered now.
    pub async fn register(&self, app: &str, address: &str) -> bool {
        self.post("api/registry", &registration(app, address)).await
    }

    /// Whether the executor is deregistered now.
    pub async fn deregister(&self, app: &str, address: &str) -> bool {
        self.post("api/registryRemove", &registration(app, address)).await
    }

    /// Whether results, as `(run, code, text)`, are stored now.
    pub async fn report(&self, results: &[(i64, i32, String)]) -> bool {
        let item = |(run_id, code, text): &(i64, i32, String)| json!({"logId": run_id, "logDateTim": 0, "handleCode": code, "handleMsg": text});
        self.post("api/callback", &results.iter().map(item).collect()).await
    }

    async fn post(&self, path: &str, body: &Value) -> bool {
        let body = body.to_string();
        for admin in &self.admins {
            let call = self.http.post(format!("{admin}/{path}")).header("Content-Type", "application/json");
            let call = match self.capabilities.split(',').any(|capability| capability == "signed") {
                true => call.header(headers::SIGNATURE, self.signature(path, &body)),
                false => call.header(headers::TOKEN, &self.token),
            };
            let call = call.header(headers::CAPABILITIES, self.capabilities).body(body.clone());
            if let Ok(response) = call.send().await
                && response.json::<Value>().await.is_ok_and(|answer| answer["code"] == 200)
            {
                return true;
            }
        }
        false
    }

    fn signature(&self, path: &str, body: &str) -> String {
        let headers = [(headers::CAPABILITIES, self.capabilities.as_bytes())].into_iter();
        let request = SignedRequest { receiver: SIGNED_FOR_ADMIN, path, headers };
        SigningKey::new(&self.token).sign(request, body.as_bytes(), now_ms(), rand::random())
    }
}

fn registration(app: &str, address: &str) -> Value {
    json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address})
}
