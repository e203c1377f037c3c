//! Signing in by an OpenID provider: against one that answers what a test wants, wrong things too, and against a certified one in a
//! real browser.

mod accounts;
mod fake;
mod real;
mod refusals;

use std::sync::Arc;

use carillon_accounts::openid::Settings;
use carillon_accounts::secret::random_secret;
use carillon_scheduler::ManualClock;

use crate::console::client::{Answer, Console, ConsoleClient, START};
use crate::services::{Kind, TestDatabase};
use fake::Fake;

/// A node whose people sign in by a provider of the test, or by passwords.
struct World {
    fake: Fake,
    console: Console,
    _database: TestDatabase,
}

impl World {
    async fn start() -> Self {
        Self::with(|_| ()).await
    }

    async fn with(change: impl FnOnce(&mut carillon_admin::config::Config)) -> Self {
        let fake = Fake::start().await;
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        config.openid = Some(Settings {
            client_secret: Some(fake.secret.clone()),
            roles: "ops=admin:all,team-a=operator:orders,team-b=viewer:orders".parse().unwrap(),
            name: "Example Login".to_owned(),
            ..Settings::new(&fake.issuer, fake::CLIENT)
        });
        change(&mut config);
        let console = Console::on(config, Arc::new(ManualClock::new(START))).await;
        let actor = crate::conformance::fixture::actor();
        console.store.apps().create("orders", "Orders", START, &actor).await.unwrap();
        Self { fake, console, _database: database }
    }

    /// Begins a sign-in as the button does; returns the address that the provider sends the browser back to.
    async fn begin(&self, visitor: &ConsoleClient) -> String {
        let answer = visitor.get("/login/openid?next=%2Fjobs").await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        self.fake.authorize(answer.location())
    }

    async fn sign_in(&self, visitor: &ConsoleClient) -> Answer {
        let back = self.begin(visitor).await;
        visitor.get(&back).await
    }
}

fn is_signed_in(visitor: &ConsoleClient) -> bool {
    visitor.cookies.lock().unwrap().contains_key("carillon_session")
}

fn run(test: impl Future<Output = ()>) {
    crate::services::runtime().block_on(test);
}
