//! A node that a test steps itself, and a visitor of its console who has no script.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_admin::Admin;
use carillon_admin::config::Config;
use carillon_alerts::Alerts;
use carillon_engine::Engine;
use carillon_scheduler::{JobDraft, ManualClock, Millis};
use carillon_store::{Definition, Job, Store};
use reqwest::header::{COOKIE, HeaderMap, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::redirect::Policy;

use crate::conformance::fixture::actor;
use crate::services::{Kind, TestDatabase};

pub const START: Millis = 1_760_000_000_000;

pub struct Console {
    pub url: String,
    pub clock: Arc<ManualClock>,
    pub store: Arc<Store>,
    pub password: String,
    pub config: Config,
    pub engine: Arc<Engine>,
    pub alerts: Arc<Alerts>,
    _database: Option<TestDatabase>,
}

impl Console {
    /// A node on an empty SQLite file, with an administrator and the app `orders`.
    pub async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// The same with other settings.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        change(&mut config);
        let mut console = Self::on(config, Arc::new(ManualClock::new(START))).await;
        console._database = Some(database);
        let actor = actor();
        let made = console.store.apps().create("orders", "Orders", START, &actor);
        made.await.unwrap();
        console
    }

    pub async fn on(config: Config, clock: Arc<ManualClock>) -> Self {
        let admin = Admin::build(config.clone(), clock.clone()).await.unwrap();
        let url = format!("http://{}", admin.address());
        let alerts = admin.alerts.clone();
        let (_, engine, store) = admin.serve_only().unwrap();
        Self {
            url,
            clock,
            store,
            password: config.admin_password.clone().unwrap_or_default(),
            config,
            engine,
            alerts,
            _database: None,
        }
    }

    pub fn visitor(&self) -> ConsoleClient {
        ConsoleClient::new(&self.url)
    }

    /// A visitor who has signed in.
    pub async fn admin(&self) -> ConsoleClient {
        let visitor = self.visitor();
        let answer = visitor.sign_in(FIRST_ADMIN, &self.password).await;
        assert_eq!((answer.status, answer.location()), (303, "/"));
        visitor
    }

    pub async fn job(&self, change: impl FnOnce(&mut JobDraft)) -> Job {
        let mut draft = JobDraft::new("orders", "Close the day", "closeDay");
        change(&mut draft);
        let app = self.store.apps().by_name("orders").await.unwrap().unwrap();
        let definition = Definition::check(&app, &draft, START).unwrap();
        let actor = actor();
        let made = self.store.jobs().create(vec![definition], START, &actor, None);
        made.await.unwrap().remove(0)
    }

    /// To write behind the program's back.
    pub fn database_url(&self) -> String {
        self._database.as_ref().unwrap().direct_url()
    }

    pub fn advance_minutes(&self, minutes: u64) {
        self.clock.advance(Duration::from_secs(60 * minutes));
    }
}

pub struct ConsoleClient {
    client: reqwest::Client,
    url: String,
    pub cookies: Mutex<BTreeMap<String, String>>,
    /// Sent with each request, as a proxy does.
    pub headers: Vec<(&'static str, String)>,
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn location(&self) -> &str {
        let location = self.headers.get(LOCATION);
        location.map_or("", |value| value.to_str().unwrap())
    }

    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// What a form's hidden field holds.
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let rest = self.body.split(&start).nth(1).unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// The texts of the errors beside their fields.
    pub fn error(&self, field: &str) -> Option<&str> {
        let start = format!("id=\"{field}-error\">");
        self.body.split(&start).nth(1)?.split('<').next()
    }
}

impl ConsoleClient {
    pub fn new(url: &str) -> Self {
        let client = reqwest::Client::builder().redirect(Policy::none());
        Self { client: client.build().unwrap(), url: url.to_owned(), cookies: Mutex::default(), headers: vec![] }
    }

    /// The same with a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same browser, another window.
    pub fn with_cookies_of(&self, other: &ConsoleClient) {
        *self.cookies.lock().unwrap() = other.cookies.lock().unwrap().clone();
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(format!("{}{path}", self.url))).await
    }

    /// As our script refreshes a page.
    pub async fn refresh(&self, path: &str) -> Answer {
        let call = self.client.get(format!("{}{path}", self.url));
        self.send(call.header("x-carillon-live", "1")).await
    }

    /// Sends a form as a browser does from a page of ours.
    pub async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf().await;
        let fields: Vec<_> = [("csrf", csrf.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.post(path, Some(&self.url.clone()), &fields).await
    }

    /// A token as a page gives it.
    pub async fn csrf(&self) -> String {
        self.get("/account").await.hidden("csrf")
    }

    pub async fn post(&self, path: &str, origin: Option<&str>, fields: &[(&str, &str)]) -> Answer {
        let mut call = self.client.post(format!("{}{path}", self.url));
        if let Some(origin) = origin {
            call = call.header(ORIGIN, origin);
        }
        let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let call = call.header("content-type", "application/x-www-form-urlencoded").body(body);
        self.send(call).await
    }

    pub async fn sign_in(&self, name: &str, password: &str) -> Answer {
        let fields = [("name", name), ("password", password), ("zone", "")];
        self.post("/login", Some(&self.url.clone()), &fields).await
    }

    async fn send(&self, call: reqwest::RequestBuilder) -> Answer {
        let jar: Vec<String> = {
            let cookies = self.cookies.lock().unwrap();
            cookies.iter().map(|(name, value)| format!("{name}={value}")).collect()
        };
        let call = self.headers.iter().fold(call, |call, (name, value)| call.header(*name, value));
        let answer = call.header(COOKIE, jar.join("; ")).send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        for cookie in headers.get_all(SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            let mut cookies = self.cookies.lock().unwrap();
            match value {
                "" => cookies.remove(name),
                value => cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        let body = answer.text().await.unwrap();
        Answer { status, headers, body }
    }
}
