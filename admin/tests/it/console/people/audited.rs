//! What a person does to the own account is on record in the transaction of the change, and a sign-in says how it was done.

use std::time::Duration;

use carillon_accounts::people;
use carillon_accounts::second_factor::code_at;
use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::{AuditAction, AuditObjectKind, Clock as _};
use carillon_store::Actor;
use carillon_store::audit::list::{AuditFilter, AuditRow};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection};

use super::second_factor::shown_secret;
use crate::console::client::{Answer, Console, ConsoleClient};
use crate::console::run;

struct World {
    console: Console,
    admin: ConsoleClient,
    raw: DatabaseConnection,
}

impl World {
    async fn start() -> Self {
        let key = random_secret();
        let console = Console::with(|config| config.secret_keys = SecretKeys::parse(&key).unwrap()).await;
        let raw = Database::connect(console.database_url()).await.unwrap();
        Self { admin: console.admin().await, console, raw }
    }

    async fn rename(&self, from: &str, to: &str) {
        self.raw.execute_unprepared(&format!("ALTER TABLE {from} RENAME TO {to}")).await.unwrap();
    }

    async fn entries(&self, kind: AuditObjectKind) -> Vec<AuditRow> {
        let filter = AuditFilter { limit: 1000, ..AuditFilter::default() };
        let mut all = self.console.store.audit().list(&filter).await.unwrap().items;
        let others = [AuditAction::SignIn, AuditAction::UseToken].map(AuditAction::as_str);
        all.retain(|entry| entry.object == kind.as_str() && !others.contains(&entry.action.as_str()));
        all
    }

    /// Does something that is refused while its entry cannot be written, and leaves one entry of this action when it can. `state`:
    /// what it changes.
    async fn recorded(
        &self,
        what: (&str, AuditObjectKind, AuditAction),
        state: impl AsyncFn() -> String,
        ask: impl AsyncFn() -> Answer,
    ) -> AuditRow {
        let (name, kind, action) = what;
        let before = (state().await, self.entries(kind).await.len());
        self.rename("audit", "audit_away").await;
        let refused = ask().await;
        self.rename("audit_away", "audit").await;
        assert_eq!(refused.status, 500, "{name}");
        assert_eq!(
            (state().await, self.entries(kind).await.len()),
            before,
            "{name}: without an entry nothing is changed"
        );
        self.console.clock.advance(Duration::from_secs(30));
        let done = ask().await;
        assert!(done.status == 200 || done.status == 303, "{name}: {}", done.body);
        assert_ne!(state().await, before.0, "{name}");
        let mut found = self.entries(kind).await;
        assert_eq!(found.len(), before.1 + 1, "{name}: {found:?}");
        let entry = found.remove(0);
        assert_eq!((entry.action.as_str(), entry.actor.as_str()), (action.as_str(), FIRST_ADMIN), "{name}");
        assert!(entry.request_id.is_some() && entry.source == "127.0.0.1", "{name}");
        entry
    }

    /// How the account signs in.
    async fn account(&self) -> String {
        format!("{:?}", self.console.store.people().account_by_name(FIRST_ADMIN).await.unwrap().unwrap())
    }

    async fn tokens(&self) -> String {
        format!("{:?}", self.console.store.people().tokens_of(1).await.unwrap())
    }
}

const ACCOUNT: AuditObjectKind = AuditObjectKind::Account;
const TOKEN: AuditObjectKind = AuditObjectKind::ApiToken;

// covers: S37, V10
#[test]
fn a_change_of_the_own_account_is_made_with_its_entry_or_not_at_all() {
    run(async {
        let world = World::start().await;
        let (console, admin) = (&world.console, &world.admin);
        let (first, second, third) = (console.password.as_str(), random_secret(), random_secret());

        let fields = [("name", "deploy"), ("role", "viewer"), ("apps", "all"), ("own_password", first)];
        let what = ("a token is made", TOKEN, AuditAction::Create);
        world
            .recorded(what, async || world.tokens().await, async || admin.submit("/account/tokens", &fields).await)
            .await;
        let id = console.store.people().tokens_of(1).await.unwrap()[0].id;
        let what = ("a token is revoked", TOKEN, AuditAction::Delete);
        let revoke = format!("/account/tokens/{id}/revoke");
        world.recorded(what, async || world.tokens().await, async || admin.submit(&revoke, &[]).await).await;

        let what = ("the own password is changed", ACCOUNT, AuditAction::Update);
        let fields = [("current", first), ("new", second.as_str()), ("repeated", &second), ("revoke_tokens", "yes")];
        let entry = world
            .recorded(what, async || world.account().await, async || admin.submit("/account/password", &fields).await)
            .await;
        assert!(!entry.detail.contains(&second), "{}", entry.detail);

        let secret = shown_secret(&admin.submit("/account/second-factor", &[("password", &second)]).await);
        let now_code = || code_at(&secret, console.clock.now());
        let what = ("the second factor is turned on", ACCOUNT, AuditAction::Update);
        let confirm = async || admin.submit("/account/second-factor/confirm", &[("code", &now_code())]).await;
        world.recorded(what, async || world.account().await, confirm).await;
        console.clock.advance(Duration::from_secs(60));
        let what = ("the second factor is turned off", ACCOUNT, AuditAction::Update);
        let remove = async || admin.submit("/account/second-factor/remove", &[("code", &now_code())]).await;
        let entry = world.recorded(what, async || world.account().await, remove).await;
        assert!(entry.detail.contains("\"by\":\"code\""), "{}", entry.detail);

        let by = Actor::unlimited("test", "");
        let link = people::reset_link(&console.store, 1, console.clock.now(), &by).await.unwrap();
        let what = ("a link for a new password is used", ACCOUNT, AuditAction::Update);
        let visitor = console.visitor();
        let fields = [("secret", link.secret.as_str()), ("password", &third), ("repeated", &third)];
        let use_link = async || visitor.post("/reset", Some(&console.url), &fields).await;
        let entry = world.recorded(what, async || world.account().await, use_link).await;
        assert!(entry.detail.contains("reset link") && !entry.detail.contains(&third), "{}", entry.detail);
    });
}

/// The details of the sign-ins, oldest first.
async fn sign_ins(console: &Console, action: AuditAction) -> Vec<AuditRow> {
    let filter = AuditFilter { actions: vec![action], limit: 100, ..AuditFilter::default() };
    let mut found = console.store.audit().list(&filter).await.unwrap().items;
    found.reverse();
    found
}

// covers: S37
#[test]
fn a_sign_in_says_how_it_was_done() {
    run(async {
        let world = World::start().await;
        let (console, admin, second) = (&world.console, &world.admin, random_secret());
        let fields = [("current", console.password.as_str()), ("new", &second), ("repeated", &second)];
        admin.submit("/account/password", &fields).await;
        let secret = shown_secret(&admin.submit("/account/second-factor", &[("password", &second)]).await);
        let now_code = || code_at(&secret, console.clock.now());
        let on = admin.submit("/account/second-factor/confirm", &[("code", &now_code())]).await;
        let recovery = on.body.split("recovery-codes\"><code>").nth(1).unwrap().split_whitespace().next().unwrap();
        console.clock.advance(Duration::from_secs(30));
        for code in [now_code(), recovery.to_owned()] {
            let visitor = console.visitor();
            let handle = visitor.sign_in(FIRST_ADMIN, &second).await.hidden("handle");
            let fields = [("handle", handle.as_str()), ("code", &code)];
            assert_eq!(visitor.post("/login/code", Some(&console.url), &fields).await.status, 303);
        }
        people::remove_second_factor(&console.store, 1, console.clock.now(), &Actor::engine()).await.unwrap();
        let link = people::reset_link(&console.store, 1, console.clock.now(), &Actor::engine()).await.unwrap();
        let third = random_secret();
        let fields = [("secret", link.secret.as_str()), ("password", &third), ("repeated", &third)];
        console.visitor().post("/reset", Some(&console.url), &fields).await;
        let found = sign_ins(console, AuditAction::SignIn).await;
        let details: Vec<&str> = found.iter().map(|entry| entry.detail.as_str()).collect();
        assert_eq!(
            details,
            [
                r#"{"method":"password"}"#,
                r#"{"method":"new_password"}"#,
                r#"{"method":"password","second_factor":"code"}"#,
                r#"{"method":"password","second_factor":"recovery_code"}"#,
                r#"{"method":"reset_link"}"#,
            ]
        );
    });
}

// covers: S37
#[test]
fn a_sign_in_that_must_wait_names_its_account() {
    run(async {
        let known = (FIRST_ADMIN, (FIRST_ADMIN, 1));
        for (name, about) in [known, ("a password in the wrong field", ("unknown", 0))] {
            let console = Console::start().await;
            for _ in 0..6 {
                console.visitor().sign_in(name, "wrong wrong").await;
            }
            let found = sign_ins(&console, AuditAction::RefuseSignIn).await;
            let waits: Vec<_> =
                found.iter().filter(|entry| entry.detail.contains("too many failed attempts")).collect();
            let named: Vec<_> = waits.iter().map(|entry| (entry.actor.as_str(), entry.object_id)).collect();
            assert_eq!(named, [about]);
            assert!(found.iter().all(|entry| !entry.detail.contains("wrong field")));
        }
    });
}
