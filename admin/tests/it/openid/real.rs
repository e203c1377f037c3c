//! A certified provider (npm's `oidc-provider`), and a person with a real browser.

use std::process::Stdio;
use std::sync::Arc;

use carillon_accounts::openid::Settings;
use carillon_accounts::secret::random_secret;
use carillon_admin::Admin;
use carillon_scheduler::{Clock, SystemClock};
use carillon_testkit::free_port;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::browser::chromium::{Browser, Kind};
use crate::services::{self, TestDatabase, setting};

/// The provider ends with this.
struct Provider {
    issuer: String,
    _child: Child,
}

impl Provider {
    async fn start(secret: &str, redirect: &str) -> Self {
        let script = setting("CARILLON_TEST_OIDC_PROVIDER");
        let mut child = Command::new("node")
            .args([&*script, "carillon", secret, redirect])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node is needed: see .ci/packages");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Its warnings come first: it is not set up for production.
        let issuer = loop {
            let line = lines.next_line().await.unwrap().expect("the provider has ended");
            if line.starts_with("http://") {
                break line;
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { issuer, _child: child }
    }
}

/// Signs in on the provider's own pages.
async fn sign_in(browser: &Browser, name: &str) {
    browser.press("[data-testid=provider]").await;
    browser.fill("input[name=login]", name).await;
    browser.fill("input[name=password]", "any").await;
    browser.press("button[type=submit]").await;
    // What the program asks to know.
    browser.find("form[action*=interaction] input[name=prompt][value=consent]").await;
    browser.press("button[type=submit]").await;
}

#[test]
fn a_person_signs_in_by_a_certified_provider_in_a_browser() {
    crate::browser::run(async {
        let database = TestDatabase::new(services::Kind::Sqlite).await;
        let (port, secret, password) = (free_port(), random_secret(), random_secret());
        let url = format!("http://127.0.0.1:{port}");
        let provider = Provider::start(&secret, &format!("{url}/login/openid/callback")).await;
        let mut config = database.config();
        config.listen.set_port(port);
        config.admin_password = Some(password);
        config.openid = Some(Settings {
            client_secret: Some(secret),
            roles: "ops=admin:all".parse().unwrap(),
            name: "Example Login".to_owned(),
            ..Settings::new(&provider.issuer, "carillon")
        });
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let admin = Admin::build(config, clock).await.unwrap();
        let (store, stop) = (admin.store.clone(), CancellationToken::new());
        let node = tokio::spawn(admin.run(stop.clone()));

        let browser = Browser::at(&url, Kind::default()).await;
        browser.go("/users").await;
        browser.until_at("/login?next=%2Fusers").await;
        sign_in(&browser, "grace+ops").await;
        browser.until_at("/users").await;
        assert!(browser.text("main").await.contains("grace"));
        let account = store.people().account_by_name("grace").await.unwrap().unwrap();
        assert_eq!(
            (account.grants.to_string(), account.issuer),
            ("all:admin".to_owned(), Some(provider.issuer.clone()))
        );
        drop(browser);

        let browser = Browser::at(&url, Kind { phone: true, dark: true, ..Kind::default() }).await;
        browser.go("/login").await;
        sign_in(&browser, "eve").await;
        let text = browser.text("#login-error").await;
        assert!(text.contains("none of your groups there has a role here"), "{text}");
        browser.assert_fits("the sign-in page").await;
        drop(browser);
        stop.cancel();
        node.await.unwrap().unwrap();
    });
}
