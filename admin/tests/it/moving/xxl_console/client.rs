//! A script that was written for xxl-job's console, and the node that it calls.

use std::sync::Arc;

use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_accounts::token::{self, TokenRequest};
use carillon_admin::config::Config;
use carillon_scheduler::{Clock as _, ManualClock};
use carillon_store::people::accounts::NewAccount;
use carillon_store::{Actor, Grants};
use reqwest::header::{COOKIE, HeaderMap, HeaderName, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use serde_json::Value;

use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, runtime};

/// The dialects: where a script signs in, and the cookie that it looks for.
pub const C1: (&str, &str) = ("/login", "XXL_JOB_LOGIN_IDENTITY");
pub const C3: (&str, &str) = ("/auth/doLogin", "xxl_job_login_token");

/// A node with an administrator and the app `orders`.
pub fn on_node(test: impl AsyncFnOnce(&Node)) {
    with_settings(|_| (), test);
}

pub fn with_settings(change: impl FnOnce(&mut Config), test: impl AsyncFnOnce(&Node)) {
    runtime().block_on(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        config.xxl_console_api = true;
        change(&mut config);
        test(&Node::on(config, Arc::new(ManualClock::new(START))).await).await;
    });
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    /// The payload of a success, as `data` or `content`.
    pub fn payload(&self) -> &Value {
        assert_eq!(self.body["code"], 200, "{}", self.body);
        self.body.get("data").unwrap_or(&self.body["content"])
    }

    pub fn failure(&self) -> &str {
        assert_eq!((self.status, &self.body["code"]), (200, &500.into()), "{}", self.body);
        self.body["msg"].as_str().unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub struct Script {
    pub client: Client,
    pub url: String,
    pub cookie: String,
}

impl Script {
    /// Not signed in.
    pub fn new(node: &Node) -> Self {
        let client = Client::builder().redirect(Policy::none()).pool_max_idle_per_host(0).build().unwrap();
        Self { client, url: node.url.clone(), cookie: String::new() }
    }

    pub async fn admin(node: &Node, dialect: (&str, &str)) -> Self {
        Self::signed_in(node, dialect, (FIRST_ADMIN, node.config.admin_password.as_deref().unwrap())).await
    }

    pub async fn signed_in(node: &Node, (path, cookie): (&str, &str), (name, password): (&str, &str)) -> Self {
        let mut script = Self::new(node);
        let answer = script.sign_in(path, name, password).await;
        assert_eq!(answer.body["code"], 200, "{}", answer.body);
        let set: Vec<&str> = answer.headers.get_all(SET_COOKIE).iter().map(|it| it.to_str().unwrap()).collect();
        let [set] = set[..] else { panic!("one cookie: {set:?}") };
        script.cookie = set.split(';').next().unwrap().to_owned();
        assert!(script.cookie.starts_with(&format!("{cookie}=")), "{set}");
        script
    }

    pub async fn sign_in(&self, path: &str, name: &str, password: &str) -> Answer {
        self.post(path, &[("userName", name), ("password", password), ("ifRemember", "on")]).await
    }

    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(Method::POST, path, fields, &[]).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], &[]).await
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&'static str, &str)],
    ) -> Answer {
        let mut call = self.client.request(method.clone(), format!("{}{path}", self.url));
        if !self.cookie.is_empty() {
            call = call.header(COOKIE, &self.cookie);
        }
        for (name, value) in headers {
            call = call.header(HeaderName::from_static(name), *value);
        }
        if method == Method::POST {
            let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
            call = call.header("Content-Type", "application/x-www-form-urlencoded").body(body);
        }
        self.finish(call).await
    }

    /// A call of the OpenAPI.
    pub async fn open(&self, path: &str, token: &str, body: &Value) -> Answer {
        let call = self.client.post(format!("{}{path}", self.url)).header("XXL-JOB-ACCESS-TOKEN", token);
        self.finish(call.json(body)).await
    }

    async fn finish(&self, call: reqwest::RequestBuilder) -> Answer {
        let answer = call.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await.unwrap();
        Answer { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
    }
}

/// An account with the administrator's password, and a token of it that may do this.
pub async fn account(node: &Node, name: &str, grants: &Grants, of_token: &Grants) -> String {
    let people = node.store.people();
    let password_hash = people.account_by_name(FIRST_ADMIN).await.unwrap().unwrap().password_hash;
    let new = NewAccount { name, password_hash: &password_hash, grants };
    let account_id = people.create_account(&new, node.clock.now(), &Actor::engine()).await.unwrap();
    let by = Actor::new(name, "", grants.clone());
    let request = TokenRequest { account_id, name: "script", grants: of_token, days: 30, credentials: 0 };
    token::create(&node.store, &request, node.clock.now(), &by).await.unwrap()
}

/// The fields of a new job, as scripts send them.
pub fn job_fields<'a>(group: &'a str, others: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let usual = [
        ("jobGroup", group),
        ("jobDesc", "Close the day"),
        ("author", "ada"),
        ("alarmEmail", ""),
        ("scheduleType", "CRON"),
        ("scheduleConf", "0 30 23 * * ?"),
        ("misfireStrategy", "DO_NOTHING"),
        ("executorRouteStrategy", "ROUND"),
        ("executorHandler", "closeDay"),
        ("executorParam", "own"),
        ("executorBlockStrategy", "SERIAL_EXECUTION"),
        ("executorTimeout", "60"),
        ("executorFailRetryCount", "2"),
        ("glueType", "BEAN"),
        ("glueRemark", "GLUE init"),
    ];
    let kept = usual.into_iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    kept.chain(others.iter().copied()).collect()
}
