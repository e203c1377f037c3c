//! A headless Chromium of one test, by WebDriver.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout};

use super::live::Live;

/// Longer than anything here takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Default)]
pub struct Kind {
    /// Scripts are switched off, as some people have it.
    pub without_script: bool,
    /// 360 × 740, with touch.
    pub phone: bool,
    pub dark: bool,
    /// Pages are asked for in Chinese.
    pub chinese: bool,
}

/// Rules of axe. To compare colours takes longer than all others.
pub enum Rules {
    All,
    Colors,
    NoColors,
}

pub struct Browser {
    pub client: Client,
    url: String,
    driver: Child,
    _profile: TempDir,
}

impl Browser {
    pub async fn open(live: &Live, kind: Kind) -> Self {
        Self::at(&live.url, kind).await
    }

    /// A browser that looks at the console at this address.
    pub async fn at(url: &str, kind: Kind) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let (driver, port) = driver().await;
        let capabilities = capabilities(kind, profile.path().to_str().unwrap());
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.as_object().unwrap().clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .unwrap();
        let this = Self { client, url: url.to_owned(), driver, _profile: profile };
        this.set_dark(kind.dark).await;
        this
    }

    /// Whether its owner prefers dark pages.
    pub async fn set_dark(&self, dark: bool) {
        let features = json!([{"name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" }}]);
        let media = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.client.issue_cmd(Extra("goog/cdp/execute", media)).await.unwrap();
    }

    /// A browser whose owner is signed in.
    pub async fn signed_in(live: &Live, kind: Kind) -> Self {
        let browser = Self::open(live, kind).await;
        browser.go("/login").await;
        browser.sign_in(live.name, &live.password).await;
        browser.until_at("/").await;
        browser
    }

    pub async fn sign_in(&self, name: &str, password: &str) {
        self.fill("#name", name).await;
        self.fill("#password", password).await;
        self.press("main form button").await;
    }

    pub async fn go(&self, path: &str) {
        let address = format!("{}{path}", self.url);
        self.client.goto(&address).await.unwrap();
    }

    /// The element, as soon as it is there.
    pub async fn find(&self, css: &str) -> Element {
        let found = self.client.wait().at_most(LIMIT).for_element(Locator::Css(css)).await;
        found.unwrap_or_else(|error| panic!("{css}: {error}"))
    }

    pub async fn has(&self, css: &str) -> bool {
        self.client.find(Locator::Css(css)).await.is_ok()
    }

    /// The page may be replaced between finding the element and reading it: then the element is searched again.
    pub async fn text(&self, css: &str) -> String {
        for _ in 0..20 {
            if let Ok(text) = self.find(css).await.text().await {
                return text;
            }
        }
        self.find(css).await.text().await.unwrap()
    }

    /// Presses it where a person would have scrolled to: in the middle, clear of the bars at the edges of the window.
    pub async fn press(&self, css: &str) {
        let element = self.find(css).await;
        let scroll = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})";
        let place = serde_json::to_value(&element).unwrap();
        self.client.execute(scroll, vec![place]).await.unwrap();
        element.click().await.unwrap();
    }

    /// Replaces what a field holds.
    pub async fn fill(&self, css: &str, text: &str) {
        let field = self.find(css).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    /// What a script of the test answers.
    pub async fn script(&self, text: &str) -> Value {
        self.client.execute(text, vec![]).await.unwrap()
    }

    /// Waits until the path is this one.
    pub async fn until_at(&self, path: &str) {
        let wanted = format!("{}{path}", self.url);
        self.until(path, async || self.client.current_url().await.unwrap().as_str() == wanted).await;
    }

    pub async fn until(&self, what: &str, condition: impl AsyncFn() -> bool) {
        let end = Instant::now() + LIMIT;
        while !condition().await {
            assert!(Instant::now() < end, "timed out waiting for {what}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Nothing has gone wrong in the page: no script error, nothing that its policy refused, no request elsewhere. The
    /// browser also notes answers with an error status, which tests ask for on purpose.
    pub async fn assert_quiet(&self) {
        let log = self.client.issue_cmd(Extra("se/log", json!({"type": "browser"}))).await.unwrap();
        let entries = log.as_array().unwrap().iter();
        let bad: Vec<&Value> = entries
            .filter(|entry| entry["level"] == "SEVERE")
            .filter(|entry| !entry["message"].as_str().unwrap().contains("the server responded with a status of 4"))
            .collect();
        assert!(bad.is_empty(), "{bad:#?}");
    }

    /// A window of this width, in CSS pixels.
    pub async fn resize(&self, width: u32) {
        let metrics = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics});
        let command = Extra("goog/cdp/execute", command);
        self.client.issue_cmd(command).await.unwrap();
    }

    /// Fails if the page can be scrolled sideways, or if something on it reaches beyond its card.
    pub async fn assert_fits(&self, what: &str) {
        let wide = self.too_wide().await;
        assert!(wide.is_none(), "{what}: {}", wide.unwrap_or_default());
    }

    /// What reaches beyond the window, or beyond its card without a way to scroll there.
    pub async fn too_wide(&self) -> Option<String> {
        let script = "const width = document.scrollingElement.scrollWidth, page = document.querySelector('main') ?? document.body; \
            const edge = it => it.getBoundingClientRect().right; \
            const scrolls = it => it !== page && (getComputedStyle(it).overflowX !== 'visible' || scrolls(it.parentElement)); \
            const isOut = it => edge(it) > Math.min(innerWidth, edge(it.parentElement.closest('.card') ?? page)) + 1 && !scrolls(it.parentElement); \
            const out = [...page.querySelectorAll('*')].filter(isOut); \
            if (width <= innerWidth && !out.length) return null; \
            return `${width} px in ${innerWidth}: ${out.slice(0, 3).map(it => it.outerHTML.slice(0, 120)).join(' … ')}`";
        let wide = self.script(script).await;
        wide.as_str().map(str::to_owned)
    }

    /// What axe finds wrong with the page: its rule, and the elements.
    pub async fn violations(&self, axe: &str, rules: Rules) -> Vec<String> {
        if self.script("return typeof axe").await != "object" {
            self.script(axe).await;
        }
        let rules = match rules {
            Rules::Colors => json!({"runOnly": ["color-contrast"]}),
            Rules::NoColors => json!({"rules": {"color-contrast": {"enabled": false}}}),
            Rules::All => json!({}),
        };
        let script = "const done = arguments[arguments.length - 1]; axe.run(document, {resultTypes: ['violations'], ...arguments[0]}) \
            .then(found => done(found.violations.map(it => `${it.id} (${it.help}): ` + it.nodes.slice(0, 3) \
            .map(node => `${node.html.slice(0, 160)} ${node.any.concat(node.all, node.none).map(why => why.message).join('; ').slice(0, 160)}`).join(' … '))), \
            error => done([`axe: ${error}`]))";
        let found = self.client.execute_async(script, vec![rules]).await.unwrap();
        serde_json::from_value(found).unwrap()
    }

    /// A picture of the whole page in this folder; the name of the file without its end.
    pub async fn draw(&self, path: &str, kind: Kind, folder: &Path) -> String {
        self.go(path).await;
        self.find("h1").await;
        let height = self.script("return Math.min(6000, Math.max(740, document.scrollingElement.scrollHeight))").await;
        let width = if kind.phone { 360 } else { 1280 };
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": kind.phone});
        let resize = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics});
        self.client.issue_cmd(Extra("goog/cdp/execute", resize)).await.unwrap();
        let is_sign = |c: char| !c.is_ascii_alphanumeric();
        let name = match path.trim_matches(is_sign).replace(is_sign, "_") {
            empty if empty.is_empty() => "dashboard".to_owned(),
            name => name,
        };
        std::fs::write(folder.join(format!("{name}.png")), self.client.screenshot().await.unwrap()).unwrap();
        name
    }

    pub async fn close(self) {
        self.assert_quiet().await;
        self.client.clone().close().await.unwrap();
    }
}

impl Drop for Browser {
    /// A driver that is killed leaves its browsers behind: after a failed test the whole group is ended.
    fn drop(&mut self) {
        if let Some(group) = self.driver.id() {
            let mut kill = std::process::Command::new("kill");
            kill.args(["--", &format!("-{group}")]).status().unwrap();
        }
    }
}

/// A driver on a port of its own, the leader of a group of processes.
async fn driver() -> (Child, u16) {
    for _ in 0..3 {
        if let Some(driver) = try_driver().await {
            return driver;
        }
    }
    panic!("chromedriver ends at its start");
}

/// None: it has ended before it listened.
async fn try_driver() -> Option<(Child, u16)> {
    let mut child = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("chromedriver is needed: see .ci/packages");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                return port.trim_end_matches('.').parse().ok();
            }
        }
        None
    };
    let port = timeout(LIMIT, port).await.unwrap()?;
    // It would stop at a full pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Some((child, port))
}

fn capabilities(kind: Kind, profile: &str) -> Value {
    let mut options = json!({
        "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,800",
            format!("--user-data-dir={profile}"),
        ],
    });
    if kind.chinese {
        options["prefs"] = json!({"intl.accept_languages": "zh-CN,zh"});
    }
    if kind.phone {
        options["mobileEmulation"] =
            json!({"deviceMetrics": {"width": 360, "height": 740, "pixelRatio": 2, "touch": true}});
    }
    if kind.without_script {
        options["prefs"] = json!({"profile.managed_default_content_settings.javascript": 2});
    }
    json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}})
}

/// What WebDriver itself does not have: the end of the address, and the body.
#[derive(Debug)]
struct Extra(&'static str, Value);

impl WebDriverCompatibleCommand for Extra {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.0))
    }

    fn method_and_body(&self, _: &url::Url) -> (reqwest::Method, Option<String>) {
        (reqwest::Method::POST, Some(self.1.to_string()))
    }
}
