//! Pages that follow a form and have no address of their own: setting up, signing in, and what is shown once.

use carillon_accounts::second_factor::{Secret, code_at};
use carillon_accounts::secret::random_secret;
use carillon_accounts::token::{self, TokenRequest};
use carillon_store::people::accounts::NewAccount;
use carillon_store::{Actor, Grants, Role};

use super::chromium::{Browser, Kind};
use super::every_page::inspect;
use super::live::Live;
use super::pages::LONG_NAME;
use super::run;

struct Tour {
    live: Live,
    browser: Browser,
    kind: Kind,
    axe: String,
    faults: Vec<String>,
}

impl Tour {
    async fn start(live: Live, kind: Kind) -> Self {
        let axe = std::fs::read_to_string(crate::services::setting("CARILLON_TEST_AXE")).unwrap();
        Self { browser: Browser::open(&live, kind).await, live, kind, axe, faults: vec![] }
    }

    /// Looks at the page as soon as this is on it.
    async fn look(&mut self, css: &str, name: &str) {
        self.browser.find(css).await;
        self.browser.find(if self.kind.chinese { "html[lang=zh-CN] h1" } else { "html[lang=en] h1" }).await;
        inspect(&self.browser, name, self.kind, &self.axe, &mut self.faults).await;
    }

    async fn end(self) {
        assert!(self.faults.is_empty(), "{} faults:\n{}", self.faults.len(), self.faults.join("\n"));
        self.browser.close().await;
    }

    /// The form of the first administrator, and the same with what is wrong in it.
    async fn set_up(&mut self) {
        self.browser.go("/setup").await;
        self.look("[data-testid=setup]", "/setup").await;
        self.browser.fill("#secret", "not the secret").await;
        self.browser.fill("#password", "short").await;
        self.browser.fill("#repeated", "shorter").await;
        self.browser.press("[data-testid=setup] button").await;
        self.look("#secret-error", "/setup with errors").await;
    }

    async fn token(&mut self) {
        self.browser.go("/account").await;
        self.browser.press("[data-testid=token-form] .actions button").await;
        self.look("#name-error", "/account with errors").await;
        self.browser.fill("#name", LONG_NAME).await;
        self.browser.press("[data-testid=token-form] input[value=all]").await;
        self.browser.fill("#own_password", &self.live.password).await;
        self.browser.press("[data-testid=token-form] .actions button").await;
        self.look("[data-testid=new-token]", "/account with a new token").await;
    }

    /// The secret of the second factor, and its recovery codes.
    async fn second_factor(&mut self) {
        self.browser.go("/account").await;
        self.browser.fill("[data-testid=second-factor-form] #password", &self.live.password).await;
        self.browser.press("[data-testid=second-factor-form] button").await;
        self.look("[data-testid=secret]", "/account with a secret").await;
        let secret = Secret::from_text(self.browser.text("[data-testid=secret]").await.replace(' ', ""));
        self.browser.fill("#code", "1").await;
        self.browser.press("[data-testid=second-factor-confirm] button").await;
        self.look("#code-error", "/account with a wrong code").await;
        self.browser.fill("#code", &code_at(&secret, self.live.clock.now())).await;
        self.browser.press("[data-testid=second-factor-confirm] button").await;
        self.look("[data-testid=recovery-codes]", "/account with recovery codes").await;
    }

    /// The page of another account with a token; the link for its new password, which is returned.
    async fn user(&mut self) -> String {
        let (store, now, viewer) = (&self.live.store, self.live.clock.now(), Grants::for_all(Role::Viewer));
        let new = NewAccount { name: LONG_NAME, password_hash: "none", grants: &viewer };
        let account_id = store.people().create_account(&new, now, &Actor::engine()).await.unwrap();
        let request = TokenRequest { account_id, name: LONG_NAME, grants: &viewer, days: 30, credentials: 0 };
        token::create(store, &request, now, &Actor::engine()).await.unwrap();
        self.browser.go(&format!("/users/{account_id}")).await;
        self.look("[data-testid=tokens]", "/users/{id} with a token").await;
        self.browser.press(&format!("form[action='/users/{account_id}/reset'] button")).await;
        self.look("[data-testid=reset-link]", "/users/{id}/reset").await;
        let link = self.browser.text("pre.snippet code").await;
        link.strip_prefix(&self.live.url).unwrap().to_owned()
    }

    async fn reset(&mut self, link: &str) {
        self.browser.client.delete_all_cookies().await.unwrap();
        self.browser.go(link).await;
        self.look("[data-testid=reset]", "/reset").await;
        let password = random_secret();
        self.browser.fill("#password", &password).await;
        self.browser.fill("#repeated", &password[1..]).await;
        self.browser.press("[data-testid=reset] button").await;
        self.look("#password-error", "/reset with an error").await;
    }

    async fn code(&mut self) {
        self.browser.go("/login").await;
        self.browser.sign_in(self.live.name, "not the password").await;
        self.look("#login-error", "/login with an error").await;
        self.browser.sign_in(self.live.name, &self.live.password).await;
        self.look("[data-testid=code-form]", "/login/code").await;
        self.browser.fill("#code", "000000").await;
        self.browser.press("[data-testid=code-form] button").await;
        self.look("#code-error", "/login/code with an error").await;
    }
}

async fn tour(kind: Kind) {
    let mut first = Tour::start(Live::without_accounts().await, kind).await;
    first.set_up().await;
    first.end().await;
    let mut tour = Tour::start(Live::start().await, kind).await;
    tour.browser.go("/login").await;
    tour.browser.sign_in(tour.live.name, &tour.live.password).await;
    tour.browser.until_at("/").await;
    tour.token().await;
    tour.second_factor().await;
    let link = tour.user().await;
    tour.reset(&link).await;
    tour.code().await;
    tour.end().await;
}

// covers: A6
#[test]
fn what_follows_a_form_fits_every_window_and_is_readable_in_the_dark() {
    run(tour(Kind::default()));
}

#[test]
fn what_follows_a_form_fits_a_phone() {
    run(tour(Kind { phone: true, ..Kind::default() }));
}

#[test]
fn what_follows_a_form_fits_in_chinese_and_has_no_english_words() {
    run(tour(Kind { phone: true, chinese: true, ..Kind::default() }));
}
